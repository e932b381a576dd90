#!/usr/bin/env python3
"""Predictions are in an order that physics allows, within a hundredth.

usage: order_test.py             the test
       order_test.py --update    rewrites known.tsv: what holds now goes, factors and numbers of cases are today's, and
                                 what no row matches gets a row with the reason `?`, which the test refuses

The models of models.py, at batches 1 to 512, on 14 GPUs and the slices of two of them, by both predictors, eager and
compiled. Held to:
  device     one that is not behind another in any of peaks, bandwidth, L2, SMs and clock is not slower
  slice      nor is a MIG slice with no less of anything, or the whole device
  precision  float32 is not faster than TF32, and neither TF32 nor AMP than float16. AMP may be slower than TF32: its
             casts are kernels of their own
  batch      a larger one is not faster
  host       one whose every cost is less is not slower; elsewhere all have the same, for it is not the device's
known.tsv lists by patterns what is not so: the largest factor, the number of cases, and the reason; of several rows
that match, the first counts. The test fails when a case matches none, when a row's cases grow in number or factor, and
when a row has none left. The default predictor answers as the whitebox does but for AMP.
"""
import collections
import concurrent.futures
import fnmatch
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402
from models import MODELS  # noqa: E402

KNOWN = HERE / "known.tsv"
GPUS = ("p4", "t4", "v100-pcie-32gb", "v100-16gb", "a10g", "a30", "a100-40gb", "a100-80gb", "h100-pcie", "h100-sxm",
        "l4", "l40s", "rtx3090", "rtx4090")
SLICED = ("a100-40gb", "h100-sxm")
BATCHES = [2**n for n in range(10)]
DTYPES = ("fp32", "tf32", "amp", "fp16")
FASTER = (("tf32", "fp32"), ("fp16", "tf32"), ("fp16", "amp"))  # the first is not slower
HOSTS = ("desktop", "epyc-9004", "server")  # the fastest first
HOST = "server"
PREDICTORS, MODES = ("whitebox", "default"), ("eager", "compiled")
TOLERANCE = 1.01
HEAD = "predictor\trule\tmode\tdtype\tmodel\tdevices\tfactor\tcases\treason"
SHOWN = 40


def devices():
    """(name, its sheet as a dictionary) of the GPUs and slices."""
    table = {d["name"]: d for d in json.loads((support.ROOT / "data/devices.json").read_text())["devices"]}
    out = {}
    for name in GPUS:
        d = table[name]
        facts = {k: d[k] for k in ("sms", "boost_clock_mhz", "bandwidth_gb_s", "l2_mib")}
        for units in ("vector_tflops", "matrix_tflops"):
            facts.update({f"{units} {dtype}": rate for dtype, rate in d.get(units, {}).items()})
        out[name] = facts
        for m in d.get("mig", []) if name in SLICED else []:
            if "+" not in m["name"]:
                out[f"{name}:{m['name']}"] = {k: m[k] for k in ("sms", "memory_slices", "memory_mib")}
    return out


def pairs(sheets):
    """(rule, at least as good, the other)"""
    for a, x in sheets.items():
        for b, y in sheets.items():
            if a == b:
                continue
            if ":" in b:
                if a == b.split(":")[0]:
                    yield "slice", a, b
                elif a.split(":")[0] == b.split(":")[0] and all(x[k] >= y[k] for k in y) and x != y:
                    yield "slice", a, b
            elif ":" not in a and all(x.get(k, 0) >= y[k] for k in y):
                yield "device", a, b


def predicted(files, names, predictor, mode, dtype, host):
    """(model, batch, device) → ms"""
    said = subprocess.run([support.PERFC, *files, "--quiet", "--device", ",".join(names), "--predictor", predictor,
                           "--mode", mode, "--dtype", dtype, "--host", host], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    out = {}
    for line in said.splitlines():
        file, device, ms, *_ = line.split("\t")
        model, batch = pathlib.Path(file).stem.rsplit("-", 1)
        out[model, int(batch), device] = float(ms.split()[0])
    return out


def violations():
    """The first six columns of known.tsv → [(factor, what is shown)]"""
    sheets, found = devices(), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        files = []
        for batch in BATCHES:
            for model in MODELS:
                files.append(pathlib.Path(folder) / f"{model.__name__}-{batch}.pir")
                files[-1].write_text(model(batch))
        runs = [(p, m, d, h) for p in PREDICTORS for m in MODES for d in DTYPES for h in HOSTS
                if h == HOST or d == "amp"]
        answers = dict(zip(runs, pool.map(lambda run: predicted(files, sheets, *run), runs)))
    count = 0

    def hold(key, no_slower, other, said):
        nonlocal count
        if key[0] == "default" and "amp" not in key[3]:
            return
        count += 1
        if no_slower > other * TOLERANCE:
            found[key].append((no_slower / other, said))

    better = list(pairs(sheets))
    for (predictor, mode, dtype, host), ms in answers.items():
        slower = HOSTS[HOSTS.index(host) + 1] if dtype == "amp" and host != HOSTS[-1] else None
        for model in (m.__name__ for m in MODELS):
            for (_, batch, device), x in ((k, v) for k, v in ms.items() if slower and k[0] == model):
                y = answers[predictor, mode, dtype, slower][model, batch, device]
                hold((predictor, "host", mode, dtype, model, device), x, y,
                     f"{model} at batch {batch} on {device}: {x:.4f} ms with the host {host}, {y:.4f} with {slower}")
            if host != HOST:
                continue
            for i, batch in enumerate(BATCHES):
                for rule, a, b in better:
                    x, y = ms[model, batch, a], ms[model, batch, b]
                    hold((predictor, rule, mode, dtype, model, f"{a} {b}"), x, y,
                         f"{model} at batch {batch}: {x:.4f} ms on {a}, {y:.4f} on {b}")
                for device in sheets:
                    x = ms[model, batch, device]
                    if i > 0:
                        y = ms[model, BATCHES[i - 1], device]
                        hold((predictor, "batch", mode, dtype, model, device), y, x,
                             f"{model} on {device}: {y:.4f} ms at batch {BATCHES[i - 1]}, {x:.4f} at {batch}")
                    for fast, slow in FASTER:
                        if dtype == fast:
                            y = answers[predictor, mode, slow, host][model, batch, device]
                            hold((predictor, "precision", mode, f"{fast} {slow}", model, device), x, y,
                                 f"{model} at batch {batch} on {device}: {x:.4f} ms in {fast}, {y:.4f} in {slow}")
    print(f"{count} comparisons of {len(better)} pairs of devices and slices, {len(MODELS)} models")
    return found


def matching(rows, key):
    return next((r for r in rows if all(map(fnmatch.fnmatchcase, key, r[:6]))), None)


def main():
    rows = [tuple(r) for r in support.read_table(KNOWN, 9)] if KNOWN.exists() else []
    found = violations()
    by_row = collections.defaultdict(list)  # (factor, what is shown) of each case
    for key in sorted(found):
        by_row[matching(rows, key) or (*key, "1", "0", "?")] += found[key]
    now = {row: (math.ceil(100 * max(cases)[0]) / 100, len(cases)) for row, cases in by_row.items()}
    if sys.argv[1:] == ["--update"]:
        order = [r for r in rows if r in now] + [r for r in now if r not in rows]
        KNOWN.write_text("\n".join([HEAD, *("\t".join([*r[:6], f"{now[r][0]:.2f}", str(now[r][1]), r[8]])
                                           for r in order)]) + "\n")
        return 0
    problems = []
    for row, (factor, cases) in now.items():
        if row[8] == "?":
            problems.append(f"{' '.join(row[:4])}: {max(by_row[row])[1]} (× {factor:.2f}; {cases} cases)")
        elif factor > float(row[6]) or cases > int(row[7]):
            problems.append(f"{' '.join(row[:6])}: {cases} cases up to × {factor:.2f} instead of {row[7]} up to × "
                            f"{row[6]}, such as {max(by_row[row])[1]}")
    problems += [f"{KNOWN.name}: holds now, remove the row: {' '.join(r[:6])}" for r in rows if r not in now]
    print("\n".join(problems[:SHOWN]))
    if len(problems) > SHOWN:
        print(f"… and {len(problems) - SHOWN} more")
    print(f"{sum(map(len, found.values()))} violations, {len(rows)} rows of known ones, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
