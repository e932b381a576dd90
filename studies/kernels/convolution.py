#!/usr/bin/env python3
"""Fits and judges float32 convolutions on vector units: NeuSight's (shared/data/ops_neusight), 3x3, stride 1.

    python studies/kernels/convolution.py [--judge]

The time is the shorter of an implicit product's and of Winograd's F(4x4, 3x3) with transforms of its own, both priced
as products of their extents by the models of fit_products.py (whitebox/constants/products.h, kProducts) times a
constant each: kImplicitTime, on arithmetic alone, whose kernels take WINDOW_STEP columns of k at a time; kWinogradTime,
on all. Parts as in fit_products.py: 60 % of the shapes fit, part 1 chose the form, part 0 judges (--judge). Rows above
0.3 ms, for the host's time hides shorter ones.
"""
import argparse

import numpy as np
import pandas as pd
import scipy.optimize

import product_data as data
import product_model as pm

TILE, PRODUCTS = 4, 36  # kWinogradTile, kWinogradProducts
WINDOW_STEP = 8.0       # kWindowStep
GATHERS = np.arange(1.0, 1.5, 0.02)
BANDWIDTH = 0.8         # of the data sheet's, that transforms reach
LEAST_S = 3e-4
ROOFLINE_SHARE, ROOFLINE_WINOGRAD = 0.75, 1.5  # what the whitebox had before: of the peak, and times faster


def constants():
    """By device, those of its class."""
    return {device: data.class_constants(chip, pm.NAMES)
            for g, chip in data.VECTOR_CLASSES.items() for device in data.VECTOR_GROUPS[g]}


def convolutions():
    c = pd.read_csv(data.DATA + "ops_neusight/conv_train.csv.gz")
    c = c.rename(columns={"in_channels": "ci", "out_channels": "co"})
    c = c.assign(t=c.latency_ms * 1e-3, part=[data.split_of(*s) for s in zip(c.B, c.ci, c.co, c.kernel, c.input_size,
                                                                             c.stride)])
    return c[c.device.isin(data.BEFORE_AMPERE) & (c.t > LEAST_S) & (c.kernel == 3) & (c.stride == 1)]


def times(c):
    """Seconds of the implicit product by GATHERS, of Winograd's algorithm, and of the roofline."""
    by_device, direct, out = constants(), [], []
    for r in c.itertuples():
        f, k = data.FACTS[r.device], by_device[r.device]
        plane = r.input_size + 2 * r.padding - 2
        read, written = r.B * r.ci * r.input_size**2, r.B * r.co * plane**2
        repeats = max(1.0, 9.0 * r.B * plane**2 * r.ci / read)
        direct.append([pm.product_time(f, k, 1.0, float(r.B * plane**2), float(r.co), 9.0 * r.ci, 4.0, 4.0, 4.0, 0.0,
                                       repeats, WINDOW_STEP, gathers) for gathers in GATHERS])
        tiles = r.B * np.ceil(plane / TILE)**2
        products = pm.product_time(f, k, float(PRODUCTS), float(tiles), float(r.co), float(r.ci), 4.0, 4.0, 4.0, 0.0)
        moved = read + written + PRODUCTS * tiles * (r.ci + r.co) + (9 + PRODUCTS) * r.ci * r.co
        bandwidth = BANDWIDTH * f[pm.BANDWIDTH]
        flops = 18.0 * written * r.ci
        roofline = max(flops / (ROOFLINE_SHARE * ROOFLINE_WINOGRAD * f[pm.PEAK]), 4 * (read + written) / bandwidth)
        out.append((products + 4 * moved / bandwidth, roofline))
    return np.array(direct), *np.array(out).T


def fit(direct, winograd, measured):
    """Which of GATHERS, and Winograd's factor, by the mean absolute logarithm."""
    found = []
    for gathers in range(len(GATHERS)):
        best = scipy.optimize.minimize_scalar(
            lambda x: np.mean(np.abs(np.log(predicted((gathers, x), direct, winograd) / measured))), bounds=(1, 2))
        found.append((best.fun, gathers, best.x))
    return min(found)[1:]


def predicted(x, direct, winograd):
    return np.minimum(direct[:, x[0]], x[1] * winograd)


def cell(p, measured):
    e = 100 * np.abs(p / measured - 1)
    return f"{e.mean():.1f}/{np.median(e):.1f} ({np.median(p / measured):.2f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--judge", action="store_true", help="part 0: a look, for docs/judged.md")
    part = 0 if arguments.parse_args().judge else 1
    c = convolutions()
    direct, winograd, roofline = times(c)
    measured, device = c.t.to_numpy(), np.array(c.device)
    fits, here = (c.part == 2).to_numpy(), (c.part == part).to_numpy()
    x = fit(direct[fits], winograd[fits], measured[fits])
    print(f"kImplicitTime = {GATHERS[x[0]]:.2f}, kWinogradTime = {x[1]:.2f}\n")
    print("MAPE/median in %, in brackets the median of predicted / measured\n\n"
          "| device | roofline | fitted | device left out |\n|---|---|---|---|")
    for name in sorted(set(device)):
        own = device == name
        others = fit(*(v[fits & ~own] for v in (direct, winograd, measured)))
        j = here & own
        print(f"| {name} | {cell(roofline[j], measured[j])} | "
              f"{cell(predicted(x, direct[j], winograd[j]), measured[j])} | "
              f"{cell(predicted(others, direct[j], winograd[j]), measured[j])} |")


if __name__ == "__main__":
    main()
