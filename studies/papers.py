#!/usr/bin/env python3
"""Judges perfc on the throughputs that papers on vision networks print, which nothing in it was fitted to.

    tar -xJf ../shared/graphs/timm_torchscript.tar.xz -C build/timm_ts
    python3 studies/papers.py --models build/timm_ts [--perfc build/release/perfc] [--verbose]

studies/papers.tsv has the rows, 114 of them: DeiT (arXiv 2012.12877, table 5), Swin (2103.14030, table 1), Twins
(2104.13840, table 1 as later papers print it), ConvNeXt (2201.03545, tables 1, 2 and 12) and InceptionNeXt
(2303.16900, table 4): PyTorch 1.7 to 1.13, eager, images per second on a V100 and an RTX 2080 Ti in float32 and on an
A100 in TF32. Batches are those of the papers' scripts; DeiT's, "the largest possible", is taken as 64. layout best: the
faster of the two, as InceptionNeXt's authors report. The graphs are timm's of the same architectures; their attention
is one kernel, which PyTorch has since 2.0, and was several in these runs.

Every look is a row of docs/judged.md.
"""
import argparse
import collections
import csv
import json
import pathlib
import subprocess

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent


def predicted(args, row, layout):
    """Milliseconds, and their interval."""
    text = subprocess.check_output(
        [args.perfc, args.models / f"{row['model']}.json", "--batch", row["batch"], "--device", row["device"],
         "--dtype", row["dtype"], "--layout", layout, "--predictor", args.predictor, "--json", "--quiet"], text=True)
    p = json.loads(text)["predictions"][0]
    return p["latency_ms"], *p["latency_ms_interval"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--perfc", type=pathlib.Path, default=ROOT / "build/release/perfc")
    parser.add_argument("--predictor", default="default")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    found = collections.defaultdict(list)
    with open(ROOT / "studies/papers.tsv", newline="") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            layouts = ["nchw", "nhwc"] if row["layout"] == "best" else [row["layout"]]
            ms, low, high = min(predicted(args, row, layout) for layout in layouts)
            measured = 1e3 * int(row["batch"]) / float(row["images_s"])
            found[row["source"], row["device"], row["dtype"]].append((ms / measured, low <= measured <= high))
            if args.verbose:
                print(f"{row['source']:13} {row['device']:9} {row['dtype']} {row['model']:36} batch {row['batch']:>3} "
                      f"measured {measured:8.2f} ms, predicted ÷ measured {ms / measured:.2f}, "
                      f"interval {low / measured:.2f} to {high / measured:.2f}")
    print("| paper | device | dtype | rows | MAPE | median predicted ÷ measured | in the 90 % interval |")
    print("|---|---|---|---|---|---|---|")
    for key, rows in found.items():
        print(f"| {' | '.join(key)} | {tables.judged(rows)} |")


if __name__ == "__main__":
    main()
