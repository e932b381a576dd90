#!/usr/bin/env python3
"""Trains the learned factor on the times of quantised products, data/models/quantised.trees, and judges it.

    OMP_NUM_THREADS=1 python studies/kernels/quantised_factor.py [--part 1|0] [--device-out] [--write]

Needs what product_factor.py does. The factor corrects the tile model with the constants of fit_quantised.py, on its
rows and parts; the time of what quantises data beforehand is taken off first. Trees of a kind (int8 and int4
weight-only, SmoothQuant, fp8) are trained by themselves; the file has them all, each tree of another kind than the
product's ending at its root. Monotone as in product_factor.py. Its C++ twin is whitebox/price/learned_factor.cpp, held
to it by tests/unit/quantised_factors.tsv, which --write writes with the model.
"""
import argparse
import pathlib
import sys

import lightgbm
import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fit_quantised as tiles  # noqa: E402
import product_data as data  # noqa: E402
import product_factor  # noqa: E402
import product_model as pm  # noqa: E402
import trees as tree_format  # noqa: E402
from trees import CLASS_NAMES  # noqa: E402

FEATURES = ["kind", "weight_bytes"] + product_factor.FEATURES
ORDER = list(tiles.KINDS)  # the number of a kind is its place
TREES = {"weights": 140, "both": 40, "float8": 150}
MOST = 0.7  # of the logarithm of the factor
LEAF_STEP = 1 / 512
OPTIONS = dict(product_factor.OPTIONS, num_leaves=63, learning_rate=0.15, max_bin=127,
               monotone_constraints=[0, 0] + product_factor.OPTIONS["monotone_constraints"])


def features(d, kind):
    """One line per product, in the order of FEATURES."""
    widths = [tiles.KINDS[kind][g] for g in d.gemm_dtype]
    facts = np.stack([tiles.facts_of(x, units) for x, (*_, units) in zip(d.device, widths)])
    a, b = (np.array([w[i] for w in widths], float) for i in (0, 1))
    rest = product_factor.columns(facts, d, a, b, 2, d.group)
    return np.column_stack([np.full(len(d), ORDER.index(kind)), b, rest]).astype(np.float32)


def train(d, kind, factors):
    product, beside = tiles.times(d, kind, factors)
    target = np.log((d.t.to_numpy() - beside).clip(0.3 * product) / product).clip(-0.9, 0.9)
    return lightgbm.train(OPTIONS, lightgbm.Dataset(features(d, kind), target), num_boost_round=TREES[kind])


def factors_of(trees, d, kind):
    return np.exp(np.clip(trees.predict(features(d, kind)), -MOST, MOST))


def learned_times(trees, d, kind, factors):
    """As the program has them: no more than twice the rows take; and what quantises beside."""
    own, of_twice = (tiles.times(x, kind, factors)[0] * factors_of(trees, x, kind) for x in (d, d.assign(m=2 * d.m)))
    return np.minimum(own, of_twice) + tiles.times(d, kind, factors)[1]


def only_of(kind, tree):
    """A tree behind a root that sends other kinds to a leaf of 0. Nodes: (value, feature, steps to the right child)."""
    place, zero = ORDER.index(kind), (np.float32(0), tree_format.LEAF, 0)
    if place < len(ORDER) - 1:
        tree = [(np.float32(place + 0.5), 0, 1 + len(tree))] + tree + [zero]
    if place > 0:
        tree = [(np.float32(place - 0.5), 0, 2), zero] + tree
    return tree


def all_nodes(models):
    found = []
    for kind, model in models.items():
        found += [only_of(kind, t) for t in tree_format.all_nodes(model, LEAF_STEP)]
    return found


def write_cases(models, path):
    """What tests/unit/learned_factor_test.cpp compares the C++ with."""
    trees = all_nodes(models)
    names = ("class", "kind", "a_bytes", "b_bytes", "sms", "peak", "bandwidth", "l2_bytes", "tdp_w", "m", "n", "k",
             "factor")
    lines = ["\t".join(names)]
    for kind in models:
        for dtype, (a, b, units) in tiles.KINDS[kind].items():
            d = pd.DataFrame([(tiles.SAMPLES[g], g, dtype, m, n, k) for g in tiles.CLASSES[kind] for m, n, k in
                              ((1, 4096, 4096), (16, 4096, 11008), (197, 768, 3072), (1000, 50304, 768),
                               (4096, 4096, 4096), (33, 128, 65536), (8192, 8192, 8192))],
                             columns=["device", "group", "gemm_dtype", "m", "n", "k"])
            for r, x in zip(d.itertuples(), features(d, kind)):
                factor = np.exp(np.clip(tree_format.sum_of(trees, x), -MOST, MOST))
                f = tiles.facts_of(r.device, units)
                facts = [f"{v:.17g}" for v in (f[pm.SMS], f[pm.PEAK], f[pm.BANDWIDTH], f[pm.L2], f[pm.TDP])]
                extents = [str(x) for x in (r.m, r.n, r.k)]
                lines.append("\t".join([CLASS_NAMES[r.group], kind, str(a), str(b), *facts, *extents, f"{factor:.9g}"]))
    path.write_text("\n".join(lines) + "\n")


def judge_device_out(kind, rows, judged):
    """The class' constants and the trees without a device that has siblings."""
    for x in judged.device.unique():
        left, v = tiles.without(rows, x), judged[judged.device == x]
        if (left.group == v.group.iloc[0]).any():
            factors = tiles.fit(left, kind)
            tiles.report(f"{kind}, device out", v, learned_times(train(left, kind, factors), v, kind, factors))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--part", type=int, default=1, choices=(0, 1))
    p.add_argument("--device-out", action="store_true")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    models = {}
    for kind in ORDER:
        d = tiles.load(kind)
        rows, judged = d[d.part == 2], d[d.part == a.part]
        factors = tiles.fit(rows, kind)
        models[kind] = train(rows, kind, factors)
        tiles.report(f"{kind}, tile model", judged, sum(tiles.times(judged, kind, factors)))
        tiles.report(f"{kind}, unseen shapes", judged, learned_times(models[kind], judged, kind, factors))
        if a.device_out:
            judge_device_out(kind, rows, judged)
    found = tree_format.to_bytes(all_nodes(models), len(FEATURES))
    print(f"{len(found)} bytes, judged on part {a.part}")
    if a.write:
        (data.ROOT / "data/models/quantised.trees").write_bytes(found)
        write_cases(models, data.ROOT / "tests/unit/quantised_factors.tsv")


if __name__ == "__main__":
    main()
