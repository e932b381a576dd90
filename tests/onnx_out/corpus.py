#!/usr/bin/env python3
"""Prints a line of JSON per file and pipeline: how `perfc opt -o` of it compares with the original in onnxruntime.

usage: corpus.py one FILE…          in this process: a crash of onnxruntime ends it
       corpus.py all [-j N] FILE…   in processes of their own
"""
import argparse
import faulthandler
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

CHUNK = 25
SECONDS_PER_FILE = 60  # loops without an end


def one(files):
    import runs
    for file in files:
        print(json.dumps({"begin": file}), flush=True)
        faulthandler.dump_traceback_later(SECONDS_PER_FILE, exit=True)
        with tempfile.TemporaryDirectory(prefix="onnx_out") as folder:
            original = runs.Original(pathlib.Path(file), pathlib.Path(folder))
            for pipeline, passes in runs.PIPELINES.items():
                try:
                    status, detail = runs.outcome(original, support.PERFC, pathlib.Path(folder) / "out.onnx", passes)
                except subprocess.TimeoutExpired:
                    status, detail = "timeout", ""
                print(json.dumps({"file": file, "pipeline": pipeline, "status": status, "detail": detail}), flush=True)


def chunk(files):
    """Rows of the files; one at which the process ends is "crashed", and the rest goes on in another."""
    rows, rest = [], list(files)
    while rest:
        try:
            p = subprocess.run([sys.executable, __file__, "one", *rest], capture_output=True, text=True,
                               timeout=SECONDS_PER_FILE * len(rest))
            text = p.stdout
        except subprocess.TimeoutExpired as e:
            text = (e.stdout or b"").decode()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
        begun = [r["begin"] for r in lines if "begin" in r]
        done = [r for r in lines if "file" in r]
        rows += done
        if not begun:
            return rows + [{"file": f, "pipeline": "none", "status": "crashed", "detail": "no start"} for f in rest]
        if len(begun) == len(rest) and sum(r["file"] == begun[-1] for r in done) == 3:
            return rows
        rows.append({"file": begun[-1], "pipeline": "none", "status": "crashed",
                     "detail": "or hung, in onnx or onnxruntime"})
        rest = rest[len(begun):]
    return rows


def all_rows(files, jobs: int):
    with ThreadPoolExecutor(jobs) as pool:
        for rows in pool.map(chunk, [files[i:i + CHUNK] for i in range(0, len(files), CHUNK)]):
            yield from rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["one", "all"])
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    if args.what == "one":
        one(args.files)
    else:
        for row in all_rows(args.files, args.j):
            print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
