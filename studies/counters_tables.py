#!/usr/bin/env python3
"""Judges the counter predictor's models and writes the table "Measured" of docs/counters.md.

    python3 studies/counters_tables.py [--shared ../shared] [--list]
    python3 studies/counters_tables.py --rows aiwc-application rajaperf --again

A row is one model on one dataset and split, by the block of seeds 2101 to 2110 that docs/judged.md fixed; its name is
DATA-SPLIT-MODEL. perfc's models are measured by `perfc counters eval --markdown`, machines left out by `perfc counters
adapt`, extra trees by scikit-learn on the same columns (`pip install scikit-learn`). What was measured is kept in
build/counters/rows/, so that an interrupted run goes on where it stopped; rows of other data or options are measured
anew, and with --again all that were picked: do so after a change of a model. Rows that were not measured here stay as
they are in the table. `--rows` with no name writes the table alone.
"""
import argparse
import csv
import hashlib
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "build/counters"
DOCS = ROOT / "docs/counters.md"
SCRIPT = "studies/counters_tables.py"
FIRST_SEED, SEEDS = 2101, 10
NAMELESS = " without names"  # of a model that reads the names of regions
COLUMNS = ["R²", "ratio error", "order", "pairs", "AUC", "top-1", "regret"]  # of metric_table() that are shown
TREES, LEAST_LEAF, COLUMN_SHARE = 100, 3, 0.5   # as `perfc` has them
SKLEARN = ("extra trees", "extra trees, seconds")  # on relative times, on ln of seconds


@dataclass(frozen=True)
class Block:
    """Rows that are measured on the same split."""
    name: str
    shown: str
    file: str
    split: str
    options: tuple
    models: tuple
    seeds: int = SEEDS
    earlier: tuple = ()   # (model, n): on seeds 1 to n, before the block of seeds was fixed: hours else
    ordered: bool = True  # False: two machines of which one nearly always wins: order says nothing

    def rows(self):
        return [Row(self, model) for model in self.models]


@dataclass(frozen=True)
class Row:
    block: Block
    model: str

    @property
    def is_earlier(self):
        return self.model in dict(self.block.earlier)

    @property
    def seeds(self):
        return "1 to {}".format(dict(self.block.earlier)[self.model]) if self.is_earlier else (
            f"{FIRST_SEED} to {FIRST_SEED + self.block.seeds - 1}" if self.block.seeds > 1 else str(FIRST_SEED))

    @property
    def name(self):
        return f"{self.block.name}-{self.model.replace(' ', '-').replace(',', '')}"

    def options(self):
        names = ("--without-names",) if self.model.endswith(NAMELESS) else ()
        return [
            "--data",
            str(DATA / self.block.file), "--split", self.block.split, *self.block.options, *names, "--models",
            self.model.removesuffix(NAMELESS), "--seed",
            str(FIRST_SEED), "--seeds",
            str(self.block.seeds)
        ]


AIWC = ("--machines", "i7-6700k,xeon_es-2697v2,gtx1080ti,fiji-furyx")
RAJA = ("--reference", "quartz", "--data-sheet", str(ROOT / "data/counters/machines.csv"))
# A quarter of the spread of all relative times is this kernel's: on Quartz it is PI_REDUCE, with the same counters.
WITHOUT = ("--without", "Basic_PI_ATOMIC")
GPUS = ("--machines", "Tesla-K40,Titan,GTX-980,TitanX")
BASELINES = ("mean", "extra trees")
OURS = ("costs", "perfc")
RAJA_MODELS = (*BASELINES, "extra trees, seconds", *OURS)
BLOCKS = [
    Block("rajaperf-kernel", "RAJAPerf, Quartz → Lassen, kernel", "rajaperf.csv", "kernel", RAJA,
          (*RAJA_MODELS, "perfc" + NAMELESS), seeds=3, ordered=False),
    Block("rajawithout-kernel", "RAJAPerf without PI_ATOMIC, kernel", "rajaperf.csv", "kernel", (*RAJA, *WITHOUT),
          RAJA_MODELS, seeds=3, ordered=False),
    Block("rajaperf-suite", "RAJAPerf, Quartz → Lassen, suite", "rajaperf.csv", "suite", RAJA,
          (*RAJA_MODELS, "perfc" + NAMELESS), ordered=False),
    Block("rajawithout-suite", "RAJAPerf without PI_ATOMIC, suite", "rajaperf.csv", "suite", (*RAJA, *WITHOUT),
          RAJA_MODELS, ordered=False),
    Block("aiwc-application", "AIWC, 4 machines, application", "aiwc.csv", "application", AIWC,
          (*BASELINES, "vae-dnn", *OURS), earlier=(("vae-dnn", 5),)),
    Block("aiwc-kernel", "AIWC, 4 machines, kernel", "aiwc.csv", "kernel", AIWC, (*BASELINES, *OURS),
          seeds=3),
    Block("aiwc-machine", "AIWC, each of 15 machines, by none of its times", "aiwc.csv", "machine",
          ("--data-sheet", str(ROOT / "data/counters/aiwc_machines.csv")),
          ("likest machine", "extra trees", "perfc"), ordered=False),
    Block("gpuperf-application", "gpuperf, 4 GPUs, application", "gpuperf.csv", "application", GPUS,
          (*BASELINES, *OURS), seeds=1),
    Block("aiwc-random", "AIWC, 4 machines, random", "aiwc.csv", "random", AIWC,
          ("mean", "lookup", "vae-dnn", *OURS), earlier=(("vae-dnn", 10),)),
    Block("rajaperf-random", "RAJAPerf, random: void, see lookup", "rajaperf.csv", "random", RAJA,
          ("mean", "lookup", *OURS), ordered=False),
]


def digest(row):
    """Of the options and all files that they name."""
    h = hashlib.sha256(row.model.encode())
    for part in row.options():
        h.update(pathlib.Path(part).read_bytes() if part.endswith(".csv") else part.encode())
    return h.hexdigest()[:16]


def cache(row):
    return DATA / "rows" / f"{row.name}.json"


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def by_perfc(row, perfc):
    head, _, values = run(perfc, "counters", "eval", *row.options(), "--markdown").splitlines()[:3]
    return dict(zip(*([cell.strip() for cell in line.strip("|").split("|")] for line in (head, values))))


def estimate(values):
    """As perfc's Estimate: mean and half a 95 % confidence interval by Student's t."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, 0.0
    quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145]
    at = quantiles[min(len(values) - 2, len(quantiles) - 1)]
    return mean, at * statistics.stdev(values) / math.sqrt(len(values))


def shown(r2s, ratio_errors):
    return {
        "R²": "{:.3f} ± {:.3f}".format(*estimate(r2s)),
        "ratio error": "{:.1f} ± {:.1f} %".format(*estimate([100 * e for e in ratio_errors]))
    }


class Dataset:
    """A dataset as perfc's models read it: counters, ln of work and of every two amounts' ratio, relative times."""

    def __init__(self, path, machines, reference, without):
        import numpy as np
        with open(path) as f:
            self.rows = [r for r in csv.DictReader(f) if r["application"] not in without]
        columns = list(self.rows[0])
        number = lambda names: np.array([[float(r[c] or "nan") for c in names] for r in self.rows])  # noqa: E731
        self.machines = machines or [c.removeprefix("time:") for c in columns if c.startswith("time:")]
        self.times = np.log(number([f"time:{m}" for m in self.machines if m != reference]))
        self.base = np.log(number([f"time:{reference}"])) if reference else self.times.mean(1, keepdims=True)
        self.work_names = [c for c in columns if c.startswith("work:")]
        self.counters = number([c for c in columns if c.startswith("counter:")])
        self.work = np.nan_to_num(number(self.work_names))
        known = ~np.isnan(self.times).any(1) & ~np.isnan(self.base).any(1)
        self.known = [i for i, k in enumerate(known) if k]

    def inputs(self, training):
        """Of all rows, with what stands for missing values by the training rows."""
        import numpy as np
        counters, work = self.counters, self.work
        missing = np.isnan(counters)
        means = np.nan_to_num([c[~np.isnan(c)].mean() if (~np.isnan(c)).any() else 0 for c in counters[training].T])
        least = [c[c > 0].min() if (c > 0).any() else 1 for c in work[training].T]
        logs = np.log(np.where(work > 0, work, np.array(least) * math.exp(-3)))
        ratios = [logs[:, k] - logs[:, j] for k in range(logs.shape[1]) for j in range(k)]
        masks = missing[:, missing[training].any(0)]
        return np.column_stack([np.where(missing, means, counters), masks, logs, *ratios])

    def groups(self, split):
        key = {
            "kernel": lambda r: (r["application"], r["region"]),
            "application": lambda r: r["application"],
            "suite": lambda r: r["suite"]
        }[split]
        of = {}
        for i in self.known:
            of.setdefault(key(self.rows[i]), []).append(i)
        return list(of.values())


def extra_trees(x, y, seed):
    from sklearn.ensemble import ExtraTreesRegressor
    return ExtraTreesRegressor(TREES, min_samples_leaf=LEAST_LEAF, max_features=COLUMN_SHARE, random_state=seed).fit(
        x, y)


def scores(target, predicted):
    import numpy as np
    r2 = 1 - ((target - predicted)**2).sum() / ((target - target.mean(0))**2).sum()
    return r2, float(np.median(abs(np.expm1(predicted - target))))


def option(row, name):
    options = row.block.options
    return options[options.index(name) + 1] if name in options else ""


def by_sklearn(row):
    import numpy as np
    data = Dataset(DATA / row.block.file, [m for m in option(row, "--machines").split(",") if m],
                   option(row, "--reference"), option(row, "--without").split(","))
    seconds = row.model == SKLEARN[1]
    target, found = data.times - data.base, []
    parts = [(part, sorted(set(data.known) - set(part))) for part in data.groups(row.block.split)]
    inputs = [data.inputs(rest) for _, rest in parts]
    for seed in range(FIRST_SEED, FIRST_SEED + row.block.seeds):
        predicted = np.full(target.shape, np.nan)
        for (part, rest), x in zip(parts, inputs):
            model = extra_trees(x[rest], (data.times if seconds else target)[rest].squeeze(), seed)
            y = model.predict(x[part]).reshape(len(part), -1)
            predicted[part] = y - data.base[part] if seconds else y
        found.append(scores(target[data.known], predicted[data.known]))
    return shown(*zip(*found))


def by_adapt(row, perfc):
    point = json.loads(
        run(perfc, "counters", "adapt", "--data", DATA / row.block.file, *row.block.options, "--samples", 0,
            "--json"))["curve"][0]
    ours = row.model == "perfc"
    return {
        "R²": f"{point['r2' if ours else 'likest_r2']:.3f}",
        "ratio error": f"{100 * point['ratio_error' if ours else 'likest_ratio_error']:.1f} %"
    }


def machines_by_sklearn(row):
    """ln seconds of every workload on every other machine, from its counters, its work in seconds at the machine's
    peak, and its mean ln seconds on the machines that are known."""
    import numpy as np
    data = Dataset(DATA / row.block.file, [], "", [])
    with open(option(row, "--data-sheet")) as f:
        peak = {(r["machine"], f"work:{r['work']}"): float(r["units_per_s"]) for r in csv.DictReader(f)}
    counters_and_work = data.inputs(data.known)[data.known]
    times, work = data.times[data.known], data.work[data.known]
    sheets = []
    for m in data.machines:
        told = [(k, peak[m, name]) for k, name in enumerate(data.work_names) if (m, name) in peak]
        sheets.append(np.column_stack([np.log(np.maximum(work[:, k], 1e-3) / rate) for k, rate in told]))
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + row.block.seeds):
        r2s, errors = [], []
        for out in range(len(data.machines)):
            known = [m for m in range(len(data.machines)) if m != out]

            def rows(machine, others):
                return np.column_stack([counters_and_work, sheets[machine], times[:, others].mean(1)])

            x = np.vstack([rows(m, [o for o in known if o != m]) for m in known])
            y = extra_trees(x, np.concatenate([times[:, m] for m in known]), seed).predict(rows(out, known))
            r2s.append(1 - ((times[:, out] - y)**2).sum() / ((times[:, out] - times[:, out].mean())**2).sum())
            errors += list(abs(np.expm1(y - times[:, out])))
        found.append((statistics.fmean(r2s), statistics.median(errors)))
    return shown(*zip(*found))


def measure(row, perfc, again):
    stamp = digest(row)
    if row.is_earlier:
        return
    if cache(row).exists() and json.loads(cache(row).read_text())["stamp"] == stamp and not again:
        return
    print(f"{row.name} …", flush=True)
    if row.block.split == "machine":
        cells = machines_by_sklearn(row) if row.model in SKLEARN else by_adapt(row, perfc)
    else:
        cells = by_sklearn(row) if row.model in SKLEARN else by_perfc(row, perfc)
    cache(row).parent.mkdir(exist_ok=True)
    tables.files.write_text(cache(row), json.dumps({"stamp": stamp, "cells": cells}))


def old_rows():
    """Of the table as it stands: cells by what is shown of the block, the seeds and the model."""
    old, block = {}, ""
    for line in DOCS.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != len(COLUMNS) + 3:
            continue
        block = cells[0] or block
        old[block, cells[1], cells[2]] = cells[3:]
    return old


def cells(row, old):
    if not cache(row).exists():
        return old or ["not measured"] + [""] * (len(COLUMNS) - 1)
    found = json.loads(cache(row).read_text())["cells"]
    found = {c: v.removesuffix(" ± 0.000").replace(" ± 0.0 %", " %") for c, v in found.items()}
    return [found.get(c, "") if row.block.ordered or c in ("R²", "ratio error") else "" for c in COLUMNS]


def table():
    out = ["| data, held back | seeds | model | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * (len(COLUMNS) + 2)]
    old = old_rows()
    for block, rows in itertools.groupby((row for block in BLOCKS for row in block.rows()), lambda row: row.block):
        for i, row in enumerate(rows):
            out.append("| " + " | ".join([
                block.shown if i == 0 else "", row.seeds, row.model,
                *cells(row, old.get((block.shown, row.seeds, row.model)))
            ]) + " |")
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", default=ROOT / "../shared", type=pathlib.Path)
    p.add_argument("--perfc", default=ROOT / "build/release/perfc", type=pathlib.Path)
    p.add_argument("--rows", nargs="*", default=[""], metavar="NAME", help="rows whose names begin so [all]")
    p.add_argument("--again", action="store_true", help="measure rows that have been measured, too")
    p.add_argument("--list", action="store_true", help="print the rows' names")
    args = p.parse_args()
    chosen = [row for block in BLOCKS for row in block.rows() if row.name.startswith(tuple(args.rows))]
    if args.list:
        print("\n".join(row.name for row in chosen))
        return
    if not all((DATA / block.file).exists() for block in BLOCKS):
        subprocess.run(
            [sys.executable, "-m", "perfc.counter_dataset", "--shared",
             str(args.shared), "--out",
             str(DATA)], check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    for row in chosen:
        measure(row, args.perfc, args.again)
    tables.write_section("measured", SCRIPT, table(), DOCS)


if __name__ == "__main__":
    main()
