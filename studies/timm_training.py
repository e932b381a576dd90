"""Training-step latency on timm's runs (../shared/data/timm, Apache-2.0); a section of docs/accuracy.md.

    python3 studies/timm_training.py --graphs DIR [--perfc build/release/perfc] [--every 3]
    python3 studies/timm_training.py --graphs DIR --check 10.5      # MAPE on a sample

RTX 3090, AMP, PyTorch 1.12, SGD with momentum. Attention is written out: 1.12 had no fused one. The step is the sum of
its kernels by the whitebox, times kTrainingStep in whitebox/constants/training.h, for which docs/whitebox.md has the
reasons; nothing is fitted here. perfc means today's PyTorch, and 1.12 was slower: what timm's inference with it took on
this card beside PyTorch 2.4, the median of models with equal batches, is taken into account, per layout of memory. DIR
holds ../shared/graphs/timm_torchscript.tar.xz unpacked.
"""
import argparse
import collections
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import shipped  # noqa: E402
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
RUNS = "benchmark-train-amp-{}-pt112-cu113-rtx3090.csv"
INFERENCE = "benchmark-infer-amp-{}-{}-rtx3090.csv"
THEN, NOW = "pt112-cu113", "pt240-cu124"
LAYOUTS = ("nchw", "nhwc")
SAMPLE = 29      # --check: every so manieth run
STEP = shipped.constants()["kTrainingStep"]


def age(layout):
    """How many times as long PyTorch 1.12 took as 2.4 does."""
    def batches(version):
        with open(SHARED / "data/timm" / INFERENCE.format(layout, version), newline="") as f:
            return {(r["model"], r["infer_img_size"], r["infer_batch_size"]): float(r["infer_step_time"])
                    for r in csv.DictReader(f) if r["infer_step_time"]}
    then, now = batches(THEN), batches(NOW)
    return statistics.median(then[k] / now[k] for k in then.keys() & now.keys())


def written_out(text):
    text = re.sub(r"nn\.sdpa\((%[\d.]+, %[\d.]+, %[\d.]+(?:, %[\d.]+)?)\)", r"nn.sdpa(\1, explicit=1, scale=0.125)",
                  text)
    return re.sub(r"nn\.sdpa\((%[\d.]+, %[\d.]+, %[\d.]+(?:, %[\d.]+)?), scale", r"nn.sdpa(\1, explicit=1, scale", text)


def perfc_says(perfc, path, batch, layout, *options):
    done = subprocess.run([
        perfc,
        str(path), "--batch", batch, "--layout", layout, "--optimizer", "momentum", "--device", "rtx3090", *options
    ], capture_output=True, text=True)
    return None if done.returncode else done.stdout


def load_rows(perfc, graphs, every, folder):
    with open(SHARED / "graphs/families.tsv", newline="") as f:
        families = {r["arch"]: r["family"] for r in csv.DictReader(f, delimiter="\t")}
    out = []
    for layout in LAYOUTS:
        slower = age(layout)
        with open(SHARED / "data/timm" / RUNS.format(layout), newline="") as f:
            runs = sorted(csv.DictReader(f), key=lambda r: r["model"])[::every]
        for r in runs:
            name = r["model"].split(".")[0]
            graph = graphs / f"{name}_{r['train_img_size']}.json"
            if not graph.exists() or not r["train_step_time"]:
                continue
            path = folder / f"{graph.stem}.pir"
            if not path.exists():
                path.write_text(written_out(subprocess.check_output([perfc, str(graph), "--emit", "ir"], text=True)))
            says = perfc_says(perfc, path, r["train_batch_size"], layout, "--task", "train", "--predictor", "whitebox",
                              "--json")
            if says is None:
                continue
            p = json.loads(says)["predictions"][0]
            out.append({
                "family": families.get(name, "-"), "layout": layout, "measured": float(r["train_step_time"]),
                "perfc": p["latency_ms"] * slower, "macs": p["static"]["macs"], "params": p["static"]["params"]
            })
    return out


def log_linear(train, test):
    def features(rows):
        return np.array([[math.log(r["macs"]), math.log(r["params"]), math.log(r["perfc"]), 1] for r in rows])
    w = np.linalg.lstsq(features(train), np.log([r["measured"] for r in train]), rcond=None)[0]
    return np.exp(features(test) @ w)


def evaluate(rows):
    lines = [
        "| layout | PyTorch 1.12 over 2.4 | runs | families | log-linear | kernels alone | **perfc** | median | ratio "
        "| within 20 % |",
        "|---|---|---|---|---|---|---|---|---|---|"
    ]
    everything = collections.defaultdict(list)
    for layout in LAYOUTS:
        part = [r for r in rows if r["layout"] == layout]
        errors = collections.defaultdict(list)
        for family in sorted({r["family"] for r in part}):
            train, test = [r for r in part if r["family"] != family], [r for r in part if r["family"] == family]
            for r, linear in zip(test, log_linear(train, test)):
                errors["perfc"].append(r["perfc"] / r["measured"])
                errors["plain"].append(r["perfc"] / STEP / r["measured"])
                errors["linear"].append(linear / r["measured"])
        for key, values in errors.items():
            everything[key] += values
        lines.append(row(layout, f"{age(layout):.2f}", len(part), len({r["family"] for r in part}), errors))
    lines.append(row("both", "", len(rows), len({r["family"] for r in rows}), everything))
    return lines


def row(name, slower, runs, families, ratios):
    errors = {k: [abs(x - 1) for x in v] for k, v in ratios.items()}
    mean = {k: tables.percent(statistics.mean(v)) for k, v in errors.items()}
    return (
        f"| {name} | {slower} | {runs} | {families} | {mean['linear']} | {mean['plain']} | **{mean['perfc']}** | "
        f"{tables.percent(statistics.median(errors['perfc']))} | {statistics.median(ratios['perfc']):.2f} | "
        f"{tables.percent(sum(v <= 0.2 for v in errors['perfc']) / len(errors['perfc']))} |")


def check(perfc, graphs, bound):
    with tempfile.TemporaryDirectory() as folder:
        rows = load_rows(perfc, graphs, SAMPLE, pathlib.Path(folder))
    error = 100 * statistics.mean(abs(r["perfc"] / r["measured"] - 1) for r in rows)
    print(f"training step, {len(rows)} runs: MAPE {error:.2f} %, at most {bound:g} %")
    return 0 if error <= bound else 1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=pathlib.Path, required=True)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--every", type=int, default=1, help="every n-th run only")
    p.add_argument("--check", type=float, metavar="PERCENT")
    args = p.parse_args()
    if args.check is not None:
        sys.exit(check(args.perfc, args.graphs, args.check))
    with tempfile.TemporaryDirectory() as folder:
        lines = evaluate(load_rows(args.perfc, args.graphs, args.every, pathlib.Path(folder)))
    tables.write_section("training-step", "studies/timm_training.py", [
        "## Training step: RTX 3090, AMP", "",
        "timm's training runs with PyTorch 1.12; forward, backward and SGD with momentum. By the whitebox, nothing of "
        "which is fitted to steps but the factor that all of them take beside *kernels alone* (1.1). perfc means "
        "today's PyTorch: its time is multiplied by what inference with 1.12 took over 2.4 on this card. *ratio*: the "
        "median of predicted over measured; log-linear regression leaves families out." +
        (f" Every {args.every}th run." if args.every > 1 else ""), "", *lines
    ])


if __name__ == "__main__":
    main()
