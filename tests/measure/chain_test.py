#!/usr/bin/env python3
"""From PyTorch models to better predictions on this machine: export, measure, dataset, calibrate, train, predict.

Networks and operators are measured on the CPU. A data sheet that promises twice what the CPU's own does is calibrated
on them, and a predictor trained on them: both must predict ten other architectures (zoo.HELD_OUT) better than the
whitebox does with that sheet, by at least WON of what the promise costs. Needs torch (support.torch_python).

usage: chain_test.py PERFC
"""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import ROOT, torch_python  # noqa: E402

TRAINING = [
    "mlp_small", "mlp_wide", "mlp_deep", "mlp_large", "plain_small", "plain_middle", "plain_large", "residual_small",
    "residual_middle", "residual_large", "inverted_small", "inverted_middle", "inverted_large", "text_small",
    "text_middle", "text_large"
]
OPERATORS = [
    "matmul?m=128,n=256,k=256", "batched_matmul?b=12,m=64,n=64,k=64", "conv2d?n=1,c=32,k=64,hw=56,window=3",
    "depthwise?n=1,c=64,hw=56,window=3", "attention?n=1,heads=8,length=64,width=64", "softmax?rows=128,width=2048",
    "layer_norm?rows=128,width=2048", "gelu?size=65536", "relu?size=256", "add?size=1048576",
    "copy?rows=1024,columns=1024", "take?rows=32768,width=64,count=1024"
]
HELD_OUT = ["vgg", "squeeze", "dense", "inception", "gated", "grouped", "autoencoder", "vit", "mixer", "bottleneck"]
DEVICE = "this-cpu"
PROMISED = 2  # times the rates of the CPU's own data sheet
WON = 0.5  # of the mean error in ln; six quiet and noisy runs won 0.66 to 0.95 of it back


def main(perfc: str) -> int:
    python = torch_python()
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(HERE)]), "PYTHONWARNINGS": "ignore"
    }
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        def run(*command, show=True) -> str:
            done = subprocess.run([str(c) for c in command], cwd=folder, env=environment, capture_output=True,
                                  text=True)
            if done.returncode:
                sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            if show:
                said = (done.stdout + done.stderr).strip().splitlines()
                print(f"{time.monotonic() - start:5.0f} s  {said[-1] if said else ''}", flush=True)
            return done.stdout

        home = pathlib.Path(folder)
        (home / "operators.txt").write_text("".join(f"op/{o}\n" for o in OPERATORS))
        (home / "training.txt").write_text("".join(f"zoo:{m} family={m.partition('_')[0]}\n" for m in TRAINING))
        (home / "held_out.txt").write_text("".join(f"zoo:{m} family={m}\n" for m in HELD_OUT))
        run(python, "-m", "perfc.export", "--out", "models", "--jobs", 2, "--list", "training.txt", "--list",
            "held_out.txt", "--list", "operators.txt")
        # In one run, so that both parts see the machine in the same state: cells alternate between families.
        run(python, "-m", "perfc.measure", "models/manifest.csv", "-o", "labels.csv", "--backend", "cpu", "--threads",
            1, "--device", DEVICE, "--batch", 1, "--runs", 10, "--seconds", 0.05)
        run(python, "-m", "perfc.dataset", "measured", "labels.csv", "--out", "data", "--test", "held_out.txt")
        run("taskset", "-c", min(os.sched_getaffinity(0)), python, "-m", "perfc.measure", "--describe", "stock.json",
            "--device", DEVICE)
        run(python, "-m", "perfc.measure", "--host", "--backend", "cpu", "--device", "here", "-o", "host.json")
        named = json.loads(run(perfc, "devices", "t4", "--host", "host.json", "--json", show=False))
        if named["devices"][0]["host"] != json.loads((home / "host.json").read_text())["hosts"][0]:
            sys.exit("perfc reads another host than python -m perfc.measure --host wrote")
        sheet = json.loads((home / "stock.json").read_text())
        for d in sheet["devices"]:
            d["vector_tflops"] = {k: PROMISED * v for k, v in d["vector_tflops"].items()}
            d["bandwidth_gb_s"] *= PROMISED
        (home / "promised.json").write_text(json.dumps(sheet))
        run(perfc, "devices", "calibrate", "data/labels.csv", "--device-file", "promised.json", "--predictor",
            "whitebox", "-o", "calibrated.json")
        run(perfc, "train", "--model", "corrected", "--data", "data/labels.csv", "--split", "data/all.csv",
            "--device-file", "calibrated.json", "--folds", 4, "--epochs", 10, "--threads", 1, "--quiet", "--out",
            "own.safetensors")

        def predicted_ms(file: str, batch: str, device_file: str, predictor: str) -> float:
            text = run(perfc, home / "data" / file, "--batch", batch, "--dtype", "fp32", "--device-file", device_file,
                       "--device", DEVICE, "--predictor", predictor, "--json", show=False)
            return json.loads(text)["predictions"][0]["latency_ms"]

        with open(home / "data" / "test.csv", newline="") as f:
            rows = [r for r in csv.DictReader(f)]
        ways = {
            "own": ("stock.json", "whitebox"), "promised": ("promised.json", "whitebox"), "calibrated": (
                "calibrated.json", "whitebox"), "trained": ("calibrated.json", "own.safetensors")
        }
        errors = {way: {} for way in ways}
        print(f"{'held out':<14}{'batch':>6}{'measured':>12}" + "".join(f"{way:>12}" for way in ways) + "  ms")
        for r in sorted(rows, key=lambda r: (r["architecture"], int(r["batch"]))):
            ms = float(r["latency_ms"])
            found = {way: predicted_ms(r["model"], r["batch"], *how) for way, how in ways.items()}
            for way, value in found.items():
                errors[way].setdefault(r["architecture"], []).append(abs(math.log(value / ms)))
            print(f"{r['architecture']:<14}{r['batch']:>6}{ms:>12.3f}" +
                  "".join(f"{value:>12.3f}" for value in found.values()))

    def mean(of: dict) -> float:
        return sum(sum(v) / len(v) for v in of.values()) / len(of)

    means = {way: mean(of) for way, of in errors.items()}
    print("mean error, as a factor: " + ", ".join(f"{way} {math.exp(m):.2f}" for way, m in means.items()) +
          f"; {time.monotonic() - start:.0f} s")
    problems = []
    if sorted(errors["own"]) != sorted(HELD_OUT):
        problems.append(f"measured of the ten: {', '.join(sorted(errors['own']))}")
    for way in ("calibrated", "trained"):
        if means[way] > (1 - WON) * means["promised"] + WON * means["own"]:
            problems.append(f"{way} predictions win back less than {WON:.0%} of what the promise costs")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
