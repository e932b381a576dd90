#!/usr/bin/env python3
"""Predictions per second of `perfc sweep`, beside one thread and beside single calls of the same run.

usage: bench/sweep.py FOLDER [--perfc build/release/perfc] [--models 200]

FOLDER has models, as `build/timm` after the test `timm`; of them --models are taken, evenly. Batches 1, 8 and 32 on six
devices. Prints wall and CPU time, since other work on the machine slows the former. Where perfc-mpi is built, two ranks
take turns with two threads, and their rates without mpirun's own start are compared. Exits with 1 where two threads
make fewer than 1,500 predictions per second, two ranks fewer than 0.9 of theirs (median of --rounds), or calls of
`perfc` for one model each are faster than one thread.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support import MPI_ENVIRONMENT, as_ranks  # noqa: E402

DEVICES = "a100-40gb,h100-sxm,rtx4090,rtx3090,l4,t4"
OPTIONS = ["--batch", "1,8,32", "--device", DEVICES]
PER_MODEL = 3 * 6
GOAL = 1500
GOAL_OF_RANKS = 0.9
CALLS = 10  # single calls, of as many models


def timed(*command) -> tuple[float, float]:
    """Wall and CPU seconds."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = os.times()
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return (time.monotonic() - start,
            after.children_user + after.children_system - before.children_user - before.children_system)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--perfc", default=ROOT / "build/release/perfc")
    p.add_argument("--models", type=int, default=200)
    p.add_argument("--rounds", type=int, default=5, help="of two threads beside two ranks")
    args = p.parse_args()
    found = sorted(f for f in args.folder.rglob("*.onnx") if f.is_file())
    if not found:
        sys.exit(f"{args.folder} has no .onnx")
    models = found[::max(1, len(found) // args.models)][:args.models]
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, model in enumerate(models):
            (pathlib.Path(folder) / f"{i:05}-{model.name}").symlink_to(model.resolve())
        print(f"{'':<14} {'models':>6} {'wall s':>7} {'CPU s':>7} {'per s':>7} {'per CPU s':>9}")
        cases = {"two threads": ([folder], len(models), 2), "one thread": ([folder], len(models), 1)}
        for name, (given, count, threads) in cases.items():
            rates[name] = report(name, count, *timed(args.perfc, "sweep", *given, *OPTIONS, "--threads", threads))
        ratio = ranks_to_threads(args, folder, len(models)) if args.perfc.with_name("perfc-mpi").exists() else None
        few = models[::max(1, len(models) // CALLS)][:CALLS]
        singles = [timed(args.perfc, "sweep", m, *OPTIONS) for m in few]
        rates["single calls"] = report("single calls", len(few), sum(s[0] for s in singles), sum(s[1] for s in singles))
    slow = rates["two threads"] < GOAL or rates["single calls"] > rates["one thread"]
    return 1 if slow or (ratio is not None and ratio < GOAL_OF_RANKS) else 0


def rate_told(*command) -> float:
    """Rows per second as the sweep tells them."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **MPI_ENVIRONMENT})
    told = re.search(r"([0-9]+) rows per second", done.stderr)
    if not told:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return float(told[1])


def ranks_to_threads(args, folder: str, models: int) -> float:
    ratios = []
    for _ in range(args.rounds):
        sweep = [args.perfc, "sweep", folder, *OPTIONS, "--threads"]
        threads, ranks = rate_told(*sweep, 2), rate_told(*as_ranks(2, *sweep, 1))
        ratios.append(ranks / threads)
        print(f"{models} models, per s: two threads {threads:.0f}, two ranks {ranks:.0f}: {ratios[-1]:.2f}", flush=True)
    print(f"two ranks / two threads: median {statistics.median(ratios):.2f}")
    return statistics.median(ratios)


def report(name: str, models: int, wall: float, cpu: float) -> float:
    rows = models * PER_MODEL
    print(f"{name:<14} {models:>6} {wall:>7.2f} {cpu:>7.2f} {rows / wall:>7.0f} {rows / cpu:>9.0f}", flush=True)
    return rows / wall


if __name__ == "__main__":
    sys.exit(main())
