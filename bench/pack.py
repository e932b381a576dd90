#!/usr/bin/env python3
"""CPU time of `perfc pack` for 50 models on 16 GPUs, beside one prediction of the same run.

usage: bench/pack.py [--perfc build/release/perfc] [--rounds 3]

The models are ResNet-50 in 50 settings (batch, precision, layout, rate, latency limit, drawn once), each predicted on
every profile. Prints seconds, how many predictions of one report that is, GPUs and the proven gap; exits with 1 where
an objective takes more than 2 s.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "examples/resnet50.onnx"
LIMIT_S = 2


def workload() -> str:
    draw = random.Random(1)
    lines = ["models:"]
    for i in range(50):
        batch = draw.choice([1, 2, 4, 8, 16, 32])
        lines += [f"  - model: {MODEL}", f"    name: model-{i}", f"    batch: {batch}",
                  f"    dtype: {draw.choice(['fp16', 'amp', 'fp32'])}", f"    layout: {draw.choice(['nchw', 'nhwc'])}",
                  f"    rate: {draw.uniform(20, 600):.1f}"]
        if draw.random() < 0.5:
            lines.append(f"    max_latency_ms: {draw.uniform(60, 300) + 8 * batch:.1f}")
    return "\n".join(lines) + "\n"


def cpu_s(command) -> tuple[float, str]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime, out


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perfc", default=ROOT / "build/release/perfc")
    p.add_argument("--rounds", type=int, default=3)
    args = p.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "workload.yaml"
        path.write_text(workload())
        one = min(cpu_s([args.perfc, MODEL, "--batch", "8", "--json"])[0] for _ in range(args.rounds))
        print(f"{'objective':<12} {'CPU s':>6} {'predictions':>12} {'GPUs':>5} {'gap %':>6}")
        for options in (["gpus"], ["energy"], ["throughput"], ["gpus", "--mps"]):
            command = [args.perfc, "pack", "-w", path, "-n", "16", "--json", "--objective", *options]
            runs = [cpu_s(command) for _ in range(args.rounds)]
            best, plan = min(r[0] for r in runs), json.loads(runs[0][1])
            missed |= best > LIMIT_S
            print(f"{' '.join(options):<12} {best:>6.2f} {best / one:>12.0f} {plan['gpus_used']:>5} "
                  f"{100 * plan['gap']:>6.2f}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
