#!/usr/bin/env python3
"""Products of groups of rows with a matrix each: PyTorch's kernel for them, and fused layers of experts.

    python3 studies/kernels/grouped_products.py [--perfc build/release/perfc] [--judge --shared ../shared]

grouped_products.tsv: torch._grouped_mm in bfloat16 as people measured it, µs (torchao's and PyTorch's threads of those
numbers; of #163425 in s, which are ms by their FLOPs; of #169336 the column that falls to 33 µs, for its other one has
CuTeDSL's 83 µs of Python; its GPU is taken for a B200). `fit` rows find the two constants of PyTorch's kernel beside
batched products of as many rows as its tiles have: rows of unequal groups end half a tile away from the last one's end,
those of #169336 on it. Of `judge` rows each group has a matrix on both sides.

--judge: layers of experts of shared/data/datacenter/moe in bfloat16 as vLLM ran them (0.14 on A100, 0.24 elsewhere;
Triton's kernels, on Blackwell TensorRT-LLM's, tuned for each GPU), beside the same products in a runtime that has such
kernels, activation included. Nothing was fitted to them.
"""
import csv
import math
import pathlib
import random
import statistics
import tempfile

import emitted
import numpy as np
from product_data import NAMES

HERE = pathlib.Path(__file__).resolve().parent
BATCHED = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[({groups}, {m}, {k}), bfloat16]) {{
  %1 = weight : Tensor[({groups}, {k}, {n}), bfloat16];
  %2 = nn.batch_matmul(%x, %1) @product;
  (%2)
}}
"""
EXPERTS = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[({rows}, {hidden}), bfloat16], %ends: Tensor[({groups},), int32]) {{
  %2 = weight : Tensor[({groups}, {gated}, {hidden}), bfloat16];
  %3 = nn.grouped_matmul(%x, %2, %ends, transB=1) @up;
  %4 = nn.glu(%3, axis=-1) @activation;
  %5 = weight : Tensor[({groups}, {hidden}, {inner}), bfloat16];
  %6 = nn.grouped_matmul(%4, %5, %ends, transB=1) @down;
  %7 = nn.silu(%6) @sum_of_a_token;
  (%7)
}}
"""
SMALL, SMALL_TILE, TILE = 128, 128, 256  # kSmallGroup, kSmallGroupedTile, kGroupedTile of whitebox/constants/products.h
EACH = 300  # layers of a device that judge, drawn by a fixed seed
VERSIONS = {"a100-sxm": "0.14.0"}  # of vLLM, where not the last
SORTING_US = 6  # two small kernels that sort rows by expert


def batched_us(perfc, folder, r):
    """Time of batched products of the rows that the kernel's tiles have."""
    groups, rows, n = int(r["groups"]), int(r["rows"]), int(r["n"])
    m = rows / groups
    tile = SMALL_TILE if m <= SMALL or n <= SMALL or r["device"] == "b200" else TILE
    ends_on_tile = r["device"] == "b200" or r["of"] == "judge"
    m = math.ceil(m / tile) * tile if ends_on_tile else m + tile / 2
    model = pathlib.Path(folder) / "batched.pir"
    model.write_text(BATCHED.format(groups=groups, m=round(m), n=n, k=r["k"]))
    return emitted.predicted_us(perfc, model, r["device"], "bf16", "kind", "matmul")


def fit(perfc):
    with open(HERE / "grouped_products.tsv", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    with tempfile.TemporaryDirectory() as folder:
        base = np.array([batched_us(perfc, folder, r) for r in rows])
    us = np.array([float(r["us"]) for r in rows])
    fitted = np.array([r["of"] == "fit" for r in rows])

    def errors(factor, first):
        return np.abs((factor * base + first) / us - 1)

    choices = [(float(np.mean(errors(f, t)[fitted])), f, t) for f in np.arange(1, 1.5, 0.01) for t in range(41)]
    _, factor, first = min(choices)
    print(f"kGroupedTime = {factor:.2f}, kGroupedLaunchUs = {first}")
    for r, b, measured in zip(rows, base, us):
        print(f"{r['of']:5} {r['device']:8} {r['groups']:>3} groups {r['rows']:>7} rows n {r['n']:>5} k {r['k']:>5}: "
              f"{measured:9.1f} us, predicted / measured {(factor * b + first) / measured:.2f}, "
              f"batched {b / measured:.2f}")
    for device in ("h100-sxm", "h200", "b200"):
        of = fitted & np.array([r["device"] == device for r in rows])
        print(f"{device}: {100 * errors(factor, first)[of].mean():.1f} % of {of.sum()} "
              f"(batched products {100 * errors(1, 0)[of].mean():.1f} %)")


def layers(shared):
    """(device, tokens, hidden, inner, experts of a token, experts) → measured µs, the mean of the distributions."""
    out = {}
    for r in emitted.datacenter(shared, "moe"):
        version = VERSIONS.get(r["device"], "0.24.0")
        whole = r["framework"] == "vllm" and r["version"] == version and r["moe_ep_size"] == "1"
        if r["moe_dtype"] != "bfloat16" or not whole:
            continue
        inner = int(r["inter_size"]) // int(r["moe_tp_size"])
        key = (r["device"], *(int(r[c]) for c in ("num_tokens", "hidden_size")), inner,
               *(int(r[c]) for c in ("topk", "num_experts")))
        out.setdefault(key, []).append(float(r["latency_ms"]) * 1e3)
    return {key: statistics.mean(all_of) for key, all_of in out.items()}


def judge(perfc, shared):
    measured = layers(shared)
    chosen = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "experts.pir"
        for device in sorted({key[0] for key in measured}):
            keys = sorted(key for key in measured if key[0] == device)
            ratios = {}
            for key in chosen.sample(keys, min(EACH, len(keys))):
                _, tokens, hidden, inner, each, experts = key
                model.write_text(EXPERTS.format(rows=tokens * each, hidden=hidden, inner=inner, gated=2 * inner,
                                                groups=experts))
                found = emitted.kernels(perfc, model, "--device", NAMES[device], "--dtype", "bf16", "--runtime",
                                        "onnxruntime")
                us = sum(float(k["time_us"]) for k in found) + SORTING_US
                rows = tokens * each / experts
                few = "less than a row each" if rows < 1 else "up to 64 rows each" if rows < 64 else "more"
                for part in (few, "all"):
                    ratios.setdefault(part, []).append(us / measured[key])
            for part in sorted(ratios):
                print(f"{device:8} {part:20} {len(ratios[part]):4} layers: {emitted.summary(ratios[part])}")


def main():
    args = emitted.arguments(__doc__)
    if args.judge:
        judge(args.perfc, args.shared)
    else:
        fit(args.perfc)


if __name__ == "__main__":
    main()
