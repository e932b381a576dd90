#!/usr/bin/env python3
"""Kernels of whole models as perfc lists them beside those that ran, by family of operators.

    python3 studies/hopper/families.py --models MODELS [--group judge]

Where perfc and the profile have as many kernels of a family in a cell, they are paired in order. MODELS: the folder of
`python -m perfc.export` (README.md). A kernel's time counts with the gap behind it (profiles.GAP_US).
"""
import collections
import pathlib
import statistics
import sys

STUDIES = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(STUDIES), str(STUDIES / "kernels")]

import emitted  # noqa: E402
import judge  # noqa: E402
import profiles  # noqa: E402
import tables  # noqa: E402

OPERATORS = {
    "convolution": (("aten::cudnn_convolution", "aten::_conv_depthwise2d"), ("nn.conv2d", "nn.conv1d", "nn.conv3d")),
    "product": (("aten::addmm", "aten::mm", "aten::bmm", "aten::baddbmm"), ("nn.dense", "nn.batch_matmul")),
    "attention": (("aten::_efficient_attention_forward", "aten::_cudnn_attention_forward",
                   "aten::_flash_attention_forward"), ("nn.sdpa",)),
    "batch norm": (("aten::cudnn_batch_norm",), ("nn.batch_norm",)),
    "layer norm": (("aten::native_layer_norm",), ("nn.layer_norm",)),
    "softmax": (("aten::_softmax",), ("nn.softmax",)),
    "pooling": (("aten::max_pool2d_with_indices", "aten::avg_pool2d"), ("nn.max_pool2d", "nn.avg_pool2d")),
    "mean": (("aten::mean",), ("mean",)),
    "concatenation": (("aten::cat",), ("concatenate",)),
    "roll": (("aten::roll",), ("roll",)),
    "multiply": (("aten::mul",), ("multiply",)),
    "add": (("aten::add",), ("add",)),
    "activation": (("aten::gelu", "aten::silu", "aten::silu_", "aten::clamp_min", "aten::clamp_min_", "aten::hardswish",
                    "aten::hardswish_"), ("nn.gelu", "nn.silu", "nn.relu", "nn.hard_swish")),
}
RAN = {operator: family for family, (ran, _) in OPERATORS.items() for operator in ran}
LISTED = {operator: family for family, (_, listed) in OPERATORS.items() for operator in listed}
JOINED = {"convolution", "product", "attention", "batch norm", "layer norm"}


def listed(perfc, row, model):
    """perfc's kernels of a cell: (family, µs)."""
    for kernel in emitted.kernels(perfc, model, *judge.options(row)):
        family = LISTED.get(kernel["operators"].partition(" ")[0])
        if family:
            yield family, float(kernel["time_us"])


def pairs(args):
    """(family, dtype, order of channels) -> (perfc's µs, the profile's), and kernels that found no pair."""
    models, cells = judge.exported(args.models), profiles.by_cell(args.group)
    out, alone = collections.defaultdict(list), collections.Counter()
    for row in profiles.labels(args.group):
        if row["task"] != "infer" or row["mode"] != "eager" or row["target"] not in models:
            continue
        ran, said = collections.defaultdict(list), collections.defaultdict(list)
        for found in profiles.runs_of(cells[row["cell"]], lambda o: RAN.get(o) in JOINED):
            family = RAN.get(found[0].operator)
            if family:
                ran[family].append(sum(r.us + profiles.GAP_US for r in found))
        for family, us in listed(args.perfc, row, models[row["target"]]):
            said[family].append(us)
        for family, measured in ran.items():
            if len(measured) == len(said[family]):
                out[family, row["dtype"], row["layout"]] += zip(said[family], measured)
            else:
                alone[family] += len(measured)
    return out, alone


def main():
    args = judge.arguments(__doc__, cells=False)
    found, alone = pairs(args)
    print("| family | dtype | layout | kernels | measured ms | perfc ÷ measured, sum | MAPE |")
    print("|---|---|---|---|---|---|---|")
    for key, both in sorted(found.items(), key=lambda item: -sum(m for _, m in item[1])):
        measured = sum(m for _, m in both)
        error = tables.percent(statistics.mean(abs(s / m - 1) for s, m in both))
        print(f"| {' | '.join(key)} | {len(both)} | {measured / 1e3:.2f} | {sum(s for s, _ in both) / measured:.2f} | "
              f"{error} |")
    print("kernels without a pair:", ", ".join(f"{n} of {family}" for family, n in alone.most_common()) or "none")


if __name__ == "__main__":
    main()
