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
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402


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
            p = judging.predicted(args.perfc, args.models / f"{row['model']}-{row['context']}.json", "--device",
                                  row["device"], "--dtype", row["dtype"], "--task", row["task"], "--optimizer", "sgd",
                                  *judging.host(args))
            measured = float(row["ms"])
            key = row["device"], row["dtype"], row["task"], "host" if judging.is_host_bound(p) else "device"
            found[key].append(judging.beside(p, measured))
            if args.verbose:
                print(f"{' '.join(key):32} {row['model']:6} {row['context']:>4} measured {measured:8.1f} ms, "
                      f"predicted ÷ measured {p['latency_ms'] / measured:.2f}, host {p['host_ms']:.1f} ms", flush=True)
    judging.print_table(["device", "dtype", "task", "bound by"], sorted(found.items()))


if __name__ == "__main__":
    main()
