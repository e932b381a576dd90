#!/usr/bin/env python3
"""Writes tests/stablehlo/xla.tar.xz and xla.tsv: networks of PyTorch as torch_xla writes them in StableHLO, with the
multiply-accumulates that torch's FlopCounter counts and the elements of their parameters.

  python3.11 -m venv venv && venv/bin/pip install torch==2.9.0 torch_xla==2.9.0
  PJRT_DEVICE=CPU venv/bin/python tests/stablehlo/make_xla.py

torch_xla wants libpython3.11.so.1.0 where the loader looks (LD_LIBRARY_PATH).
"""
import io
import pathlib
import tarfile

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode
from torch_xla.stablehlo import exported_program_to_stablehlo

import make_twins

HERE = pathlib.Path(__file__).parent


class Block(nn.Module):
    def __init__(self, width, wider):
        super().__init__()
        stride = wider // width
        self.conv1 = nn.Conv2d(width, wider, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(wider, wider, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(wider), nn.BatchNorm2d(wider)
        self.down = nn.Identity()
        if stride > 1:
            self.down = nn.Sequential(nn.Conv2d(width, wider, 1, stride, bias=False), nn.BatchNorm2d(wider))

    def forward(self, x):
        return F.relu(self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))) + self.down(x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                                  nn.MaxPool2d(3, 2, 1))
        widths = [(64, 64), (64, 128), (128, 256), (256, 512)]
        self.body = nn.Sequential(*[nn.Sequential(Block(a, b), Block(b, b)) for a, b in widths])
        self.pool, self.head = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 1000)

    def forward(self, x):
        return self.head(self.pool(self.body(self.stem(x))).flatten(1))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


MODELS = {**make_twins.MODELS, "resnet18": (ResNet18, lambda: (torch.zeros(8, 3, 224, 224),)),
          "lstm": (Lstm, lambda: (torch.zeros(4, 20, 64),))}


def main():
    rows = ["model\tmacs\tparameters"]
    with tarfile.open(HERE / "xla.tar.xz", "w:xz", preset=9) as archive, torch.no_grad():
        for name, (make, inputs) in MODELS.items():
            module = make().eval()
            program = torch.export.export(module, inputs())
            # The counter knows neither oneDNN's recurrent layer nor the CPU's fused attention.
            with (sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False),
                  FlopCounterMode(display=False) as counter):
                module(*inputs())
            text = exported_program_to_stablehlo(program).get_stablehlo_text().encode()
            entry = tarfile.TarInfo(f"{name}.mlir")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
            rows.append(f"{name}\t{counter.get_total_flops() // 2}\t{sum(p.numel() for p in module.parameters())}")
            print(rows[-1], flush=True)
    (HERE / "xla.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
