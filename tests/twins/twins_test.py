#!/usr/bin/env python3
"""The same network from several frameworks costs the same.

usage: twins_test.py PERFC

Every whole-model export of ../shared/frameworks that exists in several forms, at batch 1,
with batch-norms folded and nchw asked for: MACs, parameters, convolutions and dense layers,
the whitebox's latency and memory, as one table. Held to: MACs as counted independently in
each framework (TWINS.tsv), to the last digit; latency within 3 % and memory within 5 % of
the model's first form. explained.tsv lists what differs and why.
"""
import collections
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import PERFC as BUILT, read_table, shared, unpack_frameworks  # noqa: E402

PERFC = sys.argv[1] if len(sys.argv) > 1 else str(BUILT)
TOLERANCE = {"latency": 0.03, "memory": 0.05}
FRAMEWORK = {"onnx": "torch", "torchscript": "torch", "pt2": "torch", "paddle": "paddlepaddle", "tf_text": "tensorflow",
             "tf_bin": "tensorflow", "tf_frozen": "tensorflow"}
SCRIPTED = {"resnet18.script.json", "resnet18.trace_frozen.json"}  # do not say their input's shape
SETTINGS = [
    "--batch", "1", "--predictor", "whitebox", "--device", "rtx4090", "--dtype", "fp32", "--mode", "eager", "--layout",
    "nchw", "--fold-batch-norm", "on", "--json", "--top", "0"
]


def measure(path):
    shape = ["--shape", "x.1=1,3,224,224"] if path.name in SCRIPTED else []
    done = subprocess.run([PERFC, str(path), *SETTINGS, *shape], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0] if done.stderr.strip() else f"exit {done.returncode}"
    p = json.loads(done.stdout)["predictions"][0]
    return {
        "macs": p["static"]["macs"], "params": p["static"]["params"], "conv2d": p["static"]["conv2d"],
        "dense": p["static"]["dense"], "latency": p["device_ms"], "memory": p["memory_mib"]
    }, None


def main():
    folder = unpack_frameworks()
    counted = {}
    with open(shared("frameworks", "TWINS.tsv"), newline="") as f:
        for r in csv.DictReader(f, delimiter="\t"):
            counted[r["model"], r["framework"].split()[0].split("-")[0]] = int(r["macs"])
    explained = {(file, what): why for file, what, why in read_table(HERE / "explained.tsv", 3)}
    models = collections.defaultdict(list)
    for path in sorted(folder.glob("*/*")):
        if path.parent.name in FRAMEWORK and path.suffix != ".pt":  # archives want the exporter: torch_test.py
            models[path.name.split(".")[0]].append(path)
    problems, used = [], set()
    print(f"{'model':20} {'form':34} {'MACs':>14} {'params':>12} {'conv2d':>6} {'dense':>5} {'ms':>9} {'MiB':>8}")
    for model, paths in sorted(models.items()):
        if not any(key[0] == model for key in counted):
            continue
        first = {}
        for path in sorted(paths, key=lambda p: ".dynamo" in p.name):
            name = f"{path.parent.name}/{path.name}"
            got, error = measure(path)

            def differs(what, message):
                if (name, what) in explained:
                    used.add((name, what))
                    return
                problems.append(f"{name}: {what}: {message}")
            if got is None:
                differs("import", error)
                continue
            print(f"{model:20} {name[:34]:34} {got['macs']:14.0f} {got['params']:12.0f} {got['conv2d']:6} "
                  f"{got['dense']:5} {got['latency']:9.4f} {got['memory']:8.1f}")
            macs = counted.get((model, FRAMEWORK[path.parent.name]))
            if macs is not None and got["macs"] != macs:
                differs("macs", f"{got['macs']:.0f}, TWINS.tsv counts {macs}")
            group = macs if macs is not None else got["macs"]
            base = first.setdefault(group, got)
            for what, tolerance in TOLERANCE.items():
                if abs(got[what] / base[what] - 1) > tolerance:
                    differs(what, f"{got[what]:.4g} against {base[what]:.4g} of the model's first form")
    for key in sorted(set(explained) - used):
        problems.append(f"{key[0]}: {key[1]}: explained, but no longer differs")
    print(f"{len(models)} models; {len(problems)} problems")
    for p in problems:
        print("  " + p)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
