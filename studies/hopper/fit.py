#!/usr/bin/env python3
"""Fits what Hopper's products and convolutions take to profiles of one H200 (README.md).

    python3 studies/hopper/fit.py        (numpy, scipy, numba, pandas)

Only `operators` and the cells of `fit` are read. Prints, in this order, constants of `whitebox` and how well
they do on what they were fitted to: kLaneProducts and kLaneWindows (float32 lanes), kOddPlanes, HopperWindows and
HopperTf32 (kProducts), and how much longer than cuBLAS' tables say products of 16 bits take (kStreamGapUs).
"""
import json
import math
import pathlib
import sys

import numpy as np
import scipy.optimize

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "kernels"))
import product_data as data  # noqa: E402
import product_model as pm  # noqa: E402
import profiles  # noqa: E402

PEAKS = {"fp32": 66.9e12, "tf32": 494.7e12, "fp16": 989.4e12, "bf16": 989.4e12}
WIDTHS = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}
BANDWIDTH = 4.8e12
TILES = ((32, 32), (128, 32), (256, 64))
OTHER_KERNELS = ("implicit_convolve", "precomputed", "fft", "cf32", "sgemm")
FITTED = ("launch_clocks", "tensor_share", "step_clocks", "exposed", "tile_clocks", "stream_bytes")
FIRST_CHANNELS, VECTOR_LOAD, POSITION_STEP = 4, 16, 64  # as whitebox/constants has them


def facts(dtype):
    half = PEAKS["fp16"] if dtype != "fp32" else PEAKS["fp32"]
    return np.array([profiles.SMS, profiles.CLOCK_MHZ * 1e6, PEAKS[dtype], BANDWIDTH, 60 * 2**20, 700, 1, 0, half])


def report(name, said, measured):
    ratio = np.asarray(said) / np.asarray(measured)
    print(f"{name}: {len(ratio)} kernels, MAPE {100 * np.abs(ratio - 1).mean():.1f} %, median {np.median(ratio):.2f}")


def lanes_us(shape, values, either_way, tiles=TILES):
    """`values`: clocks, alone and epilogue of each of `tiles`, and µs."""
    batch, m, n, k = shape
    best = math.inf
    for i, (rows, columns) in enumerate(tiles):
        clocks, alone, epilogue = values[3 * i:3 * i + 3]
        for r, c in ((rows, columns), (columns, rows))[:1 + either_way]:
            per_sm = math.ceil(batch * math.ceil(m / r) * math.ceil(n / c) / profiles.SMS)
            best = min(best, k * max(per_sm * clocks, alone) + per_sm * epilogue)
    return best / profiles.CLOCK_MHZ + values[-1]


def fit_lanes(name, shapes, measured, start, either_way, tiles=TILES):
    def said(logs):
        return np.array([lanes_us(s, np.exp(logs), either_way, tiles) for s in shapes])

    best = scipy.optimize.minimize(lambda p: np.abs(np.log(said(p) / measured)).mean(), np.log(start),
                                   method="Nelder-Mead", options={"maxiter": 900})
    print(" ".join(f"{x:.4g}" for x in np.exp(best.x)))
    report(name, said(best.x), measured)


def products(dtypes):
    """(batch, m, n, k) of products, and µs."""
    out = {}
    for cell, kernels in profiles.by_cell("operators").items():
        kind, sizes, dtype = profiles.operator_of(cell)
        if kind in ("linear", "bmm") and dtype in dtypes:
            out[cell] = ((sizes.get("b", 1), sizes["m"], sizes["n"], sizes["k"]),
                         sum(r.us + profiles.GAP_US for r in kernels))
    for cell, kernels in profiles.by_cell("fit").items():
        if cell.split(" batch ")[1].split()[1] not in dtypes or "train" in cell:
            continue
        for found in profiles.runs_of(kernels, lambda o: o in ("aten::addmm", "aten::mm", "aten::bmm")):
            dims = json.loads(found[0].dims) if found[0].dims else []
            if found[0].operator == "aten::addmm":
                shape = (1, dims[1][0], dims[2][1], dims[1][1])
            elif found[0].operator == "aten::mm":
                shape = (1, dims[0][0], dims[1][1], dims[0][1])
            elif found[0].operator == "aten::bmm":
                shape = (dims[0][0], dims[0][1], dims[1][2], dims[0][2])
            else:
                continue
            out.setdefault((shape, found[0].strides), (shape, sum(r.us + profiles.GAP_US for r in found)))
    return list(out.values())


def loaded(channels, width):
    """Elements that kernels load for a position's channels: loaded_bytes of whitebox/price/kernel_problems.cpp."""
    size = channels * width
    load = VECTOR_LOAD if size <= 2 * VECTOR_LOAD else POSITION_STEP
    return math.ceil(size / load) * load / width


def dense(dtypes, last, keep):
    """Dense convolutions of more channels than an image's, each shape once."""
    seen = {}
    for c in profiles.convolutions(("operators", "fit")):
        wanted = c["dtype"] in dtypes and c["groups"] == 1 and c["c"] > FIRST_CHANNELS
        if wanted and not any(o in k for k in c["kernels"] for o in OTHER_KERNELS) and last(c) and keep(c):
            key = tuple(c[k] for k in ("n", "c", "plane", "k", "window", "stride", "dtype"))
            seen.setdefault(key, []).append(c)
    return [sorted(found, key=lambda c: c["us"])[len(found) // 2] for found in seen.values()]


def odd_planes():
    """(batch, m, n, k) of windows of one element in 16 bits as products per image, of planes whose bytes are multiples
    of 4 and not of 16, where a kernel multiplies them as they lie, and µs."""
    seen = {}
    for c in profiles.convolutions(("operators", "fit")):
        wanted = WIDTHS[c["dtype"]] == 2 and not c["last"] and c["groups"] == 1 and c["c"] > FIRST_CHANNELS and (
            c["window"], c["stride"]) == (1, 1)
        if wanted and c["plane"] > 1 and 2 * c["plane"] % 16 and 2 * c["plane"] % 4 == 0 and c["beside_us"] < 1 and any(
                "cutlass" in k for k in c["kernels"]):
            seen.setdefault((c["n"], c["k"], c["plane"], c["c"]), []).append(c["us"] + c["beside_us"] + profiles.GAP_US)
    return list(seen), np.array([sorted(us)[len(us) // 2] for us in seen.values()])


def problem(c):
    width = WIDTHS[c["dtype"]]
    m, k = c["n"] * c["positions"], c["window"] * loaded(c["c"], width)
    return (1.0, m, c["k"], k, width, width, width, 0.0, max(1.0, m * k / (c["n"] * c["c"] * c["plane"])))


def forwards(kernels):
    """Convolutions as `fit_chip` takes them."""
    return [(c["dtype"], problem(c)) for c in kernels], [c["us"] + profiles.GAP_US for c in kernels]


def fit_chip(name, products, measured, start, fitted, splits, room=1):
    """`products`: (dtype, problem as of `problem`); `measured`: µs; `room`: factor on the constants' upper bounds."""
    index = [pm.NAMES.index(f) for f in fitted]
    measured = np.asarray(measured)

    def said(logs):
        out = []
        for dtype, of in products:
            row = start.copy()
            row[index] = np.exp(logs)
            if not splits:
                row[pm.C_SPLIT] = data.NEVER
            row[pm.C_TILE] *= WIDTHS[dtype] / 2
            out.append(pm.product_time(facts(dtype), row, *map(float, of)) * 1e6)
        return np.array(out)

    low, high = np.log(np.maximum(pm.LOW[index], 1e-3)), np.log(room * pm.HIGH[index])

    def loss(logs):
        outside = np.maximum(low - logs, 0).sum() + np.maximum(logs - high, 0).sum()
        return np.abs(np.log(said(logs) / measured)).mean() + outside

    best = np.log(start[index])
    for _ in range(3):
        best = scipy.optimize.minimize(loss, best, method="Nelder-Mead", options={"maxiter": 900}).x
    print(", ".join(f"{f} {x:.3g}" for f, x in zip(fitted, np.exp(best))))
    report(name, said(best), measured)


def main():
    float32 = [p for p in products(("fp32",)) if min(p[0][1:3]) > 16]
    fit_lanes("kLaneProducts", [s for s, _ in float32], np.array([us for _, us in float32]),
              [27, 52, 600, 74, 104, 1600, 206, 300, 6000, 2.7], True)
    fit_lanes("kOddPlanes", *odd_planes(), [6, 12, 600, 12, 24, 1500, 40, 42, 4000, 3], True,
              ((32, 32), (64, 64), (128, 128)))
    windows = dense(("fp32",), lambda c: not c["last"], lambda c: True)
    fit_lanes("kLaneWindows", [(1, c["n"] * c["positions"], c["k"], c["c"] * c["window"]) for c in windows],
              np.array([c["us"] + profiles.GAP_US for c in windows]),
              [27, 52, 600, 74, 104, 1600, 206, 300, 6000, 2.7], False)
    hopper = data.class_constants("Hopper", pm.NAMES)
    as_matrix = dense(("tf32", "fp16", "bf16"), lambda c: c["last"], lambda c: c["window"] > 1 or c["stride"] > 1)
    fit_chip("HopperWindows", *forwards(as_matrix), hopper, FITTED, False)
    points = dense(("tf32",), lambda c: c["last"], lambda c: c["window"] == 1 and c["stride"] == 1)
    fit_chip("HopperTf32", *forwards(points), hopper, FITTED, True)
    half = products(("fp16", "bf16"))
    table = [pm.product_time(facts("fp16"), hopper, *map(float, s), 2.0, 2.0, 2.0, 0.0) * 1e6 for s, _ in half]
    measured = np.array([us for _, us in half])
    print(f"beyond the table's: {np.median(measured - table):.2f} µs")
    linear = [i for i, (s, _) in enumerate(half) if s[0] == 1 and s[1] > 1]
    report("products of matrices in 16 bits with 1.3 µs", np.array(table)[linear] + 1.3, measured[linear])


if __name__ == "__main__":
    main()
