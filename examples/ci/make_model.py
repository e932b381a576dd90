#!/usr/bin/env python3
"""Writes models/net.pir: a small convolutional network without weights, in perfc's text form.

usage: make_model.py [--width N] [--output FILE]

Yours would export with torch.onnx.export, torch.export or whatever else `perfc` reads; only what comes out counts.
"""
import argparse
import pathlib

STAGES = [(1, 56), (2, 28), (4, 14)]  # factor on the width, size


class Network:
    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text, shape, name):
        self.count += 1
        dims = ", ".join(map(str, shape))
        self.lines.append(f'  %{self.count} = {text} : Tensor[({dims}), float32] @"{name}";')
        return f"%{self.count}"

    def conv(self, x, channels, to, size, stride, name):
        w = self.add("weight", (to, channels, 3, 3), f"{name}.weight")
        x = self.add(f"nn.conv2d({x}, {w}, padding=[1, 1, 1, 1], strides=[{stride}, {stride}])", ("N", to, size, size),
                     name)
        return self.add(f"nn.relu({x})", ("N", to, size, size), f"{name}.act")


def network(width):
    net, x, channels = Network(), "%x", 3
    for number, (factor, size) in enumerate(STAGES):
        for block in range(2):
            x = net.conv(x, channels, width * factor, size, 1 if block else 2, f"stage{number}.{block}")
            channels = width * factor
    head = "\n".join(net.lines)
    return (f'#[version = "perfc-ir/1"]\ndef @main(%x: Tensor[(N, 3, 112, 112), float32]) -> '
            f"(features: Tensor[(N, {channels}, 14, 14), float32]) {{\n{head}\n  ({x})\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent / "models/net.pir")
    args = parser.parse_args()
    args.output.write_text(network(args.width))


if __name__ == "__main__":
    main()
