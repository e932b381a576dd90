"""Writes the language models that studies/exercise/judge.py judges: a decoder as Stanford's course CS336 (assignment 2,
"Systems", section 1.1.2) has its students write, benchmark and profile, from what the assignment asks for.

    PYTHONPATH=python /tmp/venv/bin/python studies/exercise/make_models.py --out build/exercise      (torch)

No biases, RMS norms in float32, rotary positions, attention and softmax written out, SwiGLU, 10,000 tokens; products
are einsums. One TorchScript file per size and length of context; a batch is 4 sequences.
"""
import argparse
import pathlib

import torch
from torch import nn

from perfc.export import torchscript

VOCABULARY, BATCH = 10_000, 4
#: width, inner width, layers, heads
SIZES = {"small": (768, 3072, 12, 12), "medium": (1024, 4096, 24, 16), "large": (1280, 5120, 36, 20),
         "xl": (1600, 6400, 48, 25), "2.7B": (2560, 10240, 32, 32)}
CONTEXTS = (128, 256, 512, 1024)


class Linear(nn.Module):
    def __init__(self, width_in, width_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width_out, width_in))

    def forward(self, x):
        return torch.einsum("bsi,oi->bso", x, self.weight)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        width, x = x.dtype, x.to(torch.float32)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
        return (self.weight * x).to(width)


class Attention(nn.Module):
    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (Linear(width, width) for _ in range(4))
        half = width // heads // 2
        self.register_buffer("angles", torch.empty(2, context, half))

    def rotated(self, x, positions):
        pairs = x.unflatten(-1, (-1, 2))
        even, odd = pairs[..., 0], pairs[..., 1]
        cos, sin = self.angles[0][positions], self.angles[1][positions]
        return torch.stack((cos * even - sin * odd, sin * even + cos * odd), -1).flatten(-2)

    def forward(self, x):
        length = x.shape[1]
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value))
        positions = torch.arange(length, device=x.device)
        q, k = self.rotated(q, positions), self.rotated(k, positions)
        mask = positions[:, None] >= positions[None, :]
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        scores = torch.where(mask, scores, float("-inf"))
        shifted = torch.exp(scores - scores.max(-1, keepdim=True).values)
        weights = shifted / shifted.sum(-1, keepdim=True)
        result = torch.einsum("bhqk,bhkd->bhqd", weights, v).transpose(1, 2).flatten(-2)
        return self.out(result)


class Block(nn.Module):
    def __init__(self, width, inner, heads, context):
        super().__init__()
        self.before, self.attention = RmsNorm(width), Attention(width, heads, context)
        self.between = RmsNorm(width)
        self.gate, self.up, self.down = Linear(width, inner), Linear(width, inner), Linear(inner, width)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        y = self.between(x)
        gate = self.gate(y)
        return x + self.down(gate * torch.sigmoid(gate) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, width, inner, layers, heads, context):
        super().__init__()
        self.tokens = nn.Parameter(torch.empty(VOCABULARY, width))
        self.blocks = nn.ModuleList(Block(width, inner, heads, context) for _ in range(layers))
        self.norm, self.head = RmsNorm(width), Linear(width, VOCABULARY)

    def forward(self, tokens):
        x = self.tokens[tokens]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, (width, inner, layers, heads) in SIZES.items():
        for context in CONTEXTS:
            with torch.device("meta"):
                model = Decoder(width, inner, layers, heads, context).eval()
                tokens = torch.zeros(BATCH, context, dtype=torch.int64)
            program = torchscript.export_module(model, (tokens,), name=name)
            torchscript.write(program, str(out / f"{name}-{context}.json"))


if __name__ == "__main__":
    main()
