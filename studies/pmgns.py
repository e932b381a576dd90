"""DIPPM's networks on timm's runs, beside the report's Table 3; a section of docs/accuracy.md.

    PYTHONPATH=python python3 -m perfc.dataset build --shared ../shared --out build/dataset
    python3 studies/pmgns.py --data build/dataset/labels.csv [--perfc build/release/perfc] [--table]

PMGNS knows neither device nor setting, so it trains and is judged on one: RTX 5090, eager, nchw, the ONNX exports.
What `perfc eval` predicted is kept in build/pmgns, so that an interrupted run goes on; --table only writes the table.
Rows of runs that are not there stay as they are. To convergence: until the validation loss is 15 epochs old, at most
300 epochs.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build/pmgns"
SETTING = {"device": "rtx5090", "mode": "eager", "layout": "nchw"}
# Test MAPE of the report's Table 3 (arXiv 2303.11733) after 10 epochs, on its random split.
REPORT = {"sage": 16.0, "gcn": 17.5, "gat": 36.7, "gin": 38.2, "mlp": 36.6}
CONVERGED = 300  # at most
PATIENCE = 15
RUNS = [  # name, split, model, epochs, recipe
    *((f"{m}_R10", "R", m, 10, "published") for m in REPORT),
    *((f"{m}_Rc", "R", m, CONVERGED, "published") for m in REPORT),
    ("sage_Rn", "R", "sage", 15, "normalised"),
    ("sage_F", "F", "sage", 10, "published"),
    ("sage_F0n", "F0", "sage", 15, "normalised"),
    ("gcn_F", "F", "gcn", 10, "published"),
    ("gat_F", "F", "gat", 10, "published"),
    ("gin_F", "F", "gin", 10, "published"),
    ("mlp_F", "F", "mlp", 10, "published"),
]


def parts(name, split):
    """Runs that a row is made of: of F its ten folds."""
    return [(f"{name}{k}", f"F{k}") for k in range(10)] if split == "F" else [(name, split)]


def measure(perfc, labels, name, split, model, epochs, recipe):
    out = CACHE / f"{name}.csv"
    if out.exists():
        return
    split = ROOT / f"data/splits/{split}.csv"
    checkpoint = CACHE / f"{name}.safetensors"
    subprocess.run([
        perfc, "train", "--data", labels, "--split", split, "--model", f"pmgns-{model}", "--epochs",
        str(epochs), "--recipe", recipe, "--threads", "1", "--resume", "--out", checkpoint, "--log",
        CACHE / f"{name}.jsonl", *(["--patience", str(PATIENCE)] if epochs == CONVERGED else [])
    ], check=True)
    subprocess.run([perfc, "eval", checkpoint, "--data", labels, "--split", split, "--quiet", "--predictions", out],
                   check=True, stdout=subprocess.DEVNULL)


def row(name, split, model, epochs, recipe, old):
    runs = [CACHE / f"{n}.csv" for n, _ in parts(name, split)]
    measured = [path for path in runs if path.exists()]
    if epochs == CONVERGED:
        log = CACHE / f"{name}.jsonl"
        last = json.loads(log.read_text().splitlines()[-1]) if log.exists() else {}
        epochs = f"best of {last['epoch']}: {last['best_epoch']}" if last else "best of"
        if last and last["epoch"] < min(last["best_epoch"] + PATIENCE, CONVERGED):
            epochs += " (unfinished)"
    shown = split if len(measured) in (0, len(runs)) else f"{split}, {len(measured)} of {len(runs)} folds"
    head = f"| PMGNS-{model.upper()} | {shown} | {recipe} | {epochs}"
    if not measured:
        return next((line for line in old if line.startswith(head)), f"{head} | not measured | | | | |")
    e = []
    for path in measured:
        with open(path, newline="") as f:
            e += [
                abs(float(r["predicted_ms"]) / float(r["measured_ms"]) - 1) for r in csv.DictReader(f)
                if r["part"] == "test"
            ]
    cells = [
        str(len(e)),
        tables.percent(statistics.mean(e)),
        tables.percent(statistics.median(e)),
        tables.percent(sum(x <= 0.2 for x in e) / len(e))
    ]
    report = f"{REPORT[model]}" if split == "R" and epochs == 10 else ""
    return f"{head} | " + " | ".join(cells) + f" | {report} |"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=pathlib.Path)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--table", action="store_true", help="train nothing")
    args = p.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    if not args.table:
        with open(args.data, newline="") as f:
            header, *rows = csv.reader(f)
        of = {k: header.index(k) for k in (*SETTING, "model")}
        rows = [r for r in rows if r[of["model"]].endswith(".onnx") and all(r[of[k]] == v for k, v in SETTING.items())]
        labels = args.data.with_name("pmgns.csv")  # model paths are relative to the labels' folder
        with tables.files.writing(labels, newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([header, *rows])
        for name, split, *how in RUNS:
            for part in parts(name, split):
                measure(args.perfc, labels, *part, *how)
    old = [line for line in tables.ACCURACY.read_text().splitlines() if line.startswith("| PMGNS-")]
    tables.write_section("pmgns", "studies/pmgns.py", [
        "## PMGNS, as published", "",
        "DIPPM's networks on RTX 5090, eager, nchw, ONNX exports (355 training graphs on split R; the report had "
        "7,356, near-duplicates of the",
        "test graphs among them). perfc on the same rows: the last but one of table R, and of table F. F0 is one fold "
        "of families in ten, F all",
        "or as many as are named. *published*: the report's recipe; *normalised*: docs/gnn.md. *Best of N: M*: until "
        "the validation loss was 15 epochs old, or stopped",
        "before (*unfinished*), N epochs in all; judged is the network after epoch M.", "",
        "| model | split | recipe | epochs | runs | MAPE | median | within 20 % | the report |",
        "|---|---|---|---|---|---|---|---|---|", *(row(*run, old) for run in RUNS)
    ])


if __name__ == "__main__":
    main()
