#!/usr/bin/env python3
"""Judges the law of AMD's products in 16 bits on kernels that no fit saw, and says what odd extents cost there.

    OMP_NUM_THREADS=1 python studies/kernels/rocblas_products.py
    python studies/kernels/rocblas_products.py extract ROCBLAS-SOURCE > studies/kernels/rocblas_products.tsv

Needs numpy, pandas, numba, scipy. rocBLAS carries, of every product that AMD's engineers tuned, the fastest kernel's
FLOP/s: library/src/blas3/Tensile/Logic/asm_full of its source (MIT; 6.4.4 is rocblas_6.4.4.orig.tar.gz of Debian sid),
for MI100 (`arcturus`) and one die of an MI250X (`aldebaran`), as per cent of the peak at the clock of the tuning
(ConvertToEfficiency.py of ROCm/Tensile). Neither that clock, lower than the one they boost to, nor what the timing adds
to every kernel is written there: CLOCKS are those at which memory reads as fast as AMD's streams do (streams.py), MI100
within 1 % of the 1,087 MHz that AMD's own examples name; the other is fitted beside the law, on part 2.
"""
import pathlib
import re
import sys

import numpy as np
import pandas as pd

import fit_products as fp
import product_data as data
import product_model as pm

TABLE = data.ROOT / "studies/kernels/rocblas_products.tsv"
CHIPS = {"arcturus": "mi100", "aldebaran": "mi250x"}
DTYPES = {"HHS_BH": "float16", "BBS_BH": "bfloat16"}
# Which operands lie along k, in column-major order as BLAS has it: a linear layer, a product as it lies, a weight's
# gradient.
LAYOUTS = {("Alik", "Bljk"): "tn", ("Ailk", "Bljk"): "nn", ("Ailk", "Bjlk"): "nt"}
CLOCKS = {"mi100": 1.1e9, "mi250x": 1.05e9}
PER_DEVICE = 2000
ADDED = np.arange(0, 41) * 1e-6  # s that a timing adds: tried
LONG = 60e-6                     # of kernels that tell what odd extents cost


def extract(source):
    """Products of the logic files, a sample of each device."""
    rows = []
    for chip, device in CHIPS.items():
        for (a, b), layout in LAYOUTS.items():
            for suffix, dtype in DTYPES.items():
                name = f"library/src/blas3/Tensile/Logic/asm_full/{chip}/{chip}_Cijk_{a}_{b}_{suffix}.yaml"
                text = (pathlib.Path(source) / name).read_text()
                found = re.findall(r"^  - - \[(\d+), (\d+), (\d+), (\d+)[^\]]*\]\n    - \[\d+, ([\d.]+)\]", text, re.M)
                rows += [(device, dtype, layout, *map(int, s[:4]), float(s[4])) for s in found]
    d = pd.DataFrame(rows, columns=["device", "dtype", "layout", "n", "m", "batch", "k", "percent"])
    d = d[(d.percent > 0) & (d.percent <= 100)].drop_duplicates(["device", "dtype", "layout", "n", "m", "batch", "k"])
    d = fp.sample(d, PER_DEVICE).sort_index()
    return d[["device", "dtype", "layout", "batch", "m", "n", "k", "percent"]]


def products():
    d = pd.read_csv(TABLE, sep="\t")
    sheets = {x: data.SHEETS[x] for x in CLOCKS}
    d["peak"] = [sheets[x]["matrix_tflops"][y] * 1e6 / sheets[x]["boost_clock_mhz"] * CLOCKS[x]
                 for x, y in zip(d.device, d.dtype)]
    flops = 2.0 * d.batch * d.m * d.n * d.k
    return data.table(d.assign(t=flops / (d.percent / 100 * d.peak)), ("m", "n", "k"), batch=d.batch)


def predict(d):
    """Without the power limit, which no product meets at the clocks of the tuning, and what the timing adds."""
    constants = data.class_constants("CdnaHalf", pm.NAMES)
    constants[pm.C_POWER], constants[pm.C_POWER_EXPONENT] = 1e9, 0
    sheets = {x: {**data.SHEETS[x], "boost_clock_mhz": clock / 1e6} for x, clock in CLOCKS.items()}
    facts = np.stack([data.facts_of(sheets[x], peak / 1e12) for x, peak in zip(d.device, d.peak)])
    lines = np.ascontiguousarray(np.broadcast_to(constants, (len(d), len(constants))))
    return pm.product_times(facts, lines, data.rows(d))


def judge(d):
    kinds = np.select([d.k % 2 == 1, d.n % 2 == 1], ["odd k", "odd n"], "even")
    print("| GPU | added | kernels | roofline | law | median predicted / measured | odd k | odd n |")
    print("|---" * 8 + "|")
    odd = []
    for device, v in d.groupby("device"):
        kind, predicted = kinds[v.index], predict(v)
        fitted = (kind == "even") & (v.part == 2)
        added = min(ADDED, key=lambda x: np.abs(np.log((predicted + x) / v.t))[fitted].mean())
        ratio = (predicted + added) / v.t
        judged = ratio[(kind == "even") & (v.part != 2)]
        size = 2.0 * v.batch * (v.m * v.k + v.k * v.n + v.m * v.n)
        bandwidth = data.SHEETS[device]["bandwidth_gb_s"] * 1e9
        roofline = np.maximum(2.0 * v.batch * v.m * v.n * v.k / v.peak, size / bandwidth)
        plain = np.abs(((roofline + added) / v.t)[judged.index] - 1)
        long = ratio[v.t > LONG]
        cells = [long[kind[v.t > LONG] == x] for x in ("odd k", "odd n", "even")]
        odd += [np.log(cells[2].median()) - np.log(x.median()) for x in cells[:2]]
        print(f"| {device} | {added * 1e6:.0f} µs | {len(judged)} | {plain.mean() * 100:.1f} % "
              f"| {np.abs(judged - 1).mean() * 100:.1f}/{np.abs(judged - 1).median() * 100:.1f} % "
              f"| {judged.median():.2f} | " + " | ".join(f"{x.median():.2f} of {len(x)}" for x in cells[:2]) + " |")
    print(f"\nkOddCdna: {np.exp(np.mean(odd)):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["extract"]:
        extract(sys.argv[2]).to_csv(sys.stdout, sep="\t", index=False)
    else:
        judge(products())
