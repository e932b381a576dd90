#!/usr/bin/env python3
"""Fits the time of cuDNN's kernels between the orders of channels to times that others published.

    python3 studies/kernels/transposes.py

Kernels for tensor cores take channels last: given data channels first, cuDNN launches nchwToNhwcKernel for data and
weights before, and nhwcToNchwKernel after. Their grids (1568 × 4 × 10 for 10 images of 128 × 224²) say that a thread
block moves 32 positions of 32 channels, so that a plane of 3 × 3 fills 9 of 32. Clocks of an SM per element =
ELEMENT + TILE / filled share, unless memory takes longer (read once, written once, at STREAM of the data sheet's
bandwidth). Constants of whitebox/constants/layouts.h, kOrderElementClocks and kOrderTileClocks.

Rows of transposes.tsv: `elements` of planes with `plane` positions and `weights` of windows in `kernels` launches. Two
fit, one for each constant: a whole training step, as whose elements count all data and weights that perfc converts, and
one call of weights alone. The others judge: nothing was changed after them. Where a row gives a step's shapes as the
network's, they follow from its architecture.
"""
import csv
import math
import pathlib

import numpy

ROWS = pathlib.Path(__file__).with_name("transposes.tsv")
TILE = 32
STREAM = 0.87
LAUNCH_US = 2


def clocks_of(row):
    """What ELEMENT and TILE count, in elements."""
    data, weights = float(row["elements"]), float(row["weights"])
    slots = sum(n * math.ceil(float(row[p]) / TILE) * TILE / float(row[p])
                for n, p in ((data, "plane"), (weights, "window")))
    return data + weights, slots


def us_of(row, constants):
    rate = float(row["sms"]) * float(row["clock_mhz"])
    clocks = numpy.dot(clocks_of(row), constants) / rate
    moved = 2 * clocks_of(row)[0] * float(row["bits"]) / 8
    memory = moved / (STREAM * float(row["bandwidth_gb_s"]) * 1e3)
    return max(clocks, memory) + LAUNCH_US * float(row["kernels"])


def main():
    with open(ROWS, newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    fit = [r for r in rows if r["role"] == "fit"]
    clocks = [(float(r["us"]) - LAUNCH_US * float(r["kernels"])) * float(r["sms"]) * float(r["clock_mhz"])
              for r in fit]
    found = numpy.linalg.solve([clocks_of(r) for r in fit], clocks)
    print("ELEMENT {:.3f}, TILE {:.3f}".format(*found))
    for r in rows:
        print(f"{r['role']:5} {r['device']:15} {r['bits']} bit {us_of(r, found):9.1f} µs, "
              f"measured {float(r['us']):9.1f}, ratio {us_of(r, found) / float(r['us']):.2f}: {r['source']}")


if __name__ == "__main__":
    main()
