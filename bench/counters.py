#!/usr/bin/env python3
"""Training speed of the counter predictor's network beside PyTorch, on one core.

usage: PYTHON bench/counters.py [--seconds 5] [--rounds 3] [--batches 64,512]

PYTHON has PyTorch; build/release/perfc_counters_bench is built with -DPERFC_BENCH=ON. Both train
the same layers (16 inputs, three hidden layers of 1024, 4 outputs; Huber's loss, AdamW), take turns, and are measured
in CPU time of their fastest step: others may be using the machine. PyTorch's AdamW is measured as it is by default,
which is what the promised ratios are to (exit code 1 below them), and with fused=True.
"""
import argparse
import pathlib
import subprocess
import sys
import time

sys.path.pop(0)  # this folder, which has a torch.py of its own
import torch  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parent.parent / "build" / "release" / "perfc_counters_bench"
PROMISED = {64: 1.5, 512: 1.15}


def perfc_rows_per_s(batch: int, seconds: float) -> float:
    return float(subprocess.run([BENCH, str(batch), str(seconds)], capture_output=True, text=True, check=True).stdout)


def torch_rows_per_s(batch: int, seconds: float, fused: bool | None) -> float:
    torch.manual_seed(1)
    sizes = [16, 1024, 1024, 1024]
    layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(1024, 4))
    adam = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01, fused=fused)
    loss = torch.nn.HuberLoss()
    x, y = torch.randn(batch, 16), torch.randn(batch, 4)
    best = float("inf")
    end = time.process_time() + seconds
    while (start := time.process_time()) < end:
        adam.zero_grad()
        loss(net(x), y).backward()
        adam.step()
        best = min(best, time.process_time() - start)
    return batch / best


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--batches", default="64,512")
    args = p.parse_args()
    torch.set_num_threads(1)
    print(
        f"PyTorch {torch.__version__}\n{'batch':>5} {'perfc rows/s':>13} {'PyTorch rows/s':>15} {'ratio':>6} "
        f"{'promised':>9} {'fused AdamW':>12} {'ratio':>6}"
    )
    missed = False
    for batch in map(int, args.batches.split(",")):
        turns = [(perfc_rows_per_s(batch, args.seconds), torch_rows_per_s(
            batch, args.seconds, None), torch_rows_per_s(batch, args.seconds, True)) for _ in range(args.rounds)]
        ours, theirs, fused = (max(t[i] for t in turns) for i in range(3))
        promised = PROMISED.get(batch)
        missed |= promised is not None and ours / theirs < promised
        print(
            f"{batch:>5} {ours:>13.0f} {theirs:>15.0f} {ours / theirs:>6.2f} {promised if promised else '':>9} "
            f"{fused:>12.0f} {ours / fused:>6.2f}",
            flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
