#!/usr/bin/env python3
"""timm's graphs with weights at random, written by `perfc opt -o`: onnxruntime computes the same with what is written
after no pass, the eager and the compiled pipeline, and what `--batch 8` writes computes what eight runs of one sample
do.

usage: models_test.py [--all] [FILE…]     the two smallest graphs of each family; without --all some of them

models.tsv: graphs of which something else is known, and why.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

EXPLAINED = HERE / "models.tsv"
BATCH = 8
MOST_PARAMETERS = 16e6          # four bytes each: MOST_BYTES of feeds.py
MOST_GMACS = 1.5
PER_FAMILY = 2
PART = 8                        # graphs in ./check
LEAST = {"all": (60, 60), "part": (7, 7)}  # equal graphs, equal batches


def rebatched(original, folder: pathlib.Path):
    """One run of eight samples beside eight runs of one."""
    import numpy as np

    import runs
    if original.results is None:
        return runs.Outcome("checked", original.why)
    if any(v.ndim < 2 or v.shape[0] != 1 for v in original.feed.values()):
        return runs.Outcome("checked", "its batch is not 1")
    out = folder / "batch.onnx"
    code, stderr = runs.perfc(support.PERFC, "opt", original.path, "--batch", BATCH, "-o", out)
    if code != 0:
        return runs.Outcome("refused", runs.error_of(stderr))
    rng = np.random.default_rng(0)
    feed = {k: rng.standard_normal((BATCH, *v.shape[1:])).astype(v.dtype) if v.dtype.kind == "f"
            else rng.integers(0, 2, (BATCH, *v.shape[1:])).astype(v.dtype) for k, v in original.feed.items()}
    single = runs.session(str(original.path))
    parts = [runs.run(single, {k: v[i:i + 1] for k, v in feed.items()}) for i in range(BATCH)]
    together = runs.run(runs.session(str(out)), feed)
    for name in original.results:
        expected = np.concatenate([p[name] for p in parts])
        if d := runs.difference(expected, together[name], original.tolerance):
            return runs.Outcome("differs", f"{name}: {d}")
    return runs.Outcome("equal")


def work(files):
    import runs
    for file in files:
        with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
            original, known = runs.Original(pathlib.Path(file), pathlib.Path(folder)), {}
            row = {pipeline: runs.outcome(original, support.PERFC, pathlib.Path(folder) / "out.onnx", passes, known)
                   for pipeline, passes in runs.PIPELINES.items()}
            try:
                row["batch 8"] = rebatched(original, pathlib.Path(folder))
            except Exception as e:  # noqa: BLE001: whatever onnxruntime says
                row["batch 8"] = runs.Outcome("onnxruntime", runs.first_line(e))
        print(json.dumps({"file": file, "outcomes": {k: vars(v) for k, v in row.items()}}), flush=True)


def smallest_of_families() -> list[pathlib.Path]:
    """The graphs with the fewest MACs of each family that fit."""
    folder = support.unpack("graphs", "timm.tar.xz", into="timm")
    with open(support.shared("graphs", "families.tsv")) as f:
        family = {row["arch"]: row["family"] for row in csv.DictReader(f, delimiter="\t")}
    fitting = collections.defaultdict(list)
    with open(support.shared("graphs", "MANIFEST.tsv")) as f:
        for row in csv.DictReader(f, delimiter="\t"):
            if not row["file"].startswith("timm/") or not row["gmacs_csv"] or row["arch"] not in family:
                continue
            cost = float(row["gmacs_csv"])
            if cost <= MOST_GMACS and float(row["params"]) <= MOST_PARAMETERS:
                fitting[family[row["arch"]]].append((cost, row["file"]))
    chosen = [file for _, graphs in sorted(fitting.items()) for _, file in sorted(graphs)[:PER_FAMILY]]
    return [next(folder.rglob(pathlib.Path(file).name)) for file in chosen]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.worker:
        work(args.files)
        return 0
    files = args.files or [str(f) for f in smallest_of_families()]
    if not args.all and not args.files:
        files = files[::max(1, len(files) // PART)]
    python = support.reference_python()
    worker = subprocess.run([python, __file__, "--worker", *files], stdout=subprocess.PIPE, text=True)
    rows = [json.loads(line) for line in worker.stdout.splitlines()]
    explained = [line.split("\t") for line in EXPLAINED.read_text().splitlines() if not line.startswith("#")]
    explained = {(file, what): (status, why) for file, what, status, why in explained}
    problems = [] if len(rows) == len(files) else [f"{files[len(rows)]}: onnxruntime ended the process"]
    for row in rows:
        file = pathlib.Path(row["file"]).stem
        print(f"{file:<44}" + "  ".join(f"{k}: {o['status']}" for k, o in row["outcomes"].items()))
        for what, o in row["outcomes"].items():
            expected = explained.get((file, what), ("equal", ""))[0]
            if o["status"] != expected:
                problems.append(f"{file}, {what}: {o['status']} ({o['detail']}), expected {expected}")
    equal = sum(all(row["outcomes"][p]["status"] == "equal" for p in ("none", "eager", "compiled")) for row in rows)
    batches = sum(row["outcomes"]["batch 8"]["status"] == "equal" for row in rows)
    values = sum(o["values"] for row in rows for o in row["outcomes"].values())
    print(f"{len(files)} models: {equal} equal after each pipeline ({values:,} values of the right type), "
          f"{batches} equal with a batch of {BATCH}")
    if not args.files and (equal, batches) < LEAST["all" if args.all else "part"]:
        problems.append(f"expected {LEAST['all' if args.all else 'part']} at least")
    problems += [f"{' '.join(key)}: {EXPLAINED.name} gives no reason" for key, (_, why) in explained.items() if not why]
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
