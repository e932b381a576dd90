#!/usr/bin/env python3
"""Whether the power limit that long products show holds for convolutions, which no fit of it saw.

    python studies/kernels/power.py [--part 1|0]

Long products of P4 and T4 sustain 3.3 and 3.1 of 5.5 and 8.1 TFLOP/s (`VectorPascal` and `VectorVolta` of
whitebox/constants/products.h: power_share · W of TDP). Judged are NeuSight's float32 convolutions of 1 ms and more
(shared/data/ops_neusight), by the whitebox's roofline with and without that limit. Parts as in fit_products.py.
"""
import argparse

import numpy as np
import pandas as pd

import product_data as data
import product_model as pm

SHARE, WINOGRAD, BANDWIDTH = 0.75, 1.5, 0.8  # of a roofline: of the peak, times faster, of the sheet's
LEAST_S = 1e-3


def limit_per_watt(device):
    chip = data.VECTOR_CLASSES[next(g for g in data.VECTOR_CLASSES if device in data.VECTOR_GROUPS[g])]
    return float(data.class_row(chip)[pm.C_POWER]) * 1e12


def convolutions(part):
    c = pd.read_csv(data.DATA + "ops_neusight/conv_train.csv.gz")
    c = c[c.device.isin(data.BEFORE_AMPERE)].rename(columns={"in_channels": "ci", "out_channels": "co"})
    c = c.assign(t=c.latency_ms * 1e-3, part=[data.split_of(*s) for s in zip(c.B, c.ci, c.co, c.kernel, c.input_size,
                                                                             c.stride)])
    c = c[(c.part == part) & (c.t > LEAST_S)]
    out = (c.input_size + 2 * c.padding - c.kernel) // c.stride + 1
    return c.assign(flops=2.0 * c.B * out**2 * c.co * c.ci * c.kernel**2,
                    bytes=4.0 * (c.B * c.ci * c.input_size**2 + c.B * c.co * out**2 + c.co * c.ci * c.kernel**2))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--part", type=int, default=1, choices=(0, 1))
    c = convolutions(arguments.parse_args().part)
    print("| device | sustained / peak | roofline | under the power limit |\n|---|---|---|---|")
    for name, d in c.groupby("device"):
        f = data.FACTS[name]
        limit = limit_per_watt(name) * f[pm.TDP]
        gain = np.where((d.kernel == 3) & (d.stride == 1), WINOGRAD, 1)
        cells = []
        for rate in (SHARE * f[pm.PEAK], min(SHARE * f[pm.PEAK], limit)):
            e = np.abs(np.maximum(d.flops / (rate * gain), d.bytes / (BANDWIDTH * f[pm.BANDWIDTH])) / d.t - 1) * 100
            cells.append(f"{e.mean():.1f}/{e.median():.1f}")
        print(f"| {name} | {limit / f[pm.PEAK]:.2f} | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    main()
