#!/usr/bin/env python3
"""Fits what PyTorch's own kernels and cuDNN's batch norms take in inference to an H200's profiles (README.md).

    python3 studies/hopper/fit_elements.py        (numpy, scipy, numba, pandas)

Reads and prints as fit_inference.py does: batch norms, poolings, indexed elements, copies, concatenations, upsampling,
reductions, softmax, layer norms. Of `fit-training`, PyTorch's batch norm channels first alone. Of grids and blocks that
laws tell, how many are as they ran.
"""
import json
import math
import re

import numpy as np

import profiles
from inference import (BANDWIDTH, BYTES, LAUNCH_US, SHIPPED, SM_CLOCKS, is_contiguous, is_last, memory_us, missed,
                       refit, report_equal, rows_of, walked_us)

BATCH_NORM_LANES = 1 + SHIPPED["kBatchNormTime"][1] * (SHIPPED["kLanes"] / 128 - 1)  # on 128 float32 lanes
SOFTMAX_COLUMN = SHIPPED["kSoftmaxWarpTime"][0]
LONG_US = 8  # of kernels that clocks tell: what others take is waiting, most of it


def per_element(name):
    def law(c, of):
        return walked_us(c[name] * of["elements"], of["bytes"]) + LAUNCH_US
    return law


def long(rows):
    return [r for r in rows if r["us"] >= LONG_US]


def few_blocks_us(clocks, moved, blocks, busy):
    """Of thread blocks that may be too few for all SMs: the end of price_at of whitebox/price/roofline.cpp."""
    cached, full = busy
    keep = cached + (full - cached) * missed(moved)
    return np.maximum(clocks / SM_CLOCKS * np.maximum(1, keep * profiles.SMS / blocks),
                      memory_us(moved) * np.maximum(1, profiles.SMS / blocks)) + LAUNCH_US


def power_of_two(x):
    return 2**math.floor(math.log2(max(x, 1)))


def cudnn_grid(images, image):
    """As blocks_of_cudnn of whitebox/launch/batch_norm.cpp: of images of so many elements."""
    block = SHIPPED["kBatchNormBlock"]
    for _ in range(int(SHIPPED["kBatchNormDoublings"])):
        block *= 2 if math.ceil(image / block) > SHIPPED["kBatchNormBlocks"] else 1
    return [images, math.ceil(image / block), 1]


def own_grid(channels, each):
    """As blocks_of_pytorch there: of channels of so many elements each."""
    columns = min(power_of_two(channels), SHIPPED["kOwnBatchNormChannels"])
    walked = math.ceil(each / SHIPPED["kOwnBatchNormSerial"])
    rows = min(power_of_two(walked), SHIPPED["kOwnBatchNormThreads"] / columns)
    columns = min(power_of_two(channels), int(SHIPPED["kOwnBatchNormThreads"] / rows))
    return [math.ceil(channels / columns), min(math.ceil(walked / rows), SHIPPED["kOwnBatchNormBlocks"]), 1]


def batch_norm(k, dims, strides, types):
    """… with its grid, channels last."""
    (images, channels, *_), elements, width = dims[0], math.prod(dims[0]), BYTES[types[0]]
    cudnn = k.operator == "aten::cudnn_batch_norm"
    grid = cudnn_grid(images, elements // images) if cudnn else own_grid(channels, elements // channels)
    return {"elements": elements, "planes": images * channels, "half": width == 2, "type": types[0], "data": dims[0],
            "last": is_last(dims[0], strides[0]), "bytes": 2 * elements * width + 16 * channels, "said": grid,
            "blocks": math.prod(grid)}


def first_norm_us(c, of):
    """As limit_cudnn there and what whitebox/price makes of it: channels first."""
    clocks = np.where(of["half"], c["kBatchNormHalfClocks"], c["kBatchNormByteClocks"]) * of["bytes"]
    clocks = np.maximum(clocks, (of["planes"] < of["elements"]) * of["planes"] * c["kBatchNormPlaneClocks"])
    work = np.maximum(memory_us(of["bytes"]), clocks * BATCH_NORM_LANES / SM_CLOCKS)
    return np.maximum(work, c["kBatchNormFirstUs"]) + LAUNCH_US


def last_norm_us(c, of):
    """… channels last."""
    clocks = np.where(of["half"], c["kBatchNormLastClocks16"], c["kBatchNormLastClocks32"]) * of["elements"]
    return few_blocks_us(clocks, of["bytes"], of["blocks"], c["kBatchNormLastBusy"])


def own_last_us(c, of):
    """As limit_own: PyTorch's, channels last."""
    clocks = c["kOwnBatchNormLastClocks"] * of["elements"]
    return few_blocks_us(clocks, of["bytes"], of["blocks"], c["kOwnBatchNormBusy"])


def own_first_us(c, of):
    """… channels first."""
    clocks = np.maximum(c["kOwnBatchNormFirstClocks"] * of["elements"], c["kOwnBatchNormPlaneClocks"] * of["planes"])
    return np.maximum(memory_us(of["bytes"]), clocks / SM_CLOCKS) + LAUNCH_US


def batch_norms():
    rows = rows_of(["aten::cudnn_batch_norm"], batch_norm, "bn_fw_inf")
    last = [r for r in rows if r["last"]]
    own = rows_of(["aten::native_batch_norm"], batch_norm, "batch_norm_transform_input_channels_last_kernel")
    refit(["kBatchNormByteClocks", "kBatchNormHalfClocks", "kBatchNormPlaneClocks", "kBatchNormFirstUs"],
          first_norm_us, [r for r in rows if not r["last"]])
    refit(["kBatchNormLastClocks16", "kBatchNormLastClocks32", "kBatchNormLastBusy"], last_norm_us, last)
    refit(["kOwnBatchNormLastClocks", "kOwnBatchNormBusy"], own_last_us, own)
    refit(["kOwnBatchNormFirstClocks", "kOwnBatchNormPlaneClocks"], own_first_us, rows_of(
        ["aten::native_batch_norm"], batch_norm, "batch_norm_transform_input_kernel",
        profiles.by_cell("fit-training").items()))
    for what, some in (("cuDNN's", last), ("PyTorch's", own)):
        report_equal(f"grids of {what} batch norms channels last", ["data", "type"],
                     lambda r: (r["said"], json.loads(r["grid"])), some)


def result_of(dims):
    size = max(len(d) for d in dims)
    return [max(([1] * (size - len(d)) + d)[i] for d in dims) for i in range(size)]


def indexed(k, dims, strides, types):
    both = [d for d in dims[:2] if d]
    if len(both) < 2 or any(t not in BYTES for t in types[:2]):
        return None
    elements, widths = math.prod(result_of(both)), [BYTES[t] for t in types[:2]]
    return {"elements": elements, "half": max(widths) == 2, "mixed": widths[0] != widths[1],
            "indexed": dims[0] != dims[1] or strides[0] != strides[1],
            "bytes": max(widths) * elements + sum(w * math.prod(d) for w, d in zip(widths, both))}


def copied(k, dims, strides, types):
    """Copies in row-major order of what lies otherwise."""
    if types[0] != types[1] or types[0] not in BYTES or dims[0] != dims[1] or not is_contiguous(dims[0], strides[0]):
        return None
    step = [s for d, s in zip(dims[1], strides[1]) if d != 1][-1:]
    elements = math.prod(dims[0])
    return {"elements": elements, "half": BYTES[types[0]] == 2, "turned": step != [1],
            "bytes": 2 * elements * BYTES[types[0]]}


def widened(k, dims, strides, types):
    elements, widens = math.prod(dims[0]), (BYTES.get(types[0]), BYTES.get(types[1])) == (4, 2)
    return {"elements": elements, "bytes": 6 * elements} if widens else None


def alone(k, dims, strides, types):
    """One tensor in, one of its shape out."""
    elements = math.prod(dims[0])
    return {"elements": elements, "half": BYTES.get(types[0]) == 2, "bytes": 2 * elements * BYTES[types[0]]}


def copies_us(c, of):
    clocks = np.where(of["half"], c["kIndexedClocks16"], c["kIndexedClocks32"]) * of["elements"]
    return walked_us(clocks * np.where(of["turned"], c["kTransposed"], 1), of["bytes"]) + LAUNCH_US


def concatenated(k, dims, strides, types):
    width = int(re.search(r"OpaqueType<(\d+)u>", k.kernel)[1])
    parts, lie = dims[0], strides[0]
    axis = int(json.loads(k.arguments)[1]) % len(parts[0])
    last = all(is_last(*p) for p in zip(parts, lie))
    strided = any(not is_contiguous(*p) and not is_last(*p) for p in zip(parts, lie))
    elements = sum(math.prod(p) for p in parts)
    rows = not strided and (axis == len(parts[0]) - 1 or (last and axis == 1))
    asks = [math.prod(p) for p in parts if math.prod(p)]
    block = SHIPPED["kConcatenatedBlock"] * (2 if width == 2 and not rows else 1)
    blocks = min(math.ceil(max(asks) / block), SHIPPED["kConcatenatedBlocks"])
    return {"elements": elements, "bytes": 2 * elements * width, "strided": strided, "parts": parts,
            "rows": rows, "blocks": len(asks) * blocks, "said": [blocks, len(asks), 1], "width": width}


def concatenation_us(c, of):
    """As concatenation_clocks of whitebox/launch/element_clocks.cpp, but of strided parts."""
    clocks = np.maximum(of["rows"] * c["kConcatenatedRows"] * of["elements"],
                        c["kConcatenatedBlockClocks"] * of["blocks"])
    return walked_us(clocks, of["bytes"]) + LAUNCH_US


def upsampled(k, dims, strides, types):
    elements = math.prod(dims[0][:2]) * math.prod(json.loads(json.loads(k.arguments)[1]))
    return {"elements": elements, "last": is_last(dims[0], strides[0]),
            "bytes": (elements + math.prod(dims[0])) * BYTES[types[0]]}


def elements():
    operators = ["aten::mul", "aten::add", "aten::add_"]
    both = long(rows_of(operators, indexed, r"elementwise_kernel<128, \d.*_nocast"))
    mixed = [r for r in long(rows_of(operators, indexed)) if r["mixed"]]
    copies = long(rows_of(["aten::copy_"], copied, "elementwise_kernel<128"))
    cats = rows_of(["aten::cat"], concatenated, "CatArray.*OpaqueType")
    nearest = rows_of(["aten::upsample_nearest2d"], upsampled)
    ordered = [r for r in cats if not r["strided"]]
    for name, rows in (
            ("kIndexedClocks16", [r for r in both if r["half"]]),
            ("kIndexedClocks32", [r for r in both if not r["half"] and not r["mixed"]]),
            ("kMixedClocks", [r for r in mixed if not r["indexed"]]),
            ("kMixedIndexedClocks", [r for r in mixed if r["indexed"]]),
            ("kWideningClocks", long(rows_of(["aten::copy_"], widened, "unrolled_elementwise"))),
            ("kGeluClocks16", [r for r in rows_of(["aten::gelu"], alone) if r["half"]]),
            ("kRollClocks", rows_of(["aten::roll"], alone)),
            ("kConcatenatedStrided", [r for r in long(cats) if r["strided"]]),
            ("kNearestFirst", [r for r in nearest if not r["last"]]),
            ("kNearestLast", [r for r in nearest if r["last"]]),
            ("kLinearLast", [r for r in rows_of(["aten::upsample_bilinear2d"], upsampled) if r["last"]])):
        refit([name], per_element(name), rows)
    refit(["kConcatenatedRows", "kConcatenatedBlockClocks"], concatenation_us, long(ordered))
    report_equal("grids of concatenations in order", ["parts", "width", "rows"],
                 lambda r: (r["said"], json.loads(r["grid"])), ordered)
    print("copies:", end=" ")
    refit(["kIndexedClocks16", "kIndexedClocks32"], copies_us, [r for r in copies if not r["turned"]])
    refit(["kTransposed"], copies_us, [r for r in copies if r["turned"]])


def pooled(k, dims, strides, types):
    arguments = json.loads(k.arguments)
    window, stride, pad = (json.loads(a) for a in arguments[1:4])
    stride = stride or window
    up = (arguments[5] if "max" in k.operator else arguments[4]) == "True"
    sizes = [(math.ceil if up else math.floor)((dims[0][2 + i] + 2 * pad[i % len(pad)] - window[i % len(window)]) /
                                               stride[i % len(stride)]) + 1 for i in range(2)]
    results = math.prod(dims[0][:2]) * math.prod(sizes)
    width = BYTES[types[0]]
    return {"results": results, "window": window[0] * window[-1], "last": is_last(dims[0], strides[0]),
            "bytes": width * (math.prod(dims[0]) + results) + ("max" in k.operator) * SHIPPED["kIndexBytes"] * results}


def pooling_us(name):
    def law(c, of):
        result, element = c[name]
        return walked_us((result + element * of["window"]) * of["results"], of["bytes"]) + LAUNCH_US
    return law


def poolings():
    rows = long(rows_of(["aten::max_pool2d_with_indices", "aten::avg_pool2d"], pooled))
    refit(["kPoolingFirst"], pooling_us("kPoolingFirst"), [r for r in rows if not r["last"]])
    refit(["kPoolingLast"], pooling_us("kPoolingLast"), [r for r in rows if r["last"]])


def shared_out(rows, results, length, width, vector):
    """Grid and block as setReduceConfig of Reduce.cuh has them; loads of a thread, whether blocks share a result. So
    many results of so many elements, of `width` byte, of which a thread loads `vector` results at a time."""
    load = 16 // width if rows else 4
    fast, slow = (length // (load if length >= 128 else 1), results) if rows else (results // vector, length)
    fast, slow = (min(power_of_two(x), 512 // vector) for x in (fast, slow))
    height = min(slow, 512 // vector // min(fast, 32))
    threads = min(fast, 512 // vector // height)
    values, of_block = (math.ceil(length / threads), 1) if rows else (length, threads * vector)
    shares = values >= min(16 * height, 256)
    values, of_block = (math.ceil(values / height), of_block) if shares else (values, of_block * height)
    room = profiles.SMS * (SHIPPED["kThreadsOfSm"] // (threads * height))
    grid, splits = math.ceil(results / of_block), 1
    if shares and values >= 256 and grid <= room:
        splits = max(min(math.ceil(room / grid), math.ceil(values / 16)), math.ceil(values / 256))
    return [[grid, splits, 1], [threads, height, 1]], [math.ceil(math.ceil(values / splits) / load), splits > 1]


def reduced(k, dims, strides, types):
    if types[0] not in BYTES:
        return None
    axes = json.loads(json.loads(k.arguments)[1] or "[]")
    axes = {a % len(dims[0]) for a in (axes if isinstance(axes, list) else [axes])} or set(range(len(dims[0])))
    results, width = math.prod(d for i, d in enumerate(dims[0]) if i not in axes), BYTES[types[0]]
    length, rows = math.prod(dims[0]) // results, any(strides[0][a] == 1 and dims[0][a] > 1 for a in axes)
    vector = 1 if rows else math.gcd(results, 4)
    said, (loads, splits) = shared_out(rows, results, length, width, vector)
    return {"read": results * length, "results": results, "rows": rows, "type": types[0], "loads": loads,
            "wide": vector == 4, "splits": splits, "said": said,
            "bytes": width * (results * length + results)}


def reduction_us(each):
    """As whitebox/launch/reduction.cpp and reduction_clocks of element_clocks.cpp; clocks of a row by their name."""
    def law(c, of):
        clocks = np.where(of["rows"], c[each] * of["results"], c["kReducedColumnClocks"] * of["read"])
        column = (np.where(of["wide"], c["kColumnLoadUs"], c["kNarrowColumnLoadUs"]) * of["loads"] +
                  c["kReducedColumnUs"] + c["kSplitColumnUs"] * of["splits"])
        wait = np.where(of["rows"], c["kReducedRowUs"] + c["kRowLoadUs"] * of["loads"], column)
        return np.maximum(walked_us(clocks, of["bytes"]), wait) + LAUNCH_US
    return law


def reductions():
    found = rows_of(["aten::mean", "aten::sum"], reduced, "reduce_kernel")
    rows, columns = [r for r in found if r["rows"]], [r for r in found if not r["rows"]]
    law, of = reduction_us("kReducedRowClocks"), ["rows", "results", "read", "type"]
    refit(["kReducedRowClocks", "kReducedRowUs", "kRowLoadUs"], law, rows)
    refit(["kReducedColumnClocks", "kReducedColumnUs", "kColumnLoadUs", "kNarrowColumnLoadUs", "kSplitColumnUs"], law,
          columns)
    refit(["kFoundRowClocks"], reduction_us("kFoundRowClocks"), rows_of(["aten::argmax"], reduced, "reduce_kernel"))
    for what, some in (("rows", rows), ("columns", columns)):
        report_equal(f"grids and blocks of reductions, {what}", of,
                     lambda r: (r["said"], [json.loads(r["grid"]), json.loads(r["block"])]), some)


def softmax(k, dims, strides, types):
    columns = dims[0][-1]
    return {"rows": math.prod(dims[0][:-1]), "columns": columns, "bytes": 2 * math.prod(dims[0]) * BYTES[types[0]]}


def softmax_us(c, of):
    filled = 2**np.ceil(np.log2(of["columns"]))
    clocks = of["rows"] * (c["kSoftmaxRowClocks"] + SOFTMAX_COLUMN * filled)
    return memory_us(of["bytes"]) + clocks / SM_CLOCKS + LAUNCH_US


def block_softmax_us(c, of):
    """As whitebox/price/memory_bound_time.cpp."""
    column, _, overlap = c["kSoftmaxBlockTime"]
    memory, work = memory_us(of["bytes"]), of["rows"] * of["columns"] * column / SM_CLOCKS
    return (memory**overlap + work**overlap)**(1 / overlap) + LAUNCH_US


def normalised_rows(k, dims, strides, types):
    columns = math.prod(json.loads(json.loads(k.arguments)[1]))
    elements = math.prod(dims[0])
    return {"rows": elements / columns, "columns": columns, "half": BYTES[types[0]] == 2,
            "read": BYTES[types[0]] * elements, "bytes": 2 * BYTES[types[0]] * elements}


def rms_norm_us(c, of):
    return layer_norm_us(c, of, c["kRmsNormRows"])


def layer_norm_us(c, of, share=1):
    """As whitebox/price/memory_bound_time.cpp, and be_hopper of roofline.cpp."""
    row, column, alone, again, step, lanes, resident, overlap = c["kLayerNormTime"]
    clocks = share * of["rows"] * np.where(of["half"], c["kHalfLayerNorm"], 1) * (
        row + column * step * np.ceil(of["columns"] / step))
    wave = np.maximum(alone * of["columns"],
                      share * (c["kLayerNormWave"] + c["kLayerNormWaveColumn"] * of["columns"]))
    work = np.maximum(clocks * (1 + lanes * (c["kLanes"] / 128 - 1)) / SM_CLOCKS, wave / profiles.CLOCK_MHZ)
    seen = np.minimum(1, profiles.SMS * resident / of["rows"])
    repeated = again * of["read"] * missed(of["bytes"] * seen)
    memory = (of["bytes"] + repeated) * missed(of["bytes"]) / BANDWIDTH
    return (memory**overlap + work**overlap)**(1 / overlap) + LAUNCH_US


def main():
    batch_norms()
    poolings()
    elements()
    reductions()
    refit(["kSoftmaxRowClocks"], softmax_us, long(rows_of(["aten::_softmax"], softmax, "softmax_warp_forward")))
    blocks = rows_of(["aten::_softmax"], softmax, "cunn_SoftMaxForwardReg")
    refit(["kSoftmaxBlockTime"], block_softmax_us, long(blocks))
    norms = rows_of(["aten::native_layer_norm"], normalised_rows, "layer_norm")
    refit(["kHalfLayerNorm", "kLayerNormWave", "kLayerNormWaveColumn"], layer_norm_us, norms)
    refit(["kRmsNormRows"], rms_norm_us, rows_of(["aten::_fused_rms_norm"], normalised_rows, "layer_norm"))


if __name__ == "__main__":
    main()
