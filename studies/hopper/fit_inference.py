#!/usr/bin/env python3
"""Fits what convolutions of images, of groups and by spectra, products of few rows and attention take on Hopper to an
H200's profiles (README.md).

    python3 studies/hopper/fit_inference.py        (numpy, scipy, numba, pandas)

Only `operators` and the cells of `fit` are read. Prints constants of `whitebox`, under the names that they have there,
as they are fitted, in brackets as they ship: kernels, MAPE, the median of what either says over what they took.
"""
import json
import math
import re

import numpy as np

import fit
import profiles
from inference import BANDWIDTH, BYTES, LAUNCH_US, SHIPPED, SM_CLOCKS, once, refit, report_shipped, rows_of, tables

import shipped  # found by inference's path

GAP_US = SHIPPED["kStreamGapUs"]
HALF = ("fp16", "bf16")
LEAST = ["kDepthwiseLeastUs", "kDepthwiseElementUs"]
KEY = ("dtype", "last", "n", "c", "plane", "k", "window", "stride", "groups", "positions")


def spectrum_parts(call):
    """µs of a convolution's flipped weights and their transform, of the others, of its complex products."""
    parts, transforms = [0, 0, 0], 0
    for k in call:
        transforms += "fft2d" in k.kernel
        of = 0 if "flip_filter" in k.kernel else min(transforms - 1, 1) if "fft2d" in k.kernel else 2
        parts[of] += (k.us + profiles.GAP_US) * (not any(b in k.kernel for b in profiles.BESIDE))
    return parts


def convolutions():
    """Each once, as of profiles.convolution: also elements, byte, a group's channels, names of all kernels; µs with the
    gaps behind them of its own kernels, of all and of spectra's parts."""
    found = []
    for cell, kernels in tables():
        for call in profiles.runs_of(kernels, lambda o: o == "aten::cudnn_convolution"):
            of = profiles.convolution(cell, call)
            if not of:
                continue
            own, weights = of.pop("kernels"), of["k"] * of["c"] // of["groups"] * of["window"]
            grids = [math.prod(json.loads(k.grid)) for k in call if k.kernel in own]
            data, results = of["n"] * of["c"] * of["plane"], of["n"] * of["k"] * of["positions"]
            of |= {"us": of["us"] + profiles.GAP_US * len(own), "data": data, "results": results,
                   "all_us": sum(k.us + profiles.GAP_US for k in call), "grids": grids,
                   "names": " ".join(k.kernel for k in call),
                   "spectrum_us": spectrum_parts(call),
                   "bytes": fit.WIDTHS[of["dtype"]] * (data + results + weights),
                   "width": min(of["c"], of["k"]) // of["groups"]}
            found.append((tuple(of[k] for k in KEY), of))
    return once(found)


def with_all(rows):
    return [{**r, "us": r["all_us"]} for r in rows]


def depthwise_kind(of):
    """Of which constants, as depthwise_blocks and depthwise_clocks of whitebox/launch have it on Hopper."""
    half = of["dtype"] in HALF
    if of["last"]:
        tiled = half and of["n"] >= SHIPPED["kTiledImages"]
        return "kDepthwiseTiled" if tiled else "kDepthwiseLast16" if half else "kDepthwiseLast32"
    if of["window"] > SHIPPED["kLargeWindow"]:
        return "kDepthwiseGeneric"
    if of["dtype"] != "fp16":
        return "kDepthwiseOwn"
    return "kDepthwiseFirstStrided" if of["stride"] > 1 else "kDepthwiseFirst"


def depthwise_grid(of):
    """Thread blocks, as whitebox/launch/depthwise_blocks.cpp."""
    kind, side = depthwise_kind(of), math.isqrt(of["positions"])
    if kind == "kDepthwiseFirst":
        groups = of["n"] * math.ceil(of["c"] / 8)
        if side <= 16:
            return groups * (0.5 if 2 * side <= 16 else 1)
        return groups * math.ceil(side / 10) * math.ceil(side / 40)
    if kind == "kDepthwiseTiled":
        threads = math.ceil(side / (2 if of["stride"] > 1 else 3)) * 4 * math.ceil(side / 8)
        return math.ceil(of["n"] * threads * of["c"] / 8 / 128)
    if kind == "kDepthwiseFirstStrided":
        return of["results"] / 512  # that the clocks are of
    return math.ceil(of["n"] * of["c"] * math.ceil(side / 2)**2 / 256)


def depthwise_block_us(c, of):
    """As block_clocks there and price_blocks of roofline.cpp."""
    first, element, block3, block5, block7, strided = (np.array([c[k][i] for k in of["kind"]]) for i in range(6))
    clocks = np.interp(of["window"], [9, 25], [0, 1]) * (block5 - block3) + block3
    clocks = np.where(of["window"] > 25, block5 + (of["window"] - 25) / 24 * (block7 - block5), clocks)
    work = of["grid"] * clocks * np.where(of["stride"] > 1, strided, 1) / SM_CLOCKS
    return (first + element * of["window"]) / profiles.CLOCK_MHZ + np.maximum(work, of["bytes"] / BANDWIDTH) + GAP_US


def depthwise_us(c, of):
    """PyTorch's own, as whitebox/price/depthwise.cpp."""
    result, element, strided = (np.array([c[k][i] for k in of["kind"]]) for i in range(3))
    clocks = (result + element * of["window"]) * np.where(of["stride"] > 1, strided, 1)
    least = c["kDepthwiseLeastUs"] + c["kDepthwiseElementUs"] * of["window"]
    return np.maximum.reduce([of["results"] * clocks / SM_CLOCKS, of["bytes"] / BANDWIDTH, least]) + GAP_US


def depthwise(found):
    rows = [{**r, "kind": depthwise_kind(r)} for r in with_all(found)
            if 1 < r["groups"] == r["c"] == r["k"] and math.isqrt(r["plane"])**2 == r["plane"]]
    for kind in ("kDepthwiseFirst", "kDepthwiseFirstStrided", "kDepthwiseTiled", "kDepthwiseLast16",
                 "kDepthwiseLast32"):
        refit([kind], depthwise_block_us, [{**r, "grid": depthwise_grid(r)} for r in rows if r["kind"] == kind])
    told = [r for r in rows if "conv2d_c1_k1_nhwc" in r["names"]]
    others = sum(r["last"] for r in rows) - len(told)
    equal = sum([depthwise_grid(r)] == r["grids"] for r in told)
    print(f"grids of conv2d_c1_k1_nhwc: {equal} of {len(told)}; other kernels channels last: {others}")
    own = [r for r in rows if r["kind"] in ("kDepthwiseOwn", "kDepthwiseGeneric")]
    for kind in ("kDepthwiseOwn", "kDepthwiseGeneric"):
        refit([kind], depthwise_us, [r for r in own if r["kind"] == kind])
    refit(LEAST, depthwise_us, own)


def block_us(tile, of):
    """Blocks of one LaneTile over one group, as fastest_s of whitebox/price/lane_blocks.cpp."""
    rows, columns, clocks, alone, epilogue = tile
    blocks = np.ceil(of["n"] * of["positions"] / rows) * np.ceil(of["k"] / of["groups"] / columns)
    per_sm, k = np.ceil(blocks / profiles.SMS), of["c"] / of["groups"] * of["window"]
    return np.maximum((k * np.maximum(per_sm * clocks, alone) + per_sm * epilogue) / profiles.CLOCK_MHZ,
                      of["bytes"] / of["groups"] / BANDWIDTH)


def lane_groups_us(c, of):
    one = (block_us(c["kLaneGroups"], of) + c["kLaneGroupUs"]) * np.where(of["last"], c["kLaneGroupsLast"], 1)
    each = of["groups"] * (one + GAP_US)
    return np.where(~of["last"] & (of["n"] == 1), np.minimum(each, c["kDirectGroupsUs"] + GAP_US), each)


def group_kernel_us(c, of):
    clocks = np.where(np.isin(of["dtype"], HALF), c["kGroupClocks16"], c["kGroupClocks32"])
    work = np.maximum.reduce([of["results"] * clocks / SM_CLOCKS, of["bytes"] / BANDWIDTH,
                              np.full(len(clocks), c["kGroupLeastUs"])])
    return work + LAUNCH_US


def padded_us(name):
    def law(c, of):
        data, result, us, group_us = c[name]
        return (data * of["data"] + result * of["results"]) / SM_CLOCKS + us + group_us * of["groups"]
    return law


def groups(found):
    rows = [r for r in with_all(found) if r["groups"] > 1 < r["width"]]
    lanes = [r for r in rows if r["dtype"] == "fp32"]
    refit(["kLaneGroups", "kLaneGroupUs"], lane_groups_us,
          [r for r in lanes if r["n"] > 1 and "implicit_convolve_sgemm" in r["names"]], held=2)
    refit(["kLaneGroupsLast"], lane_groups_us, [r for r in lanes if "float_NHWC" in r["names"]])
    refit(["kDirectGroupsUs"], lane_groups_us, [r for r in lanes if "grouped_direct" in r["names"]])
    report_shipped("groups of an image one by one, as they lie", lane_groups_us,
                   [r for r in lanes if r["n"] == 1 and not r["last"] and "grouped_direct" not in r["names"]])
    report_shipped("groups channels last, converted", lane_groups_us,
                   [r for r in lanes if r["last"] and "float_NHWC" not in r["names"]])

    def own(r):
        power = r["width"] >= 4 and r["width"] & (r["width"] - 1) == 0
        return power and r["groups"] * r["width"] % 64 == 0 and (r["groups"] >= 32 or r["width"] >= 64)
    cores = [r for r in found if r["groups"] > 1 < r["width"] and r["dtype"] != "fp32"]
    refit(["kGroupClocks16", "kGroupClocks32", "kGroupLeastUs"], group_kernel_us,
          [r for r in cores if own(r) and "xmma_fprop" in r["names"]])
    others = [r for r in with_all(cores) if not own(r) and "sgemm" not in r["names"] and "float_NHWC" not in r["names"]
              and "f32f32_f32f32" not in r["names"]]
    for name, wanted in (("kPaddedFirst", lambda r: not r["last"]),
                         ("kCutLast", lambda r: r["last"] and r["groups"] <= SHIPPED["kFewGroups"]),
                         ("kPaddedLast", lambda r: r["last"] and r["groups"] > SHIPPED["kFewGroups"])):
        refit([name], padded_us(name), [r for r in others if wanted(r)])


def spectra(found):
    """The parts of spectrum_s of whitebox/price/lane_blocks.cpp: transforms of weights, of data, products."""
    parts = {
        "kSpectrumWeightUs": lambda c, of: c["kSpectrumWeightUs"] * of["c"] * of["k"],
        "kSpectrumDataUs": lambda c, of: c["kSpectrumDataUs"] * of["n"] * (of["c"] + of["k"]),
        "kSpectrumShare": lambda c, of: c["kFrequencies"] * of["n"] * of["c"] * of["k"] * c["kComplexFlops"] /
        (c["kSpectrumShare"] * fit.PEAKS["fp32"]) * 1e6}
    rows = [r for r in found if "fft2d_r2c_32x32" in r["names"] and r["groups"] == 1]
    for i, (name, law) in enumerate(parts.items()):
        refit([name], law, [{**r, "us": r["spectrum_us"][i]} for r in rows])
    report_shipped("spectra, all parts", lambda c, of: sum(law(c, of) for law in parts.values()), rows)


def few_rows_us(c, of):
    waves = np.maximum(1, of["columns"] / c["kFewRowsColumns"] / (2 * profiles.SMS))
    return c["kFewRowsUs"] + c["kFewRowsStepUs"] * of["k"] * waves


def few_rows():
    found = [{"columns": batch * max(m, n), "k": k, "us": us}
             for (batch, m, n, k), us in fit.products(("fp32",)) if 1 < min(m, n) <= SHIPPED["kFewRows"]]
    refit(["kFewRowsUs", "kFewRowsStepUs"], few_rows_us, found)


def lane_image_us(name):
    def law(c, of):
        return block_us(c[name], of) + c["kLaneGroupUs"] + GAP_US
    return law


def image_tiles_us(c, of):
    """As image_us of whitebox/price/hopper_convolution.cpp, its first kernel."""
    tiles = np.ceil(of["n"] * of["positions"] / c["kImageRows"]) * np.ceil(of["k"] / c["kImageColumns"])
    all_us = tiles * (c["kImageTileClocks"] + c["kImageElementClocks"] * of["window"]) / SM_CLOCKS
    alone_us = (c["kImageAloneClocks"] + c["kImageAlone"] * of["window"]) / profiles.CLOCK_MHZ
    return np.maximum(all_us, alone_us) + LAUNCH_US


def filled_image_us(c, of):
    """… its last."""
    columns = np.where(of["k"] <= c["kFilledColumns"] / 2, c["kFilledColumns"] / 2, c["kFilledColumns"])
    blocks = np.ceil(of["n"] * of["positions"] * columns / c["kFilledTile"]) * np.ceil(of["k"] / columns)
    return np.ceil(blocks / profiles.SMS) * (of["window"] * c["kFilledElementUs"] + c["kFilledUs"]) + LAUNCH_US


def padding_us(c, of):
    return c["kImagePaddingClocks"] * of["data"] / SM_CLOCKS + 2 * LAUNCH_US


def images(found):
    rows = [r for r in found if r["groups"] == 1 and r["c"] <= fit.FIRST_CHANNELS and r["positions"] > 1]
    lanes = [r for r in rows if r["dtype"] == "fp32"]

    def middle(r):
        return SHIPPED["kLaneImageWindow"] < r["window"] < SHIPPED["kIndexedWindow"]
    refit(["kLaneImages"], lane_image_us("kLaneImages"), [r for r in lanes if middle(r)], held=2)
    refit(["kIndexedImages"], lane_image_us("kIndexedImages"), [r for r in lanes if not middle(r)], held=2)
    refit(["kImageElementClocks", "kImageTileClocks", "kImageAlone", "kImageAloneClocks"], image_tiles_us,
          [r for r in rows if "indexed_wo_smem" in r["names"]])
    refit(["kFilledElementUs", "kFilledUs"], filled_image_us, [r for r in rows if "fprop_optimized" in r["names"]])
    refit(["kImagePaddingClocks"], padding_us,
          [{**r, "us": r["all_us"] - r["us"]} for r in rows if "AddPadding" in r["names"]])


def attention():
    """Fused attention: extents, whether causal and masked, µs of the call's kernels."""
    found = []
    for cell, kernels in tables():
        for call in profiles.runs_of(kernels, lambda o: "attention_forward" in o):
            operator, dims = call[0].operator, json.loads(call[0].dims or "[]")
            if operator not in ("aten::_cudnn_attention_forward", "aten::_efficient_attention_forward"):
                continue
            arguments, cudnn = json.loads(call[0].arguments), "cudnn" in operator
            heads, length = (1, 2) if cudnn else (2, 1)
            q, k = dims[:2]
            causal = arguments[10] == "True" if cudnn else arguments[9] != "0"
            if json.loads(call[0].types)[0] == "float" or cudnn:
                found.append(((operator, call[0].dims, call[0].strides, causal), {
                    "cudnn": cudnn, "heads": q[0] * q[heads], "queries": q[length], "keys": k[length],
                    "channels": q[3], "causal": causal, "masked": bool(dims[3]),
                    "bytes": sum(math.prod(d) for d in (q, q, k, k)) * (2 if cudnn else 4),
                    "us": sum(r.us + profiles.GAP_US for r in call)}))
    return once(found)


def cudnn_us(c, of):
    """As half_us of whitebox/price/hopper_attention.cpp, at the clock at which it was measured."""
    turns = np.ceil(of["heads"] * np.ceil(of["queries"] / c["kCudnnTile"]) / profiles.SMS)
    tiles = np.ceil(of["keys"] / c["kCudnnTile"])
    met = np.where(of["causal"], np.minimum(tiles, c["kCudnnCausalShare"] * tiles + c["kCudnnCausalTiles"]), tiles)
    mask = np.where(of["keys"] % c["kCudnnMaskStep"] == 0, c["kCudnnMaskUs"], c["kCudnnOddMaskUs"])
    each = c["kCudnnTileUs"] + c["kCudnnChannelUs"] * np.maximum(of["channels"], c["kEfficientHead"])
    us = turns * (c["kCudnnBlockUs"] + met * (each + of["masked"] * mask)) + c["kCudnnUs"]
    return np.maximum(us, of["bytes"] / BANDWIDTH) + LAUNCH_US


def efficient_us(c, of):
    """… full_us."""
    head = c["kEfficientHead"]
    blocks, tiles = of["heads"] * np.ceil(of["queries"] / head), np.ceil(of["keys"] / head)
    met = np.where(of["causal"], (tiles + 1) / 2, tiles)
    each = np.where(of["channels"] > head, c["kHopperEfficientWideUs"] * np.ceil(of["channels"] / (2 * head)),
                    c["kHopperEfficientUs"])
    us = np.maximum(blocks * met * each / profiles.SMS, met * c["kHopperEfficientAloneUs"])
    return np.maximum(us * np.where(of["masked"], c["kHopperEfficientMask"], 1), of["bytes"] / BANDWIDTH) + LAUNCH_US


def fused_attention():
    rows = [r for r in attention() if r["queries"] >= SHIPPED["kLeastCudnnQueries"]]
    refit(["kCudnnBlockUs", "kCudnnTileUs", "kCudnnChannelUs", "kCudnnMaskUs", "kCudnnOddMaskUs", "kCudnnUs",
           "kCudnnCausalShare", "kCudnnCausalTiles"], cudnn_us, [r for r in rows if r["cudnn"]])
    refit(["kHopperEfficientUs", "kHopperEfficientWideUs", "kHopperEfficientAloneUs", "kHopperEfficientMask"],
          efficient_us, [r for r in rows if not r["cudnn"]])


def flash2_kernels():
    """FlashAttention-2's, without a cache: extents, whether causal, µs of the call's kernels."""
    found = []
    for _, kernels in tables():
        for call in profiles.runs_of(kernels, lambda o: "attention_forward" in o):
            dims = json.loads(call[0].dims or "[]")
            if call[0].operator != "aten::_flash_attention_forward" or dims[0][1] == 1:  # decoding
                continue
            (batch, queries, heads, channels), (_, keys, *_) = dims[:2]
            causal = json.loads(call[0].arguments)[8] == "True"
            found.append(((call[0].dims, call[0].strides, causal), {
                "heads": batch * heads, "queries": queries, "keys": keys, "channels": channels, "causal": causal,
                "us": sum(r.us + profiles.GAP_US for r in call)}))
    return once(found)


def flash2_law():
    """As encoder_time and, without a cache, prefill_time of whitebox/price/attention_time.cpp: both walk over the keys
    by tiles of the encoder's share. Memory hides."""
    header = (shipped.HEADERS / "attention.h").read_text()
    own = re.search(r"// MmaSync$.*?(?=^ +// \w+$)", header, re.DOTALL | re.MULTILINE)[0]
    encoder, prefill = ({n: float(v) for n, v in re.findall(r"\.(\w+) = ([\d.]+)", part)} for part in re.search(
        r"\.encoder = \{(.*?)\}.*?\.prefill =\s+\{(.*?)\}", own, re.DOTALL).groups())
    widths = [float(w) for w in re.search(r"kAttentionWidths\[\] = \{(.*?)\}", header)[1].split(",")]
    widths = np.array([SHIPPED["kNarrowestHead"], *widths])
    rows, side = 16, SHIPPED["kAttentionKeys"]  # of an instruction; queries and keys of a tile
    exponentials, lanes = 16, 128  # of an SM in a clock

    def law(c, of):
        channels = widths[np.searchsorted(widths, of["channels"])]
        products, operands = 4 * channels / c["kMmaSyncFlops"], 4 * channels / rows / c["kSharedMemoryBytes"]
        softmax = 1 / exponentials + c["kSoftmaxOperations"] / lanes
        score = np.sqrt(products**2 + operands**2 + softmax**2) / (encoder["share"] * c["kFlash2Share"])
        blocks, tiles = of["heads"] * np.ceil(of["queries"] / side), np.ceil(of["keys"] / side)
        causal = of["causal"]
        beside = np.where(causal, c["kDenseCausalBlock"], encoder["block"])
        longest = tiles * side**2 * score * np.where(causal, prefill["alone"], 1) + beside
        mean = np.where(causal, (tiles + 1) / 2, tiles) * side**2 * score + beside
        tail = np.where(blocks > profiles.SMS, np.where(causal, prefill["tail"], encoder["tail"]), 0)
        clocks = np.maximum(longest, blocks * mean / profiles.SMS + tail * longest)
        return clocks / profiles.CLOCK_MHZ + LAUNCH_US

    return law


def flash2():
    law, rows = flash2_law(), flash2_kernels()
    refit(["kFlash2Share"], law, [r for r in rows if not r["causal"]])
    refit(["kDenseCausalBlock"], law, [r for r in rows if r["causal"]])


def odd_product(k, dims, strides, types):
    """In 16 bits, of extents that no load of two elements takes."""
    (*batch, m, depth), (*_, n) = dims[:2]
    if BYTES.get(types[0]) == 2 and min(m, n) > 1 and (depth % 2 or n % 2):
        return {"products": math.prod(batch), "m": m, "n": n, "k": depth}


def odd_product_us(c, of):
    """As price_odd_product of whitebox/price/product_price.cpp."""
    side = np.where(np.minimum(of["m"], of["n"]) > c["kSmallOddTile"], c["kOddTile"], c["kSmallOddTile"])
    tiles = of["products"] * np.ceil(of["m"] / side) * np.ceil(of["n"] / side)
    depth = np.ceil(of["k"] / c["kOddTileDepth"]) * c["kOddTileDepth"]
    clocks = side**2 * (c["kOddElementClocks"] + 2 * depth / c["kOddFlops"])
    return np.ceil(tiles / profiles.SMS) * clocks / profiles.CLOCK_MHZ + c["kOddLaunchUs"]


def odd_products():
    rows = rows_of(["aten::mm", "aten::bmm"], odd_product, "cutlass_75_")
    refit(["kOddElementClocks", "kOddFlops", "kOddLaunchUs"], odd_product_us, rows)
    rates = []
    for cell, kernels in tables():
        for k in kernels:
            if k.operator != "aten::mm" or cell.startswith("op/") or profiles.dtype_of(cell) != "tf32":
                continue
            (m, depth), (_, n) = json.loads(k.dims)[:2]
            if n % 2 and m > 1 and "cutlass" in k.kernel:
                rates.append(2 * m * depth * n / k.us / SM_CLOCKS)
    print(f"kOddProduct32 {np.median(rates):.0f} ({SHIPPED['kOddProduct32']:.0f}): {len(rates)} kernels, "
          f"{min(rates):.0f} to {max(rates):.0f}")


def main():
    odd_products()
    found = convolutions()
    depthwise(found)
    groups(found)
    spectra(found)
    few_rows()
    images(found)
    fused_attention()
    flash2()


if __name__ == "__main__":
    main()
