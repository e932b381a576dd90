#!/usr/bin/env python3
"""Trains the learned factor on the times of dense products, data/models/products.trees, and judges it.

    OMP_NUM_THREADS=1 python studies/kernels/product_factor.py [--part 1|0] [--device-out] [--group-out] [--write]

Needs numpy, scipy, pandas, numba, lightgbm. The factor corrects studies/kernels/product_model.py with the constants
that whitebox/constants/products.h has, on bf16 products of shared/data/datacenter; parts as in fit_products.py. Its C++
twin is whitebox/price/learned_factor.cpp, held to it by tests/unit/product_factors.tsv, which --write writes with the
model.

Boosted trees on log(measured / tile model's). What a tree may ask of a device (FROM_DEVICE) are quantities that fall
when the device gets better, and the trees are constrained never to fall when one of these rises: so the product of tile
model and factor never makes a better device of the same class slower, whatever the trees learn.
"""
import argparse
import pathlib
import sys
import time

import lightgbm
import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fit_products  # noqa: E402
import fit_quantised  # noqa: E402
import product_data as data  # noqa: E402
import product_model as pm  # noqa: E402
import trees as tree_format  # noqa: E402
from trees import CLASS_NAMES, CLASSES, GROUP_OF, MOST  # noqa: E402

TILES = ((64, 64), (128, 128), (128, 256), (256, 128))
OF_SHAPE = (["class", "m", "n", "k", "intensity", "mn", "nk", "mk", "m_128", "n_128", "n_256"] +
            [f"tiles_{a}_{b}" for a, b in TILES] + [f"fill_{a}_{b}" for a, b in TILES])
FROM_DEVICE = ([f"waves_{a}_{b}" for a, b in TILES] +
               ["arithmetic_us", "weights_us", "data_us", "weights_by_cache", "by_kilowatt"] +
               [f"arithmetic_us_{a}_{b}" for a, b in TILES])  # of whole waves of such tiles
FEATURES = OF_SHAPE + FROM_DEVICE

TREES, LEAVES = 1300, 127
LEAF_STEP = 2.0**-13
OPTIONS = dict(objective="huber", alpha=0.1, num_leaves=LEAVES, learning_rate=0.12, min_data_in_leaf=15, max_bin=255,
               num_threads=1, verbose=-1, seed=0,
               monotone_constraints=[0] * len(OF_SHAPE) + [1] * len(FROM_DEVICE))


def features(d, groups):
    """One line per product, in the order of FEATURES; groups: the class of each line's chip."""
    return columns(data.facts(d), d, 2, 2, 2, groups)


def columns(f, d, ea, ew, eo, groups):
    """The same with facts of the devices, f, and bytes per element of A, B and C."""
    m, n, k = (d[x].to_numpy(float) for x in "mnk")
    out = [np.array([float(CLASSES.index(g)) for g in groups]), m, n, k, m * n * k / (m * k + k * n + m * n), m * n,
           n * k, m * k, m % 128, n % 128, n % 256]
    tiles = [np.ceil(m / a) * np.ceil(n / b) for a, b in TILES]
    out += tiles + [m * n / (t * a * b) for t, (a, b) in zip(tiles, TILES)] + [t / f[:, pm.SMS] for t in tiles]
    out += [2 * m * n * k / f[:, pm.PEAK] * 1e6, ew * k * n / f[:, pm.BANDWIDTH] * 1e6,
            (ea * m * k + eo * m * n) / f[:, pm.BANDWIDTH] * 1e6, ew * k * n / f[:, pm.L2], 1e3 / f[:, pm.TDP]]
    out += [np.ceil(t / f[:, pm.SMS]) * f[:, pm.SMS] * 2 * a * b * k / f[:, pm.PEAK] * 1e6
            for t, (a, b) in zip(tiles, TILES)]
    return np.stack(out, 1).astype(np.float32)


def tile_times(d, constants):
    """constants: of each device."""
    lines = np.stack([constants[x] for x in d.device])
    return pm.product_times(data.facts(d), lines, data.rows(d))


def train(d, constants):
    x = features(d, [GROUP_OF[y] for y in d.device])
    target = np.log(d.t.to_numpy() / tile_times(d, constants)).clip(-0.7, 0.7)
    return lightgbm.train(OPTIONS, lightgbm.Dataset(x, target), num_boost_round=TREES)


def factors(trees, d, groups):
    return np.exp(np.clip(trees.predict(features(d, groups)), -MOST, MOST))


def learned_times(trees, d, constants, groups):
    """As the program has them: no more than twice the rows take."""
    own, of_twice = (tile_times(x, constants) * factors(trees, x, groups) for x in (d, d.assign(m=2 * d.m)))
    return np.minimum(own, of_twice)


def report(label, d, times):
    e = pd.Series(np.abs(times / d.t.to_numpy() - 1) * 100).groupby(d.device.to_numpy())
    cells = [f"{x} {v.mean():.1f}/{v.median():.1f}" for x, v in e]
    print(f"{label}: {e.mean().mean():.1f}/{e.median().mean():.1f}; " + ", ".join(cells), flush=True)


def judge_seen(trees, judged, constants):
    groups = [GROUP_OF[x] for x in judged.device]
    t = tile_times(judged, constants)
    report("tile model", judged, t)
    report("unseen shapes, factor alone", judged, t * factors(trees, judged, groups))
    report("unseen shapes", judged, learned_times(trees, judged, constants, groups))


def write_cases(trees, path):
    """What tests/unit/learned_factor_test.cpp compares the C++ with."""
    names = ["class", "sms", "peak", "bandwidth", "l2_bytes", "tdp_w", "m", "n", "k", "factor"]
    lines = ["\t".join(names)]
    d = pd.DataFrame([(x, m, n, k) for x in GROUP_OF for m, n, k in
                      ((1, 4096, 4096), (16, 4096, 11008), (197, 768, 3072), (1000, 50304, 768), (4096, 4096, 4096),
                       (32768, 64, 512), (33, 32, 65536), (8192, 8192, 8192))], columns=["device", "m", "n", "k"])
    written = tree_format.all_nodes(trees, LEAF_STEP)
    for x, m, n, k, line in zip(d.device, d.m, d.n, d.k, features(d, [GROUP_OF[x] for x in d.device])):
        factor = np.exp(np.clip(tree_format.sum_of(written, line), -MOST, MOST))
        f = data.FACTS[x]
        facts = [f"{v:.17g}" for v in (f[pm.SMS], f[pm.PEAK], f[pm.BANDWIDTH], f[pm.L2], f[pm.TDP], m, n, k)]
        lines.append("\t".join([CLASS_NAMES[GROUP_OF[x]], *facts, f"{factor:.9g}"]))
    path.write_text("\n".join(lines) + "\n")


def class_constants():
    """By device, from whitebox/constants/products.h."""
    found = fit_quantised.class_constants()
    return {x: found[CLASS_NAMES[g]] for x, g in GROUP_OF.items()}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--part", type=int, default=1, choices=(0, 1))
    p.add_argument("--rows", type=int, default=21400, help="per device, that train")
    p.add_argument("--device-out", action="store_true")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    start = time.time()
    bf16, constants = data.bf16(), class_constants()
    fitted = fit_products.sample(bf16[bf16.part == 2], a.rows, 5)
    judged = fit_products.sample(bf16[bf16.part == a.part], 2500, 1)
    trees = train(fitted, constants)
    judge_seen(trees, judged, constants)
    if a.write:
        (data.ROOT / "data/models/products.trees").write_bytes(tree_format.of_model(trees, len(FEATURES), LEAF_STEP))
        write_cases(trees, data.ROOT / "tests/unit/product_factors.tsv")
    if a.device_out:
        judge_device_out(bf16[bf16.part == 2], fitted, judged, constants)
    print(f"{time.time() - start:.0f} s, judged on part {a.part}")


def judge_device_out(rows, fitted, judged, constants):
    """The class' constants and the trees without a device that has siblings."""
    for x, g in GROUP_OF.items():
        siblings = [y for y in data.GROUPS[g] if y != x]
        if not siblings:
            continue
        own = fit_products.fit_class(rows[rows.device.isin(siblings)], 2 * fit_products.ROWS // len(siblings))
        without = {**constants, **{y: own for y in data.GROUPS[g]}}
        trees = train(fitted[fitted.device != x], without)
        v = judged[judged.device == x]
        report("device out, factor alone", v, tile_times(v, without) * factors(trees, v, [g] * len(v)))
        report("device out", v, learned_times(trees, v, without, [g] * len(v)))


if __name__ == "__main__":
    main()
