#!/usr/bin/env python3
"""Writes tests/stablehlo/twins.tar.xz: networks of make_models.py and make_xla.py as a PyTorch program has them, as
torch.export writes it (.pt2). Attention is PyTorch's one operator for it; everything else is line for line the same.

  venv/bin/pip install torch
  venv/bin/python tests/stablehlo/make_twins.py
"""
import io
import pathlib
import tarfile
import tempfile
import zipfile

import torch
import torch.nn.functional as F
from torch import nn

HERE = pathlib.Path(__file__).parent


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, mask=None):
        heads = lambda layer: layer(x).view(*x.shape[:2], self.heads, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(heads(self.query), heads(self.key), heads(self.value), attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Encoder(nn.Module):
    def __init__(self, width, heads, hidden, prenorm=True):
        super().__init__()
        self.prenorm = prenorm
        self.attend = Attention(width, heads)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def mlp(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x, mask=None):
        if self.prenorm:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.mlp(x))


class VisionTransformer(nn.Module):
    def __init__(self, depth=12, width=768, patch=16):
        super().__init__()
        self.conv = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, 197, width))
        self.blocks = nn.Sequential(*[Encoder(width, width // 64, 4 * width) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x):
        x = self.conv(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


class Bert(nn.Module):
    def __init__(self, depth=12, width=768):
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, width) for n in (30522, 512, 2))
        self.blocks = nn.ModuleList([Encoder(width, 12, 4 * width, prenorm=False) for _ in range(depth)])
        self.norm, self.pool = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, ids, mask):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1])[None])
        x = self.norm(x + self.kinds(torch.zeros_like(ids)))
        for block in self.blocks:
            x = block(x, mask[:, None, None, :] > 0)
        return x, torch.tanh(self.pool(x[:, 0]))


class LlamaBlock(nn.Module):
    """Rotary positions, grouped queries, RMS norms."""

    def __init__(self, width=512, heads=8, groups=2, hidden=1408):
        super().__init__()
        self.heads, self.groups = heads, groups
        linear = lambda rows, columns: nn.Linear(rows, columns, bias=False)
        self.query, self.out = linear(width, width), linear(width, width)
        self.key, self.value = (linear(width, width * groups // heads) for _ in range(2))
        self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)
        self.norm1, self.norm2 = nn.RMSNorm(width, 1e-6), nn.RMSNorm(width, 1e-6)
        self.register_buffer("steps", -torch.arange(width // heads // 2))

    def rotated(self, x, positions):
        angles = torch.outer(positions, 10000.0 ** (self.steps.float() / len(self.steps)))[:, None]
        (a, b), c, s = x.chunk(2, -1), angles.cos(), angles.sin()
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    def forward(self, x):
        y = self.norm1(x)
        split = lambda z, heads: z.view(*z.shape[:2], heads, -1)
        positions = torch.arange(x.shape[1], dtype=torch.float32)
        q = self.rotated(split(self.query(y), self.heads), positions)
        k = self.rotated(split(self.key(y), self.groups), positions)
        v = split(self.value(y), self.groups)
        z = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True,
                                           enable_gqa=True)
        x = x + self.out(z.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, depth=2, width=512):
        super().__init__()
        self.embed = nn.Embedding(32000, width)
        self.blocks = nn.Sequential(*[LlamaBlock(width) for _ in range(depth)])
        self.norm, self.head = nn.RMSNorm(width, 1e-6), nn.Linear(width, 32000, bias=False)

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.embed(ids))))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 256), nn.SiLU(),
                         nn.Linear(256, 10), nn.Softmax(-1))


class GroupNorms(nn.Module):
    """A residual block of a diffusion model."""

    def __init__(self, width=64):
        super().__init__()
        self.stem = nn.Conv2d(4, width, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(8, width), nn.GroupNorm(8, width)
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        x = self.stem(x)
        x = x + self.conv1(F.silu(self.norm1(x)))
        return self.conv2(F.silu(self.norm2(x)))


def indices(*shape):
    return torch.zeros(*shape, dtype=torch.int32)


MODELS = {
    "vit_b16": (VisionTransformer, lambda: (torch.zeros(8, 3, 224, 224),)),
    "bert_base": (Bert, lambda: (indices(8, 128), indices(8, 128))),
    "llama": (Llama, lambda: (indices(1, 256),)),
    "mlp": (mlp, lambda: (torch.zeros(32, 784),)),
    "group_norms": (GroupNorms, lambda: (torch.zeros(8, 4, 32, 32),)),
}


def main():
    with tarfile.open(HERE / "twins.tar.xz", "w:xz", preset=9) as archive, tempfile.TemporaryDirectory() as folder:
        for name, (make, inputs) in MODELS.items():
            with torch.device("meta"):
                program = torch.export.export(make().eval(), inputs())
            saved, flat = pathlib.Path(folder, "saved.pt2"), io.BytesIO()
            torch.export.save(program, saved)
            with zipfile.ZipFile(saved) as packed, zipfile.ZipFile(flat, "w", zipfile.ZIP_STORED) as unpacked:
                for member in packed.namelist():
                    unpacked.writestr(zipfile.ZipInfo(member), packed.read(member))
            entry = tarfile.TarInfo(f"{name}.pt2")
            entry.size = len(flat.getvalue())
            archive.addfile(entry, io.BytesIO(flat.getvalue()))


if __name__ == "__main__":
    main()
