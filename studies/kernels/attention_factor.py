#!/usr/bin/env python3
"""Trains the learned factor on times of fused attention, data/models/attention.trees, and judges it.

    OMP_NUM_THREADS=1 python studies/kernels/attention_factor.py --shared ../shared [--judge] [--device-out] [--write]

Needs numpy, scipy, pandas, lightgbm. The factor corrects attention_model.py, launch included, with constants that it
fits as attention.py does, by the same rule of which shapes judge; without --judge, shapes of parts 3 and 4 choose and
are not fitted. Its C++ twin is whitebox/price/attention_factor.cpp, held to it by tests/unit/attention_factors.tsv,
which --write writes with the model.

Boosted trees on log(measured / modelled). What a tree may ask of a device (FROM_DEVICE) are quantities that fall when
the device gets better, and the trees are constrained never to fall when one of these rises: so the product of model and
factor never makes a better device of the same class slower, whatever the trees learn.
"""
import argparse
import pathlib
import sys
import time

import lightgbm
import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attention  # noqa: E402
import attention_model as models  # noqa: E402
import product_data  # noqa: E402
import trees as tree_format  # noqa: E402
from memory_bound import Report  # noqa: E402
from product_data import GRACE  # noqa: E402
from trees import CLASS_NAMES, CLASSES, GROUP_OF, MOST  # noqa: E402

FORMS = list(attention.KINDS)  # the number of a form is its place
OF_SHAPE = ["form", "class", "batch", "heads", "key_heads", "group", "key_heads_of_one", "queries", "keys", "channels",
            "window", "fill_queries", "fill_keys", "scores", "bytes"]
FROM_DEVICE = ["blocks", "key_heads_by_sms", "work_us", "matrix_us", "memory_us", "exponentials_us", "bytes_by_cache",
               "by_kilowatt"]
FEATURES = OF_SHAPE + FROM_DEVICE

TREES, LEAVES, LEAF_STEP = 1500, 127, 2.0**-14
OPTIONS = dict(objective="huber", alpha=0.1, num_leaves=LEAVES, learning_rate=0.12, min_data_in_leaf=15, max_bin=255,
               num_threads=1, verbose=-1, seed=0,
               monotone_constraints=[0] * len(OF_SHAPE) + [1] * len(FROM_DEVICE))


def class_number(device):
    """Those beside a Grace CPU are a class of their own: GB200, better than B200 in all that the sheets say, takes up
    to a quarter longer for the shortest calls."""
    return len(CLASSES) if device in GRACE else CLASSES.index(GROUP_OF[device])


def filled(extent):
    return extent / (128 * np.ceil(extent / 128))


def features(x):
    """One line per row of a table that is priced, in the order of FEATURES."""
    decodes = x.form.eq(FORMS.index("decode"))
    heads, key_heads = x.batch_size * x.num_heads, x.batch_size * x.kv_heads
    keys = x.isl.where(~decodes, x.step + 1)
    keys = keys.where(x.window_size <= 0, np.minimum(keys, x.window_size))
    blocks = x.blocks.where(~decodes, key_heads)
    pairs = heads * x.isl * keys
    moved = 4 * x.head_dim * (x.isl * heads + keys * key_heads)
    out = [x.form, [class_number(d) for d in x.device], x.batch_size, heads, key_heads, heads / key_heads, x.kv_heads,
           x.isl, keys, x.head_dim, x.window_size, filled(x.isl), filled(keys), pairs, moved,
           blocks / x.sms, key_heads / x.sms, x.work * 1e6, 4 * pairs * x.head_dim / x.matrix * 1e6,
           moved / x.bandwidth * 1e6, pairs / (x.exponentials * x.sms * x.clock) * 1e6, moved / x.l2, 1e3 / x.tdp_w]
    return np.stack([np.asarray(v, float) for v in out], 1).astype(np.float32)


def table(x, kind, constants_of):
    """With what the model makes of each row."""
    found = attention.priced(attention.KINDS[kind], x, constants_of)
    if kind == "encoder":
        x = x.assign(blocks=np.ceil(x.isl / np.where(x.mma, 128, 192)) * x.num_heads * x.batch_size)
    return x.assign(form=FORMS.index(kind), blocks=x.get("blocks", 0.0), work=found.work, total=found.total)


def train(rows):
    """rows: by form, tables."""
    x = pd.concat(list(rows), ignore_index=True)
    target = np.log(x.us.to_numpy() / (x.total.to_numpy() * 1e6)).clip(-0.7, 0.7)
    return lightgbm.train(OPTIONS, lightgbm.Dataset(features(x), target), num_boost_round=TREES)


def factors(trees, x):
    return np.exp(np.clip(trees.predict(features(x)), -MOST, MOST))


def of_twice(x):
    """The same rows with twice the sequences."""
    return models.SHAPE[attention.KINDS[FORMS[int(x.form.iloc[0])]]](x.assign(batch_size=2 * x.batch_size))


def learned(trees, x, kind, constants_of):
    """Seconds, as the program has them: no more than twice the sequences take."""
    twice = table(of_twice(x), kind, constants_of)
    return np.minimum(x.total * factors(trees, x), twice.total * factors(trees, twice))


def few(x, n, seed):
    return x.sample(frac=1, random_state=seed).groupby("device").head(n)


def judge_seen(report, trees, judged, constants):
    for kind, x in judged.items():
        attention.score(report, kind, "model", x, x.total)
        attention.score(report, kind, "with the factor", x, learned(trees, x, kind, constants[kind]))


def judge_device_out(report, fitting, training, judged):
    """The class' constants and the trees without a device that has siblings of its class of chip; of fewer rows."""
    for group in CLASSES:
        members = product_data.GROUPS[group]
        for left in members if len(members) > 1 else ():
            siblings = [d for d in members if d != left]
            constants = {}
            for kind in FORMS:
                x = fitting[kind][fitting[kind].device.isin(siblings)]
                found = models.fit(attention.KINDS[kind], x, attention.LEFT_OUT_ROWS)
                constants[kind] = lambda d, found=found: found
            rows = [table(x[x.device.isin(siblings)].groupby("device").head(20000), kind, constants[kind])
                    for kind, x in training.items()]
            rows += [x[~x.device.isin(members)].groupby("device").head(4000) for x in training.values()]
            trees = train(rows)
            for kind, x in judged.items():
                x = table(x[x.device == left], kind, constants[kind])
                attention.score(report, kind, "device left out, model", x, x.total)
                attention.score(report, kind, "device left out", x, learned(trees, x, kind, constants[kind]))


FACTS = ("bandwidth", "reading", "l2", "sms", "clock", "matrix", "exponentials", "lanes", "sustained", "resident",
         "tdp_w")


def write_cases(trees, tables, path):
    """What tests/unit/attention_factor_test.cpp compares the C++ with."""
    names = ["class", "grace", *FACTS, "form", "batch", "heads", "key_heads", "queries", "keys", "channels", "window",
             "factor"]
    lines = ["# Written by studies/kernels/attention_factor.py --write.", "\t".join(names)]
    for kind, x in tables.items():
        x = attention.case_rows(kind, x).groupby("device").head(4)
        keys = x.step + 1 if kind == "decode" else x.isl
        columns = [*(x[f].astype(float) for f in FACTS), x.form, x.batch_size, x.num_heads, x.kv_heads, x.isl, keys,
                   x.head_dim, x.window_size, factors(trees, x)]
        for device, *values in zip(x.device, *columns):
            first = [CLASS_NAMES[GROUP_OF[device]], str(int(device in GRACE))]
            lines.append("\t".join(first + [f"{v:.17g}" for v in values]))
    path.write_text("\n".join(lines) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, required=True)
    p.add_argument("--judge", action="store_true", help="on the shapes that are never fitted (docs/judged.md)")
    p.add_argument("--rows", type=int, default=20000, help="of a form and device, that train")
    p.add_argument("--device-out", action="store_true")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    start, report = time.time(), Report()
    loaded = {kind: attention.load(a.shared, kind) for kind in FORMS}
    looked = (0, 1, 2) if a.judge else (3, 4)
    judging = {kind: few(x[x.part.isin(looked)], 1500, 3) for kind, x in loaded.items()}
    fitting = {kind: x[~x.judges if a.judge or a.write else ~x.judges & ~x.part.isin(looked)]
               for kind, x in loaded.items()}
    constants = {}
    for kind, x in fitting.items():
        found = attention.fitted_classes(attention.KINDS[kind], x)
        constants[kind] = lambda d, found=found: found[attention.CLASS_OF[d]]
    print(f"constants: {time.time() - start:.0f} s", flush=True)
    training = {kind: table(few(x, a.rows, 1), kind, constants[kind]) for kind, x in fitting.items()}
    judged = {kind: table(x, kind, constants[kind]) for kind, x in judging.items()}
    trees = train(training.values())
    print(f"trees: {time.time() - start:.0f} s", flush=True)
    judge_seen(report, trees, judged, constants)
    if a.write:
        where = product_data.ROOT
        (where / "data/models/attention.trees").write_bytes(tree_format.of_model(trees, len(FEATURES), LEAF_STEP))
        write_cases(trees, training, where / "tests/unit/attention_factors.tsv")
    if a.device_out:
        judge_device_out(report, fitting, training, judged)
    report.print()


if __name__ == "__main__":
    main()
