#!/usr/bin/env python3
"""The predictors that ship are as accurate as they were, so that a silent loss fails a test.

usage: shipped_test.py                                 the test
       shipped_test.py --update LABELS.csv COUNTERS    writes the tables beside this file: LABELS.csv by
                                                       `perfc.dataset build`, COUNTERS the folder that
                                                       `perfc.counter_dataset` wrote

latency.tsv: 60 of timm's own runs, twelve of different families for each GPU and mode; the models are ../shared's.
counters_NAME.csv: workloads with their counters and measured times, every so many-th of the data that trained NAME.
All of these were in training: this guards what ships, docs/accuracy.md and docs/counters.md judge it on what it never
saw. BOUNDS are what was measured when they were set plus a third, and coverage of the 90 % intervals.

Counter models are also trained anew without what they are asked for (UNSEEN), on ../shared's data by one of the seeds
of docs/counters.md's table: a model that ships is what this way of training makes of all rows.
"""
import csv
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

LATENCY = HERE / "latency.tsv"
COLUMNS = ("model", "batch", "device", "mode", "layout", "norms", "latency_ms")
PER_CELL = 12
# (device, mode): most MAPE in %, least share of runs inside the interval in %, most median factor of it
BOUNDS = {
    ("rtx3090", "eager"): (4.3, 75, 1.20),
    ("rtx4090", "eager"): (4.3, 75, 1.20),
    ("rtx4090", "compiled"): (5.3, 75, 1.20),
    ("rtx5090", "eager"): (4.4, 75, 1.20),
    ("rtx5090", "compiled"): (9.0, 75, 1.20),
}
# Relative to which machine (None: the machines' geometric mean); every so many-th row
COUNTER_MODELS = {"rajaperf": ("quartz", 10), "aiwc": (None, 4)}
# most median error in %, least share of times inside the interval in %, most median factor of it
COUNTER_BOUNDS = {"rajaperf": (9, 75, 4), "aiwc": (17, 75, 3)}
MACHINES = HERE.parent.parent / "data/counters/machines.csv"
RAJAPERF = ["rajaperf", "--reference", "quartz", "--data-sheet", MACHINES]
AIWC = ["aiwc", "--machines", "i7-6700k,xeon_es-2697v2,gtx1080ti,fiji-furyx"]
SEED = 2101
# what is held back, groups of it (0: each alone), dataset and options: least R² of perfc, and beyond that of costs
UNSEEN = {
    ("suite", 0, *RAJAPERF): (0.65, 0.1),
    ("suite", 0, *RAJAPERF, "--without", "Basic_PI_ATOMIC"): (0.55, 0.1),
    ("kernel", 12, *RAJAPERF): (0.65, -0.05),
    ("application", 0, *AIWC): (0.45, -0.05),
}


def update(labels, counters):
    cells = {}
    for r in csv.DictReader(open(labels)):
        cells.setdefault((r["device"], r["mode"]), []).append(r)
    lines = ["\t".join(COLUMNS)]
    for cell, rows in sorted(cells.items()):
        rows.sort(key=lambda r: zlib.crc32(f"{r['model']} {r['source']}".encode()))
        families = {}
        for r in rows:
            families.setdefault(r["family"], r)
        lines += ["\t".join(r[c] for c in COLUMNS) for r in list(families.values())[:PER_CELL]]
    LATENCY.write_text("\n".join(lines) + "\n")
    for name, (_, every) in COUNTER_MODELS.items():
        head, *rows = (counters / f"{name}.csv").read_text().splitlines()
        (HERE / f"counters_{name}.csv").write_text("\n".join([head, *rows[::every]]) + "\n")


def hold(what, errors, inside, factors, bounds):
    """Prints what holds; returns what does not. `errors` as shares, `factors`: how far the interval's end is."""
    most, least, widest = bounds
    error, share, factor = 100 * errors, 100 * statistics.mean(inside), statistics.median(factors)
    print(f"{what}: {error:.2f} %, at most {most:g}; {share:.0f} % inside 90 % intervals, at least {least:g}; "
          f"median factor {factor:.2f}, at most {widest:g}")
    return ([f"{what} is {error:.2f} %, more than {most:g}"] * (error > most) +
            [f"{what}: only {share:.0f} % inside their intervals"] * (share < least) +
            [f"{what}: intervals of a factor of {factor:.2f}, more than {widest:g}"] * (factor > widest))


def latency():
    if not support.shared_folder().joinpath("graphs").exists():
        support.skip_part(f"{support.shared_folder()}/graphs is not here: the default predictor's accuracy")
        return []
    head, *rows = (line.split("\t") for line in LATENCY.read_text().splitlines())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "onnx").symlink_to(support.unpack("graphs", "timm.tar.xz", into="timm"))
        (folder / "torchscript").symlink_to(support.timm_torchscript())
        with open(folder / "labels.csv", "w", newline="") as f:
            out = csv.writer(f)
            out.writerow([*head, "dtype", "architecture"])
            out.writerows([*r, "amp", f"a{i}"] for i, r in enumerate(rows))
        (folder / "all.csv").write_text("architecture,split\n" + "".join(f"a{i},test\n" for i in range(len(rows))))
        subprocess.run([support.PERFC, "eval", "default", "--data", folder / "labels.csv", "--split",
                        folder / "all.csv", "--predictions", folder / "out.csv"], check=True,
                       stdout=subprocess.DEVNULL)
        found = list(csv.DictReader(open(folder / "out.csv")))
    if len(found) != len(rows):
        return [f"{len(found)} of {len(rows)} runs were predicted"]
    problems = []
    for cell, bounds in BOUNDS.items():
        here = [{k: float(r[f"{k}_ms"]) for k in ("measured", "predicted", "lo", "hi")}
                for r in found if (r["device"], r["mode"]) == cell]
        problems += hold(f"default, {' '.join(cell)}, {len(here)} runs, MAPE",
                         statistics.mean(abs(r["predicted"] / r["measured"] - 1) for r in here),
                         [r["lo"] <= r["measured"] <= r["hi"] for r in here],
                         [r["hi"] / r["predicted"] for r in here], bounds)
    return problems


def counters():
    problems = []
    for name, bounds in COUNTER_BOUNDS.items():
        table, reference = HERE / f"counters_{name}.csv", COUNTER_MODELS[name][0]
        said = subprocess.run([support.PERFC, "counters", "predict", table, "--model", name, "--regions", "--json"],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        errors, inside, factors = [], [], []
        for row, answer in zip(csv.DictReader(open(table)), json.loads(said)["workloads"], strict=True):
            times = {m["machine"]: float(row[f"time:{m['machine']}"]) for m in answer["machines"]}
            unit = times[reference] if reference else statistics.geometric_mean(times.values())
            for p in answer["machines"]:
                if p["machine"] != reference:
                    measured = times[p["machine"]] / unit
                    errors.append(math.exp(abs(math.log(p["relative_time"] / measured))) - 1)
                    inside.append(p["low"] <= measured <= p["high"])
                    factors.append(p["high"] / p["relative_time"])
        problems += hold(f"counters, {name}, {len(errors)} relative times, median error", statistics.median(errors),
                         inside, factors, bounds)
    return problems


def unseen():
    if not support.shared_folder().joinpath("data/counters").exists():
        support.skip_part(f"{support.shared_folder()}/data/counters is not here: counter models on what is unseen")
        return []
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "perfc.counter_dataset", "--shared", support.shared_folder(), "--out",
                        folder], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "PYTHONPATH": str(HERE.parent.parent / "python")})
        for (split, groups, name, *options), (least, beyond) in UNSEEN.items():
            said = subprocess.run([support.PERFC, "counters", "eval", "--data", f"{folder}/{name}.csv", *options,
                                   "--split", split, *(["--folds", str(groups)] if groups else []), "--models",
                                   "costs,perfc", "--seed", str(SEED), "--seeds", "1", "--markdown"], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            costs, perfc = (float(line.split("|")[2].split()[0]) for line in said.splitlines()[2:])
            what = f"counters, {name}{' without ' + options[-1] if '--without' in options else ''}, each {split} unseen"
            print(f"{what}: R² {perfc:.3f}, at least {least}; costs alone {costs:.3f}")
            problems += [f"{what}: R² is {perfc:.3f}, less than {least}"] * (perfc < least)
            problems += [f"{what}: R² is {perfc:.3f}, that of costs {costs:.3f}"] * (perfc < costs + beyond)
    return problems


def main():
    if sys.argv[1:2] == ["--update"]:
        return update(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    problems = counters() + unseen() + latency()
    return "\n".join(problems) if problems else 0


if __name__ == "__main__":
    sys.exit(main())
