"""BERT as NVIDIA/DeepLearningExamples exports it for Triton (PyTorch/LanguageModeling/BERT/triton, SQuAD, 384 tokens,
float16): attention is products and a softmax, norms and GELU are elementary operators, for Apex is switched off, and a
GELU's bias is added apart from its product. Without the pooler, which no result depends on."""
import math

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, POSITIONS, SEGMENTS, TOKENS = 30528, 512, 2, 384


class LayerNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) * (x - mean)).mean(-1, keepdim=True)
        return self.weight * ((x - mean) / torch.sqrt(variance + 1e-12)) + self.bias


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads, self.scale = heads, math.sqrt(width // heads)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.projection, self.attention_norm = nn.Linear(width, width), LayerNorm(width)
        self.up, self.down, self.output_norm = nn.Linear(width, inner), nn.Linear(inner, width), LayerNorm(width)

    def forward(self, x, mask):
        batch, tokens, width = x.shape
        query, key, value = (f(x).reshape(batch, tokens, self.heads, -1) for f in (self.query, self.key, self.value))
        scores = torch.matmul(query.permute(0, 2, 1, 3), key.permute(0, 2, 3, 1)) / self.scale + mask
        context = torch.matmul(F.softmax(scores, dim=-1), value.permute(0, 2, 1, 3)).permute(0, 2, 1, 3)
        x = self.attention_norm(self.projection(context.contiguous().reshape(batch, tokens, width)) + x)
        y = self.up.bias + F.linear(x, self.up.weight)
        y = y * 0.5 * (1.0 + torch.erf(y / 1.41421))
        return self.output_norm(self.down(y) + x)


class Bert(nn.Module):
    def __init__(self, layers, width, heads, inner):
        super().__init__()
        self.words, self.positions = nn.Embedding(VOCABULARY, width), nn.Embedding(POSITIONS, width)
        self.segments, self.norm = nn.Embedding(SEGMENTS, width), LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, inner) for _ in range(layers))
        self.spans = nn.Linear(width, 2)

    def forward(self, ids, segments, mask):
        ids, segments, mask = ids.long(), segments.long(), mask.long()
        mask = (1.0 - mask.unsqueeze(1).unsqueeze(2).to(self.words.weight.dtype)) * -10000.0
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0).expand_as(ids)
        x = self.norm(self.words(ids) + self.positions(places) + self.segments(segments))
        for layer in self.layers:
            x = layer(x, mask)
        start, end = self.spans(x).split(1, dim=-1)
        return start.squeeze(-1), end.squeeze(-1)


def program(*sizes):
    """The module and its inputs, 32-bit integers which it widens."""
    return Bert(*sizes).half().eval(), tuple(torch.ones(2, TOKENS, dtype=torch.int32) for _ in range(3))
