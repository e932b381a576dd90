#!/usr/bin/env python3
"""Programs of about every ATen operator, as TorchScript and as .pt2, written by `perfc opt -o`: onnxruntime computes
what torch does, after each pipeline.

usage: torch_test.py [--all]     without --all every fourth program

torch.tsv: programs of which something else is known, and why.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

EXPLAINED = HERE / "torch.tsv"
EVERY = 4
LEAST = {"all": 1000, "part": 240}  # equal files


def with_weights(model, weights: dict) -> str:
    """Contents by name; what is left over has none."""
    from onnx import TensorProto, numpy_helper

    from feeds import has_contents
    for t in model.graph.initializer:
        if has_contents(t):
            continue
        found = weights.get(t.name)
        if found is None or found.size != math.prod(t.dims):
            return t.name
        t.CopyFrom(numpy_helper.from_array(found.reshape(tuple(t.dims)), t.name))
        t.data_location = TensorProto.DEFAULT
    return ""


def compare(file: pathlib.Path, passes, folder: pathlib.Path):
    import numpy as np
    import onnx

    import feeds
    import runs
    out = folder / "out.onnx"
    code, stderr = runs.perfc(support.PERFC, "opt", file, "-o", out, *(["--passes", passes] if passes else []))
    if code != 0:
        return runs.Outcome("unwritten", runs.error_of(stderr))
    recorded = np.load(file.with_suffix(".npz"))
    model = onnx.load(str(out), load_external_data=False)
    weights = {k[7:]: recorded[k] for k in recorded.files if k.startswith("weight/")}
    if left := with_weights(model, weights):
        return runs.Outcome("weights", f"{left} is none of the module's")
    if invalid := runs.checker_error(model):
        return runs.Outcome("checker", invalid)
    tolerance = 2e-2 if runs.narrow(model) else 1e-4
    try:
        model = feeds.accessible(model)
        s = runs.session(model)
        inputs = [recorded[f"in/{i}"] for i in range(len(s.get_inputs()))]
        results = list(runs.run(s, dict(zip([i.name for i in s.get_inputs()], inputs))).values())
    except Exception as e:  # noqa: BLE001
        return runs.Outcome("onnxruntime", runs.first_line(e))
    expected = [recorded[k] for k in recorded.files if k.startswith("out/")]
    if len(results) != len(expected):
        return runs.Outcome("differs", f"{len(expected)} results became {len(results)}")
    for i, (a, b) in enumerate(zip(expected, results)):
        if d := runs.difference(a, b, tolerance):
            return runs.Outcome("differs", f"result {i}: {d}")
    return runs.Outcome("equal")


def work(files):
    import runs
    for file in map(pathlib.Path, files):
        with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
            row = {p: vars(compare(file, passes, pathlib.Path(folder))) for p, passes in runs.PIPELINES.items()}
        print(json.dumps({"file": file.name, "outcomes": row}), flush=True)


def rows_of(python: str, files):
    rows, rest = [], list(files)
    while rest:
        worker = subprocess.run([python, __file__, "--worker", *rest], stdout=subprocess.PIPE, text=True)
        done = [json.loads(line) for line in worker.stdout.splitlines()]
        rows += done
        rest = rest[len(done):]
        if rest:
            rows.append({"file": pathlib.Path(rest[0]).name, "outcomes": {"none": {"status": "crashed", "detail": ""}}})
            rest = rest[1:]
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.worker)
        return 0
    with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
        subprocess.run([support.torch_python(), HERE / "torch_programs.py", folder, "--pt2", "--every",
                        str(1 if args.all else EVERY)], check=True, stderr=subprocess.DEVNULL,
                       env={**os.environ, "PYTHONWARNINGS": "ignore"})
        files = sorted(str(f) for kind in ("*.json", "*.pt2") for f in pathlib.Path(folder).glob(kind))
        rows = rows_of(support.reference_python(), files)
    lines = [line.split("\t") for line in EXPLAINED.read_text().splitlines() if not line.startswith("#")]
    explained, problems = {line[0]: line[1:] for line in lines}, []
    statuses = collections.Counter()
    for row in rows:
        status = ",".join(sorted({o["status"] for o in row["outcomes"].values()}))
        statuses[status] += 1
        program = row["file"]
        expected = explained.get(program, ["equal"])[0]
        if status != expected:
            details = "; ".join(sorted({o["detail"] for o in row["outcomes"].values() if o["status"] != "equal"}))
            problems.append(f"{program}: {status} ({details}), expected {expected}")
            explained[program] = [status, "?"]
            if status == "equal":
                explained.pop(program)
    print(f"{len(rows)} programs: " + ", ".join(f"{n} {s}" for s, n in statuses.most_common()))
    problems += [f"{file}: {EXPLAINED.name} gives no reason" for file, row in explained.items()
                 if row[-1] in ("", "?") and not args.update]
    if args.update:
        head = [line for line in EXPLAINED.read_text().splitlines() if line.startswith("#")]
        EXPLAINED.write_text("\n".join(head + ["\t".join([f, *r]) for f, r in sorted(explained.items())]) + "\n")
    if statuses["equal"] < (least := LEAST["all" if args.all else "part"]):
        problems.append(f"{statuses['equal']} programs are equal, expected {least} at least")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
