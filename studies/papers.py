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
import pathlib

import judging

ROOT = pathlib.Path(__file__).resolve().parent.parent


def predicted(args, row):
    """The faster of a row's layouts."""
    layouts = ["nchw", "nhwc"] if row["layout"] == "best" else [row["layout"]]
    return min((judging.predicted(args.perfc, args.models / f"{row['model']}.json", "--batch", row["batch"], "--device",
                                  row["device"], "--dtype", row["dtype"], "--layout", layout, "--predictor",
                                  args.predictor) for layout in layouts), key=lambda p: p["latency_ms"])


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
            p = predicted(args, row)
            measured = 1e3 * int(row["batch"]) / float(row["images_s"])
            found[row["source"], row["device"], row["dtype"]].append(judging.beside(p, measured))
            if args.verbose:
                low, high = p["latency_ms_interval"]
                print(f"{row['source']:13} {row['device']:9} {row['dtype']} {row['model']:36} batch {row['batch']:>3} "
                      f"measured {measured:8.2f} ms, predicted ÷ measured {p['latency_ms'] / measured:.2f}, "
                      f"interval {low / measured:.2f} to {high / measured:.2f}")
    judging.print_table(["paper", "device", "dtype"], found.items())


if __name__ == "__main__":
    main()
