#!/usr/bin/env python3
"""Whole models of PyTorch, TensorFlow and PaddlePaddle (../shared/frameworks), written by `perfc opt -o`, weights at
random: onnx.checker passes them, onnxruntime runs them, and every value has the type that perfc says. What the
frameworks themselves compute is not known here: the files have no weights (torch_test.py has programs that do).

usage: frameworks_test.py [--all] [FILE…]     without --all a few of the smallest files of each format

frameworks.tsv: models of which something else is known, and why.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

EXPLAINED = HERE / "frameworks.tsv"
SUFFIXES = (".onnx", ".json", ".pt2", ".pb", ".pbtxt", ".pdmodel")
FOLDERS = ("torchscript", "pt2", "tf_text", "tf_frozen", "tf_bin", "paddle")
MOST_BYTES = {True: 1 << 30, False: 48 << 20}  # of weights, with --all and without
FEW = 4


def compute(file: pathlib.Path, folder: pathlib.Path, most: int):
    import onnx

    import feeds
    import runs
    out = folder / "out.onnx"
    code, stderr = runs.perfc(support.PERFC, "opt", file, "-o", out)
    if code != 0:
        return runs.Outcome("unwritten", runs.error_of(stderr))
    model = onnx.load(str(out), load_external_data=False)
    if not feeds.fill(model, most):
        return runs.Outcome("big")
    if invalid := runs.checker_error(model) if model.ByteSize() < 1 << 30 else "":
        return runs.Outcome("checker", invalid)
    try:
        wide = feeds.accessible(runs.with_all_values(model))
        onnx.save(wide, str(folder / "wide.onnx"))
        feed = feeds.inputs_of(wide)
        values = runs.run(runs.session(str(folder / "wide.onnx")), feed)
    except ValueError:  # inputs of more than MOST_BYTES
        return runs.Outcome("big")
    except Exception as e:  # noqa: BLE001
        return runs.Outcome("onnxruntime", runs.first_line(e))
    flaws = runs.shape_flaws(wide, {**feed, **values})
    return runs.Outcome("types", "; ".join(flaws[:3])) if flaws else runs.Outcome("runs", "", len(values))


def work(files, most: int):
    for file in map(pathlib.Path, files):
        with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
            print(json.dumps({"file": str(file), **vars(compute(file, pathlib.Path(folder), most))}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.worker:
        work(args.files, MOST_BYTES[args.all])
        return 0
    root = support.unpack_frameworks().resolve()
    files = [pathlib.Path(f).resolve() for f in args.files] or sorted(
        f for kind in FOLDERS for f in root.rglob("*") if f.suffix in SUFFIXES and kind in f.parts)
    if not args.all and not args.files:
        files = [f for kind in FOLDERS
                 for f in sorted((f for f in files if kind in f.parts), key=lambda f: (f.stat().st_size, f))[:FEW]]
    python = support.reference_python()
    rows, explained, problems = [], {}, []
    for file in files:
        worker = subprocess.run([python, __file__, "--worker", *(["--all"] if args.all else []), str(file)],
                                stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(worker.stdout) if worker.returncode == 0 else
                    {"file": str(file), "status": "crashed", "detail": "", "values": 0})
    for line in EXPLAINED.read_text().splitlines():
        if not line.startswith("#"):
            file, status, why = line.split("\t")
            explained[file] = [status, why]
            if why in ("", "?"):
                problems.append(f"{file}: {EXPLAINED.name} gives no reason")
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        name = pathlib.Path(row["file"]).relative_to(root)
        counts[next(k for k in FOLDERS if k in name.parts)][row["status"]] += 1
        expected = explained.get(str(name), ["runs"])[0]
        if row["status"] not in (expected, "big"):
            problems.append(f"{name}: {row['status']} ({row['detail']}), expected {expected}")
            explained[str(name)] = [row["status"], "?"]
    for kind, statuses in counts.items():
        print(f"{kind:<14}" + ", ".join(f"{n} {s}" for s, n in statuses.most_common()))
    print(f"{sum(r['values'] for r in rows):,} values of the right type")
    if args.update:
        head = [line for line in EXPLAINED.read_text().splitlines() if line.startswith("#")]
        EXPLAINED.write_text("\n".join(head + ["\t".join([f, *r]) for f, r in sorted(explained.items())]) + "\n")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
