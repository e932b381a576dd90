#!/usr/bin/env python3
"""Judges perfc on a course's language models as students timed them on an A100, an A10 and an RTX 5090, in eager mode.

    PYTHONPATH=python /tmp/venv/bin/python studies/exercise/make_models.py --out build/exercise      (torch)
    python3 studies/exercise/judge.py --models build/exercise [--perfc build/release/perfc] [--verbose]

measured.tsv has what they published: the mean of ten calls after five, in float32 or under autocast in bfloat16 (A10),
of the forward pass (infer) or of it and the backward pass (train; perfc adds SGD's pass over the weights, 1 to 3 %).
Batches of 4. Every look is a row of docs/judged.md; what is seen here must not change the program.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tables  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--perfc", type=pathlib.Path, default=HERE.parent.parent / "build/release/perfc")
    parser.add_argument("--host", help="of perfc's")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    found = collections.defaultdict(list)
    with open(HERE / "measured.tsv", newline="") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            options = ["--host", args.host] if args.host else []
            text = subprocess.check_output(
                [args.perfc, args.models / f"{row['model']}-{row['context']}.json", "--device", row["device"],
                 "--dtype", row["dtype"], "--task", row["task"], "--optimizer", "sgd", "--json", "--quiet", *options],
                text=True)
            p = json.loads(text)["predictions"][0]
            measured, bound = float(row["ms"]), "host" if p["host_ms"] > p["device_ms"] else "device"
            low, high = p["latency_ms_interval"]
            key = row["device"], row["dtype"], row["task"], bound
            found[key].append((p["latency_ms"] / measured, low <= measured <= high))
            if args.verbose:
                print(f"{' '.join(key):32} {row['model']:6} {row['context']:>4} measured {measured:8.1f} ms, "
                      f"predicted ÷ measured {p['latency_ms'] / measured:.2f}, host {p['host_ms']:.1f} ms", flush=True)
    print("| device | dtype | task | bound by | rows | MAPE | median predicted ÷ measured | in the interval |")
    print("|---|---|---|---|---|---|---|---|")
    for key, rows in sorted(found.items()):
        print(f"| {' | '.join(key)} | {tables.judged(rows)} |")


if __name__ == "__main__":
    main()
