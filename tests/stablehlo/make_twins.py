#!/usr/bin/env python3
"""Writes tests/stablehlo/twins.tar.xz: transformers of make_models.py as a PyTorch program has them, as torch.export
writes it (.pt2). Attention is PyTorch's one operator for it; everything else is line for line the same.

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


def indices(*shape):
    return torch.zeros(*shape, dtype=torch.int32)


MODELS = {
    "vit_b16": (VisionTransformer, lambda: (torch.zeros(8, 3, 224, 224),)),
    "bert_base": (Bert, lambda: (indices(8, 128), indices(8, 128))),
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
