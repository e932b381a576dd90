#!/usr/bin/env python3
"""Kernels of training steps as perfc lists them beside those that ran, by family of operators, forwards and backwards.

    python3 studies/hopper/training.py --models MODELS [--only REGEX] [--cells]

Only `fit` and `fit-training` are read. MODELS: the folder of `python -m perfc.export` (README.md). A kernel's time
counts with the gap behind it (profiles.GAP_US); perfc's backward pass is what it lists beyond `--task forward`.
"""
import argparse
import collections
import pathlib
import re
import statistics
import sys

STUDIES = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(STUDIES), str(STUDIES / "kernels")]

import emitted  # noqa: E402
import families  # noqa: E402
import judge  # noqa: E402
import profiles  # noqa: E402
import tables  # noqa: E402

#: family -> PyTorch's operators (without aten:: and, backwards, _backward), perfc's: those that only steps have
MORE = {
    "convolution": ("convolution", ""),
    "batch norm": ("native_batch_norm", ""),
    "attention": ("_efficient_attention _cudnn_attention _flash_attention", ""),
    "sum": ("sum", "sum_axes"),
    "cast and copy": ("copy_", "cast copy reshape"),
    "activation": ("threshold tanh sigmoid hardsigmoid hardsigmoid_", "tanh sigmoid nn.hard_sigmoid"),
    "add": ("add_", "nn.bias_add"),
    "softmax": ("_softmax_backward_data", ""),
}
RAN = families.RAN | {f"aten::{o}": family for family, (ran, _) in MORE.items() for o in ran.split()}
LISTED = families.LISTED | {o: family for family, (_, listed) in MORE.items() for o in listed.split()}
OPTIMIZER = "optimizer"


def ran_family(row):
    """What a kernel of the profile is, and in which pass."""
    if row.operator.startswith("aten::_foreach"):
        return OPTIMIZER, "backwards"
    backwards = "autograd" in row.call or row.operator.endswith("_backward")
    return RAN.get(row.operator.removesuffix("_backward"), "other"), "backwards" if backwards else "forwards"


def ran(kernels):
    """(family, pass) -> µs and kernels of the profile."""
    out = collections.defaultdict(lambda: [0, 0])
    for row in kernels:
        both = out[ran_family(row)]
        both[0] += row.us + profiles.GAP_US
        both[1] += 1
    return out


def said(perfc, row, model):
    """The same of perfc's."""
    options = judge.options(row)
    forwards = len(list(emitted.kernels(perfc, model, *["forward" if o == "train" else o for o in options])))
    kernels = list(emitted.kernels(perfc, model, *options))
    calls = {k["node"] for k in kernels[:forwards]}
    out = collections.defaultdict(lambda: [0, 0])
    for i, kernel in enumerate(kernels):
        operator = kernel["operators"].partition(" ")[0]
        # The optimizer's kernels stand under a parameter's name.
        optimizes = i >= forwards and kernel["node"] not in calls and re.search(r"weight|bias|gamma", kernel["node"])
        family = OPTIMIZER if optimizes else LISTED.get(operator, "other")
        both = out[family, "forwards" if i < forwards else "backwards"]
        both[0] += float(kernel["time_us"]) * float(kernel["repeat"])
        both[1] += float(kernel["repeat"])
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--models", required=True)
    p.add_argument("--perfc", default="build/release/perfc")
    p.add_argument("--only", default="", help="cells whose names this matches")
    p.add_argument("--cells", action="store_true", help="print each")
    args = p.parse_args()
    models = judge.exported(args.models)
    total, ratios = collections.defaultdict(lambda: [0, 0, 0, 0]), []
    for group in ("fit", "fit-training"):
        cells = profiles.by_cell(group)
        for row in profiles.labels(group):
            kept = row["task"] == "train" and row["target"] in models and row["cell"] in cells
            if not kept or not re.search(args.only, row["cell"]):
                continue
            measured, predicted = ran(cells[row["cell"]]), said(args.perfc, row, models[row["target"]])
            for key in {*measured, *predicted}:
                for i, x in enumerate((*measured[key], *predicted[key])):
                    total[key][i] += x
            ratios.append(sum(us for us, _ in predicted.values()) / sum(us for us, _ in measured.values()))
            if args.cells:
                print(f"{row['cell']:66} perfc ÷ measured {ratios[-1]:.2f}")
    print("| family | pass | measured ms | kernels | perfc ÷ measured | perfc's kernels |\n|---|---|---|---|---|---|")
    for (family, which), (us, kernels, our_us, our) in sorted(total.items(), key=lambda item: -item[1][0]):
        share = f"{our_us / us:.2f}" if us else "–"
        print(f"| {family} | {which} | {us / 1e3:.1f} | {kernels} | {share} | {our:.0f} |")
    error = tables.percent(statistics.mean(abs(r - 1) for r in ratios))
    print(f"\n{len(ratios)} steps: MAPE {error} %, median {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
