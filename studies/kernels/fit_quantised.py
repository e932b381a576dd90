#!/usr/bin/env python3
"""Fits what quantised products change in their chip class (whitebox/constants/quantised_products.h), and judges.

    OMP_NUM_THREADS=1 python studies/kernels/fit_quantised.py [--part 1|0] [--write]

Rows: shared/data/datacenter/gemm_quantised, TensorRT-LLM's: int8 and int4 weight-only and SmoothQuant (8-bit data and
weights) on A100 and L40S, one set of factors for both; fp8 (cuBLASLt) on L40S, Hopper and Blackwell, one per class.
Parts as in fit_products.py. --write writes tests/unit/quantised_times.tsv. studies/kernels/quantised_factor.py learns
what is left.
"""
import argparse

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

import product_data as data
import product_model as pm
from trees import CLASS_NAMES, GROUP_OF

# Bytes of an element of A and of B, and the units that multiply; empty: those of 16 bits
KINDS = {"weights": {"int8_wo": (2, 1, ""), "int4_wo": (2, 0.5, "")}, "both": {"sq": (1, 1, "int8")},
         "float8": {"fp8": (1, 1, "float8")}}
CLASSES = {"weights": ("ga100", "graphics"), "both": ("ga100", "graphics"),
           "float8": ("graphics", "hopper", "blackwell")}
VERSIONS = ("1.0.0", "1.3.0rc20")  # of TensorRT-LLM: int8 and int4; fp8
# Factors on the constants of the chip class. A product in fp8 is cuBLASLt's, whose launch is that of 16 bits
FREE = {"weights": (pm.C_LAUNCH, pm.C_TENSOR, pm.C_READ, pm.C_STEP, pm.C_L2, pm.C_SPLIT, pm.C_POWER, pm.C_GEMV,
                    pm.C_GEMV_STEP),
        "float8": (pm.C_TENSOR, pm.C_READ, pm.C_STEP, pm.C_L2, pm.C_SPLIT, pm.C_POWER, pm.C_GEMV, pm.C_GEMV_STEP,
                   pm.C_STREAM, pm.C_EXPOSED, pm.C_TILE)}
FREE["both"] = FREE["weights"]
# Kernels of their own quantise A: bytes per element, share of the bandwidth, µs [whitebox/launch/kernel_maker.cpp].
# In fp8 (largest magnitude, scale, rounding) the share and the µs are fitted, too, and are no business of the program
QUANTISED_BYTES, QUANTISED_SHARE, QUANTISED_US = 3, 0.8, 2


def class_constants():
    """By name of a class, from whitebox/constants/products.h."""
    return {name: data.class_constants(name, pm.NAMES) for name in CLASS_NAMES.values()}


def load(kind):
    d = pd.concat([pd.read_csv(data.DATA + f"datacenter/gemm_quantised{s}.csv.xz") for s in ("", ".l40s")])
    d = d[d.gemm_dtype.isin(KINDS[kind]) & (d.framework == "trtllm")]
    d = d[d.version == VERSIONS[kind == "float8"]]
    d = d.assign(t=d.latency_ms * 1e-3, part=[data.split_of(*s) for s in zip(d.m, d.n, d.k)],
                 group=[GROUP_OF[x] for x in d.device])
    return d.reset_index(drop=True)


def facts_of(device, units):
    f = data.FACTS[device].copy()
    if units:
        f[pm.PEAK] = data.SHEETS[data.NAMES[device]]["matrix_tflops"][units] * 1e12
    return f


class Model:
    """Times of rows of one kind."""

    def __init__(self, d, kind):
        widths = [KINDS[kind][g] for g in d.gemm_dtype]
        one = np.ones(len(d))
        of_class = class_constants()
        self.free = FREE[kind]
        self.facts = np.stack([facts_of(x, units) for x, (*_, units) in zip(d.device, widths)])
        self.constants = np.stack([of_class[CLASS_NAMES[g]] for g in d.group])
        self.rows = np.stack([one, d.m, d.n, d.k, [w[0] for w in widths], [w[1] for w in widths], 2 * one, 6 * one],
                             1).astype(float)
        self.quantises = kind != "weights"
        self.moved = (QUANTISED_BYTES * d.m * d.k).to_numpy() / (QUANTISED_SHARE * self.facts[:, pm.BANDWIDTH])

    def product(self, factors):
        c = self.constants.copy()
        c[:, self.free] *= factors[:len(self.free)]
        return pm.product_times(self.facts, c, self.rows)

    def beside(self, factors):
        """Of the kernels that quantise A; factors beyond those of the product: on their µs, and on their share."""
        us, share = factors[len(self.free):] if len(factors) > len(self.free) else (1, 1)
        return (us * QUANTISED_US * 1e-6 + self.moved / share) * self.quantises

    def __call__(self, factors):
        return self.product(factors) + self.beside(factors)


def fit_rows(d, kind, per_device):
    d = d.groupby(["device", "gemm_dtype"], group_keys=False)[list(d.columns)].apply(
        lambda x: x.sample(min(per_device, len(x)), random_state=0))
    model, target = Model(d, kind), np.log(d.t.to_numpy())
    pull = 0.006 * np.sqrt(len(d))  # towards the chip class' own constants, where the rows do not say
    found = least_squares(lambda z: np.concatenate([np.log(model(np.exp(z))) - target, pull * z]),
                          np.full(len(FREE[kind]) + 2 * (kind == "float8"), 0.01), loss="soft_l1", f_scale=0.1,
                          diff_step=3e-3, max_nfev=30, bounds=(-3, 3))
    return np.array([float(f"{x:.3g}") for x in np.exp(found.x)])


def fit(d, kind, per_device=900):
    """By class of chip."""
    if kind != "float8":
        return dict.fromkeys(CLASSES[kind], fit_rows(d, kind, per_device))
    return {g: fit_rows(d[d.group == g], kind, per_device) for g in CLASSES[kind] if (d.group == g).any()}


def times(d, kind, factors):
    """Of the products, and of what quantises their data."""
    product, beside = np.empty(len(d)), np.empty(len(d))
    for g in d.group.unique():
        at = (d.group == g).to_numpy()
        model = Model(d[at], kind)
        product[at], beside[at] = model.product(factors[g]), model.beside(factors[g])
    return product, beside


def report(label, d, found):
    e = pd.Series(np.abs(found / d.t.to_numpy() - 1) * 100, index=d.index)
    cells = [f"{' '.join(k)} {v.mean():.1f}/{v.median():.1f}" for k, v in e.groupby([d.device, d.gemm_dtype])]
    by_kind = e.groupby([d.gemm_dtype, d.device]).mean().groupby(level=0).mean()
    print(f"{label}: " + ", ".join(cells) + "; " + ", ".join(f"{k} {v:.1f}" for k, v in by_kind.items()), flush=True)


def without(rows, device):
    """What a fit may see when a device is left out: its siblings, or where it has none in its class nothing."""
    return rows[rows.device != device]


SHAPES = ((1, 4096, 4096), (16, 4096, 4096), (197, 768, 3072), (4096, 4096, 4096), (8192, 8192, 8192))
SAMPLES = {"ga100": "a100-sxm", "graphics": "l40s", "hopper": "h100-sxm", "blackwell": "b200-sxm"}


def write_pinned(factors, path):
    lines = ["chip\tkind\t" + "\t".join(pm.FACTS[:6]) + "\thalf_peak_flops\tm\tn\tk\tseconds"]
    for kind, widths in (("weights", KINDS["weights"]["int8_wo"]), ("weights", KINDS["weights"]["int4_wo"]),
                         ("both", KINDS["both"]["sq"]), ("float8", KINDS["float8"]["fp8"])):
        for g in CLASSES[kind]:
            c = class_constants()[CLASS_NAMES[g]]
            c[list(FREE[kind])] *= factors[kind][g][:len(FREE[kind])]
            facts = facts_of(SAMPLES[g], widths[2])
            for m, n, k in SHAPES:
                t = pm.product_time(facts, c, 1.0, m, n, k, widths[0], widths[1], 2.0, 0.0)
                lines.append("\t".join([CLASS_NAMES[g], f"{kind}:{widths[1]}"] +
                                       [f"{x:.9g}" for x in (*facts[:6], facts[pm.HALF_PEAK], m, n, k, t)]))
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
        ones = dict.fromkeys(CLASSES[kind], np.ones(len(FREE[kind])))
        report(f"{kind}, constants of 16 bits", judged, sum(times(judged, kind, ones)))
        shipped[kind] = fit(rows, kind)
        report(f"{kind}, shipped", judged, sum(times(judged, kind, shipped[kind])))
        for x in d.device.unique():
            v, left = judged[judged.device == x], fit(without(rows, x), kind)
            if v.group.iloc[0] in left:
                report(f"{kind}, device out", v, sum(times(v, kind, left)))
        for g, found in shipped[kind].items():
            print(f"    // {CLASS_NAMES[g]}\n    {{" + ", ".join(f".{pm.NAMES[i]} = {x:g}"
                                                                 for i, x in zip(FREE[kind], found)) + "},")
    if a.write:
        write_pinned(shipped, data.ROOT / "tests/unit/quantised_times.tsv")


if __name__ == "__main__":
    main()
