"""Training-step latency on timm's runs (../shared/data/timm, Apache-2.0), leave-family-out; a section of
docs/accuracy.md.

    python3 studies/fit_training.py --graphs DIR [--perfc build/release/perfc] [--every 3]
    python3 studies/fit_training.py --graphs DIR --check 13      # MAPE of the shipped factors on a sample

RTX 3090, AMP, PyTorch 1.12, SGD with momentum. Attention is written out: 1.12 had no fused one. The step is the sum of
its kernels by the whitebox, times kTrainingStep in whitebox/constants.h, for which docs/whitebox.md has the reasons.
Fitted is a factor per memory layout for gradients of depthwise convolutions alone (kDepthwiseGradientFirst and Last,
there of all families; this script prints them). Runs that took more than 2.5 times the prediction ran other kernels;
nothing is fitted on them, but they count in every score. DIR holds ../shared/graphs/timm_torchscript.tar.xz unpacked.
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
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
RUNS = "benchmark-train-amp-{}-pt112-cu113-rtx3090.csv"
PARTS = ("rest", "depthwise")
NAMES = {"nchw": "kDepthwiseGradientFirst", "nhwc": "kDepthwiseGradientLast"}
RIDGE = 0.02     # towards 1
ANOMALOUS = 2.5
SAMPLE = 29      # --check: every so manieth run


def constant(name):
    return float(re.search(rf"\b{name} = ([\d.]+)", (ROOT / "whitebox/constants.h").read_text()).group(1))


STEP = constant("kTrainingStep")


def written_out(text):
    text = re.sub(r"nn\.sdpa\((%[\d.]+, %[\d.]+, %[\d.]+(?:, %[\d.]+)?)\)", r"nn.sdpa(\1, explicit=1, scale=0.125)",
                  text)
    return re.sub(r"nn\.sdpa\((%[\d.]+, %[\d.]+, %[\d.]+(?:, %[\d.]+)?), scale", r"nn.sdpa(\1, explicit=1, scale", text)


def parts_of(forward, step, depthwise):
    """A step's time in ms by PARTS, without the factors: perfc's own are taken out again. `forward`: how many kernels
    come before the backward pass."""
    out = dict.fromkeys(PARTS, 0.0)
    for i, k in enumerate(step):
        part = "depthwise" if i >= forward and k["kind"] == "depthwise" else "rest"
        work = max(float(k["compute_us"]), float(k["memory_us"])) + float(k["conversion_us"])
        launch = float(k["time_us"]) - work
        factor = depthwise if part == "depthwise" else STEP
        out[part] += (work / factor + launch) * float(k["repeat"]) / 1e3
    return [out[part] for part in PARTS]


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
    for layout in NAMES:
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
            says = [
                perfc_says(perfc, path, r["train_batch_size"], layout, *options)
                for options in (("--task", "train", "--predictor", "whitebox", "--json"), ("--emit", "kernels"),
                                ("--emit", "kernels", "--task", "train"))
            ]
            if None in says:
                continue
            p = json.loads(says[0])["predictions"][0]
            forward, step = (list(csv.DictReader(s.splitlines())) for s in says[1:])
            parts = parts_of(len(forward), step, constant(NAMES[layout]))
            out.append({
                "family": families.get(name, "-"), "layout": layout, "measured": float(r["train_step_time"]),
                "shipped": p["latency_ms"], "parts": parts, "macs": p["static"]["macs"],
                "params": p["static"]["params"]
            })
    return out


def fit(rows):
    """The factors: of the rest as it is, of depthwise gradients by least absolute relative error, by reweighted least
    squares with a ridge towards 1."""
    x = np.array([r["parts"] for r in rows]) / np.array([[r["measured"]] for r in rows])
    rest, depthwise = x[x.sum(axis=1) > 1 / ANOMALOUS].T
    c = 1.0
    for _ in range(50):
        w = 1 / np.maximum(abs(STEP * rest + c * depthwise - 1), 0.02)
        ridge = RIDGE * w.sum() / 100
        c = float((np.sum(w * depthwise * (1 - STEP * rest)) + ridge) / (np.sum(w * depthwise**2) + ridge))
    return np.array([STEP, max(c, 0.3)])


def log_linear(train, test):
    def features(rows):
        return np.array([[math.log(r["macs"]), math.log(r["params"]), math.log(sum(r["parts"])), 1] for r in rows])
    w = np.linalg.lstsq(features(train), np.log([r["measured"] for r in train]), rcond=None)[0]
    return np.exp(features(test) @ w)


def evaluate(rows):
    lines = [
        "| layout | runs | families | log-linear | roofline, no factors | **perfc** | median | within 20 % |",
        "|---|---|---|---|---|---|---|---|"
    ]
    everything = collections.defaultdict(list)
    for layout in NAMES:
        part = [r for r in rows if r["layout"] == layout]
        errors = collections.defaultdict(list)
        for family in sorted({r["family"] for r in part}):
            train, test = [r for r in part if r["family"] != family], [r for r in part if r["family"] == family]
            c = fit(train)
            for r, linear in zip(test, log_linear(train, test)):
                errors["perfc"].append(abs(float(np.dot(c, r["parts"])) / r["measured"] - 1))
                errors["plain"].append(abs(sum(r["parts"]) / r["measured"] - 1))
                errors["linear"].append(abs(linear / r["measured"] - 1))
        for key, values in errors.items():
            everything[key] += values
        lines.append(row(layout, len(part), len({r["family"] for r in part}), errors))
        print(f"{NAMES[layout]} = {fit(part)[1]:.2f}", file=sys.stderr)
    lines.append(row("both", len(rows), len({r["family"] for r in rows}), everything))
    return lines, statistics.mean(everything["perfc"])


def row(name, runs, families, e):
    mean = {k: tables.percent(statistics.mean(v)) for k, v in e.items()}
    return (
        f"| {name} | {runs} | {families} | {mean['linear']} | {mean['plain']} | **{mean['perfc']}** | "
        f"{tables.percent(statistics.median(e['perfc']))} | "
        f"{tables.percent(sum(v <= 0.2 for v in e['perfc']) / len(e['perfc']))} |")


def check(perfc, graphs, bound):
    with tempfile.TemporaryDirectory() as folder:
        rows = load_rows(perfc, graphs, SAMPLE, pathlib.Path(folder))
    error = 100 * statistics.mean(abs(r["shipped"] / r["measured"] - 1) for r in rows)
    print(f"training step, shipped factors, {len(rows)} runs: MAPE {error:.2f} %, at most {bound:g} %")
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
        lines, _ = evaluate(load_rows(args.perfc, args.graphs, args.every, pathlib.Path(folder)))
    tables.write_section("training-step", "studies/fit_training.py", [
        "## Training step: RTX 3090, AMP, families left out", "",
        "timm's training runs with PyTorch 1.12; forward, backward and SGD with momentum. What gradients of depthwise "
        "convolutions take",
        "comes from the other families; all else takes the same factor." +
        (f" Every {args.every}th run." if args.every > 1 else ""), "", *lines
    ])


if __name__ == "__main__":
    main()
