#!/usr/bin/env python3
"""Fits the time of PyTorch's own depthwise kernel in float32 to times that others published.

    python3 studies/kernels/depthwise.py

A thread computes one result (aten/src/ATen/native/cuda/DepthwiseConv2d.cu): clocks of an SM per result = RESULT +
ELEMENT · window, times TURING where a load of a warp takes the L1 cache two clocks rather than one (64 byte per clock:
Jia et al., arXiv 1903.07486, table 3.1). Constants of whitebox/constants/depthwise.h, kDepthwiseOwn.

Rows of depthwise.tsv: RepLKNet (arXiv 2203.06717, table 5, as UniRepLKNet prints it: a stack of 24 layers, PyTorch
1.9), pytorch/pytorch#18631, tensorflow/tensorflow#96396, and 5×5 layers of MobileNetV3-Small
(anshulk-cmu/HDAI---cuDNN-Profiling; their 235,200 results per image as one row, and the largest clock that it may
have had). Where `window` is above 13 nothing was fitted.
"""
import csv
import math
import pathlib
import statistics

import numpy
from scipy.optimize import least_squares

ROWS = pathlib.Path(__file__).with_name("depthwise.tsv")
FITTED = 13


def clocks(row):
    results = float(row["batch"]) * float(row["channels"]) * float(row["size"]) ** 2
    return float(row["ms"]) * 1e-3 * float(row["sms"]) * float(row["clock_mhz"]) * 1e6 / results


def law(parameters, row):
    result, element, turing = parameters
    return (result + element * float(row["window"]) ** 2) * (turing if row["turing"] == "1" else 1)


def main():
    with open(ROWS, newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    fitted = [r for r in rows if float(r["window"]) <= FITTED]
    weights = {r["turing"]: 1 / math.sqrt(sum(s["turing"] == r["turing"] for s in fitted)) for r in fitted}
    found = numpy.exp(least_squares(
        lambda p: [weights[r["turing"]] * math.log(law(numpy.exp(p), r) / clocks(r)) for r in fitted],
        numpy.log([2, 0.12, 1.2])).x)
    print("RESULT {:.2f}, ELEMENT {:.3f}, TURING {:.2f}".format(*found))
    for turing, name in (("1", "Turing"), ("0", "others")):
        for large in (False, True):
            ratios = [law(found, r) / clocks(r) for r in rows
                      if r["turing"] == turing and (float(r["window"]) > FITTED) == large]
            if ratios:
                print(f"{name}, {'beyond' if large else 'up to'} {FITTED}×{FITTED}: {len(ratios)} rows, MAPE "
                      f"{100 * statistics.mean(abs(x - 1) for x in ratios):.1f} %, worst {min(ratios):.2f} and "
                      f"{max(ratios):.2f}")


if __name__ == "__main__":
    main()
