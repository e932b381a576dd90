#!/usr/bin/env python3
"""Fits what quantised products change in their chip class (`kQuantised` of whitebox/constants.h), and judges.

    OMP_NUM_THREADS=1 python studies/kernels/fit_quantised.py [--part 1|0] [--write]

Rows: shared/data/datacenter/gemm_quantised, TensorRT-LLM's int8 and int4 weight-only and SmoothQuant (8-bit data and
weights) on A100 and L40S. Parts as in fit_products.py. --write writes tests/unit/quantised_times.tsv.
"""
import argparse
import re

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

import product_data as data
import product_model as pm

# Factors on the constants of the chip class; --write's columns
FREE = (pm.C_LAUNCH, pm.C_TENSOR, pm.C_READ, pm.C_STEP, pm.C_L2, pm.C_SPLIT, pm.C_POWER, pm.C_GEMV, pm.C_GEMV_STEP)
CLASSES = {"a100-sxm": "Ga100", "l40s": "Graphics"}
# Bytes of an element of A and of B, and the peak by that of 16 bits
KINDS = {"weights": {"int8_wo": (2, 1, 1), "int4_wo": (2, 0.5, 1)}, "both": {"sq": (1, 1, 2)}}
# A kernel of its own quantises A: bytes per element, share of the bandwidth, µs [whitebox/launch/kernel_maker.cpp]
QUANTISED_BYTES, QUANTISED_SHARE, QUANTISED_US = 3, 0.8, 2


def class_constants():
    """By name, from whitebox/constants.h: two lines of numbers below a comment with the name."""
    text = (data.ROOT / "whitebox/constants.h").read_text()
    rows = re.findall(r"    // (\w+)\n    \{([^}]*)\},", text[text.index("kProducts[]"):])
    return {name: np.array([float(x) for x in body.split(",")[:len(pm.NAMES)]]) for name, body in rows}


def load(kind):
    d = pd.concat([pd.read_csv(data.DATA + f"datacenter/gemm_quantised{s}.csv.xz") for s in ("", ".l40s")])
    d = d[d.gemm_dtype.isin(KINDS[kind]) & d.device.isin(CLASSES)]
    d = d.assign(t=d.latency_ms * 1e-3, part=[data.split_of(*s) for s in zip(d.m, d.n, d.k)])
    return d.reset_index(drop=True)


class Model:
    def __init__(self, d, kind):
        widths = np.array([KINDS[kind][g] for g in d.gemm_dtype], float)
        one = np.ones(len(d))
        self.facts = data.facts(d)
        self.facts[:, pm.PEAK] *= widths[:, 2]
        self.constants = np.stack([class_constants()[CLASSES[x]] for x in d.device])
        self.rows = np.stack([one, d.m, d.n, d.k, widths[:, 0], widths[:, 1], 2 * one, 6 * one], 1).astype(float)
        self.beside = 0 * one
        if kind == "both":
            moved = (QUANTISED_BYTES * d.m * d.k).to_numpy()
            self.beside = QUANTISED_US * 1e-6 + moved / (QUANTISED_SHARE * self.facts[:, pm.BANDWIDTH])

    def __call__(self, factors):
        c = self.constants.copy()
        c[:, FREE] *= factors
        return pm.product_times(self.facts, c, self.rows) + self.beside


def fit(d, kind, per_device=900):
    d = d.groupby(["device", "gemm_dtype"], group_keys=False)[list(d.columns)].apply(
        lambda x: x.sample(min(per_device, len(x)), random_state=0))
    model, target = Model(d, kind), np.log(d.t.to_numpy())
    pull = 0.006 * np.sqrt(len(d))  # towards the chip class' own constants, where the rows do not say
    found = least_squares(lambda z: np.concatenate([np.log(model(np.exp(z))) - target, pull * z]),
                          np.full(len(FREE), 0.01), loss="soft_l1", f_scale=0.1, diff_step=3e-3, max_nfev=30,
                          bounds=(-3, 3))
    return np.exp(found.x)


def report(label, d, kind, factors):
    e = pd.Series(np.abs(Model(d, kind)(factors) / d.t.to_numpy() - 1) * 100, index=d.index)
    cells = [f"{' '.join(k)} {v.mean():.1f}/{v.median():.1f}" for k, v in e.groupby([d.device, d.gemm_dtype])]
    print(f"{label}: " + ", ".join(cells))


SHAPES = ((1, 4096, 4096), (16, 4096, 4096), (197, 768, 3072), (4096, 4096, 4096), (8192, 8192, 8192))


def write_pinned(factors, path):
    lines = ["chip\tkind\t" + "\t".join(pm.FACTS[:6]) + "\tm\tn\tk\tseconds"]
    for device, chip in CLASSES.items():
        for kind, (a, b) in (("weights", (2, 1)), ("weights", (2, 0.5)), ("both", (1, 1))):
            c = class_constants()[chip]
            c[list(FREE)] *= factors[kind]
            facts = data.FACTS[device]
            for m, n, k in SHAPES:
                t = pm.product_time(facts, c, 1.0, m, n, k, a, b, 2.0, 0.0)
                lines.append("\t".join([chip, f"{kind}:{b}"] + [f"{x:.9g}" for x in (*facts[:6], m, n, k, t)]))
    path.write_text("\n".join(lines) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--part", type=int, default=1, choices=(0, 1))
    arguments.add_argument("--write", action="store_true")
    a = arguments.parse_args()
    shipped = {}
    for kind in KINDS:
        d = load(kind)
        rows, judged = d[d.part == 2], d[d.part == a.part]
        report(f"{kind}, constants of 16 bits", judged, kind, np.ones(len(FREE)))
        shipped[kind] = np.array([float(f"{x:.3g}") for x in fit(rows, kind)])
        report(f"{kind}, shipped", judged, kind, shipped[kind])
        for x in CLASSES:
            report(f"{kind}, device out", judged[judged.device == x], kind, fit(rows[rows.device != x], kind))
        print("    {" + ", ".join(f".{pm.NAMES[i]} = {x:g}" for i, x in zip(FREE, shipped[kind])) + "},")
    if a.write:
        write_pinned(shipped, data.ROOT / "tests/unit/quantised_times.tsv")


if __name__ == "__main__":
    main()
