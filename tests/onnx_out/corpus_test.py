#!/usr/bin/env python3
"""Every ONNX file of ../shared/corpus, written by `perfc opt -o` after no pass, the eager and the compiled pipeline:
onnx.checker passes what is written, and onnxruntime computes the same with it, value by value of the types that perfc
says.

usage: corpus_test.py [--all] [-j N] [FILE…]     without --all every tenth file
       corpus_test.py --update …                 rewrites the rows of explained.tsv of these files, reason "?"

explained.tsv: files of which something else is known, and why. A file that is not as its row says, a row whose file is
well and a reason "?" fail. docs/onnx-out.md has the figures of --all.
"""
import argparse
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

EXPLAINED = HERE / "explained.tsv"
CHUNK = 25
CPU_SECONDS_PER_FILE = 300      # loops without an end
EVERY = 10                      # files in ./check
FINE = {"equal", "computed", "checked", "refused"}
LEAST = {"all": 1800, "part": 150}  # files whose outputs and types are those of onnxruntime, after each pipeline


def work(files):
    """A line per file. A crash of onnxruntime ends this process."""
    import runs
    for file in files:
        print(json.dumps({"begin": file}), flush=True)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS_PER_FILE)  # SIGPROF ends the process
        with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
            original, known, outcomes = runs.Original(pathlib.Path(file), pathlib.Path(folder)), {}, {}
            for pipeline, passes in runs.PIPELINES.items():
                out = pathlib.Path(folder) / "out.onnx"
                outcomes[pipeline] = vars(runs.outcome(original, support.PERFC, out, passes, known))
        print(json.dumps({"file": file, "invalid": original.invalid, "outcomes": outcomes}), flush=True)


def chunk(python: str, files):
    """Rows of the files; one at which the process ends is "crashed", and the rest goes on in another."""
    rows, rest = [], list(files)
    while rest:
        worker = subprocess.run([python, __file__, "--worker", *rest], capture_output=True, text=True)
        lines = [json.loads(line) for line in worker.stdout.splitlines() if line.startswith("{")]
        begun = [r["begin"] for r in lines if "begin" in r]
        done = [r for r in lines if "file" in r]
        rows += done
        if len(done) == len(rest):
            return rows
        if not begun:
            raise RuntimeError(f"the worker does not start: {worker.stderr.strip()[-500:]}")
        why = next((line for line in worker.stderr.splitlines()[::-1] if "Error" in line), "hangs or crashes")
        rows.append({"file": begun[-1], "invalid": "", "outcomes": {"none": {"status": "crashed", "detail": why}}})
        rest = rest[len(begun):]
    return rows


def table():
    rows = [line.split("\t") for line in EXPLAINED.read_text().splitlines() if line and not line.startswith("#")]
    return {row[0]: row[1:] for row in rows}


def wrong(row) -> str:
    """Statuses that need an explanation, joined; empty: none."""
    return ",".join(sorted({o["status"] for o in row["outcomes"].values()} - FINE))


def figures(rows):
    """What docs/onnx-out.md says."""
    of = lambda row: [o["status"] for o in row["outcomes"].values()]  # noqa: E731
    first = lambda row: row["outcomes"].get("none", {})  # noqa: E731
    written = [r for r in rows if not {"refused", "unwritten", "crashed"} & set(of(r))]
    originals = [r for r in written if not r["invalid"]]
    outputs = [r for r in written if "checker" not in of(r)]
    equal = [r for r in rows if set(of(r)) == {"equal"}]
    yield "files", len(rows)
    yield "not imported", sum("refused" in of(r) for r in rows)
    yield "imported, not written (no form)", sum("unwritten" in of(r) for r in rows)
    yield "written", len(written)
    yield "  originals that onnx.checker passes (full_check)", len(originals)
    yield "  outputs that it passes, after each pipeline", len(outputs)
    yield "equal in onnxruntime, types of all values right", len(equal)
    yield "  values whose types were looked at", sum(o["values"] for r in equal for o in r["outcomes"].values())
    yield "equal, types not looked at", sum("computed" in of(r) and set(of(r)) <= {"computed", "equal"} for r in rows)
    yield "onnxruntime does not run the original", sum(first(r).get("status") == "checked" for r in rows)
    yield "otherwise, explained or not", sum(bool(wrong(r)) and "unwritten" not in of(r) for r in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=pathlib.Path, help="writes what was found as JSON lines")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if args.worker:
        work(args.files)
        return 0
    root = support.shared("corpus", "onnx").resolve()
    python = support.reference_python()
    name = lambda file: os.path.relpath(pathlib.Path(file).resolve(), root)  # noqa: E731
    files = args.files or [str(f) for f in sorted(root.rglob("*.onnx"))][::1 if args.all else EVERY]
    with ThreadPoolExecutor(args.j) as pool:
        parts = pool.map(lambda part: chunk(python, part), [files[i:i + CHUNK] for i in range(0, len(files), CHUNK)])
        rows = [row for part in parts for row in part]
    if args.rows:
        args.rows.write_text("".join(json.dumps(r) + "\n" for r in rows))
    explained, problems = table(), []
    looked_at = {name(r["file"]): r for r in rows}
    for file, row in looked_at.items():
        status, expected = wrong(row), explained.get(file, [""])[0]
        if status != expected:
            details = {o["detail"] for o in row["outcomes"].values() if o["status"] not in FINE}
            problems.append(f"{file}: {status or 'well'} ({'; '.join(sorted(details))}); {EXPLAINED.name} says "
                            f"{expected or 'nothing'}")
    problems += [f"{file}: {EXPLAINED.name} gives no reason" for file, row in explained.items() if row[-1] in ("", "?")]
    problems += [f"{file}: {EXPLAINED.name} has a row, but there is no such file" for file in explained
                 if not (root / file).exists()]
    if args.update:
        for file, row in looked_at.items():
            if not wrong(row):
                explained.pop(file, None)
            elif explained.get(file, [""])[0] != wrong(row):
                explained[file] = [wrong(row), "?"]
        head = [line for line in EXPLAINED.read_text().splitlines() if line.startswith("#")]
        EXPLAINED.write_text("\n".join(head + ["\t".join([f, *r]) for f, r in sorted(explained.items())]) + "\n")
    counted = dict(figures(rows))
    for what, n in counted.items():
        print(f"{what:<58}{n:>8,}")
    statuses = collections.Counter(wrong(r) for r in rows if wrong(r))
    print("  " + ", ".join(f"{n} {s}" for s, n in statuses.most_common()))
    least = 0 if args.files else LEAST["all" if args.all else "part"]
    if (found := counted["equal in onnxruntime, types of all values right"]) < least:
        problems.append(f"{found} files are equal, expected {least} at least")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
