#!/usr/bin/env python3
"""Times the models of models.py in ONNX Runtime's CPU provider: what models.csv has.

usage: measure.py --shared ../shared --core-to-core ./core_to_core -o models.csv     as root; needs onnx, onnxruntime

Weights are made at random, batches by `perfc opt --batch`. Each run of a model has a process of its own, in real time
(chrt), on core 1 or on both; of two threads only while the cores are near each other (core_to_core.c), for they take
up to 1.9 times as long otherwise, and where virtual cores stand is not the model's. Goes on with what is missing.
"""
import argparse
import csv
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "onnx_out"), str(ROOT / "python")]

import judge  # noqa: E402
import models  # noqa: E402

COLUMNS = ("model", "family", "file", "batch", "threads", "latency_ms", "spread_percent", "best_ms", "runs",
           "core_to_core_ns", "onnxruntime", "measured_at")
NEAR_NS = 150
MOST_WEIGHTS = 1 << 31
SECONDS, LEAST_RUNS, MOST_RUNS = 0.5, 5, 200
REALTIME = pathlib.Path("/proc/sys/kernel/sched_rt_runtime_us")


def run_once(path: str, threads: int) -> dict:
    import numpy as np
    import onnxruntime as ort
    from perfc.measure.protocol import Timing
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)

    def drawn(i):
        if "float" in i.type:
            return rng.standard_normal(i.shape).astype(np.float32)
        if "bool" in i.type:
            return np.ones(i.shape, bool)
        return rng.integers(0, 2, i.shape).astype(np.int32 if "int32" in i.type else np.int64)
    feed = {i.name: drawn(i) for i in session.get_inputs()}

    def timed() -> float:
        start = time.perf_counter()
        session.run(None, feed)
        return 1e3 * (time.perf_counter() - start)
    for _ in range(2):
        timed()
    count = int(min(MOST_RUNS, max(LEAST_RUNS, 1e3 * SECONDS / timed())))
    t = Timing([timed() for _ in range(count)])
    return {"latency_ms": round(statistics.median(t.runs_ms), 4), "spread_percent": round(100 * t.spread, 2),
            "best_ms": round(min(t.runs_ms), 4), "runs": count, "onnxruntime": ort.__version__}


def rebatched(perfc: str, source: pathlib.Path, folder: pathlib.Path, batch: int) -> pathlib.Path:
    import feeds
    import onnx
    model = onnx.load(str(source), load_external_data=False)
    for t in model.graph.initializer:
        if t.data_location == onnx.TensorProto.EXTERNAL:
            t.ClearField("external_data")
    if not feeds.fill(model, MOST_WEIGHTS):
        sys.exit(f"{source.name}: its weights are too big to be made")
    full, out = folder / "full.onnx", folder / "rebatched.onnx"
    onnx.save(model, str(full))
    subprocess.run([perfc, "opt", str(full), "--batch", str(batch), "--passes", "bind-shapes,rebatch", "-o", str(out)],
                   check=True)
    return out


def real_time(command: list[str], cores: str) -> str:
    return subprocess.run(["taskset", "-c", cores, "chrt", "-f", "50", *command], capture_output=True, text=True,
                          check=True, timeout=300).stdout


def measured(file: pathlib.Path, threads: int, core_to_core: str) -> dict:
    def distance() -> float:
        return float(real_time([core_to_core], "0,1"))
    while True:
        before = distance() if threads > 1 else 0
        if before < NEAR_NS:
            found = json.loads(real_time([sys.executable, __file__, "--run", str(file), str(threads)],
                                         "1" if threads == 1 else "0,1"))
            after = distance() if threads > 1 else 0
            if after < NEAR_NS:
                return found | {"core_to_core_ns": max(before, after) or ""}
        time.sleep(2)


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run_once(sys.argv[2], int(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--core-to-core", required=True, metavar="PROGRAM")
    parser.add_argument("--perfc", default=str(ROOT / "build" / "release" / "perfc"))
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    done = set()
    if args.output.exists():
        with open(args.output, newline="") as f:
            done = {(r["model"], r["batch"], r["threads"]) for r in csv.DictReader(f)}
    listed = models.listed(args.shared)
    before = REALTIME.read_text()
    with open(args.output, "a", newline="") as f, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        judge.unpack(args.shared, folder, {file for _, _, file in listed})
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        if not done:
            out.writeheader()
        try:
            REALTIME.write_text("-1")
            for model, family, file in listed:
                for batch in (1, 4):
                    todo = [t for t in (1, 2) if (model, str(batch), str(t)) not in done]
                    made = rebatched(args.perfc, folder / file, folder, batch) if todo else None
                    for threads in todo:
                        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
                        out.writerow({"model": model, "family": family, "file": file, "batch": batch,
                                      "threads": threads, "measured_at": now,
                                      **measured(made, threads, args.core_to_core)})
                        f.flush()
                        time.sleep(threads / 2)
        finally:
            REALTIME.write_text(before)


if __name__ == "__main__":
    main()
