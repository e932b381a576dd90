#!/usr/bin/env python3
"""Fits what gradients of convolutions, norms and sums take on Hopper to an H200's training steps (README.md).

    python3 studies/hopper/fit_gradients.py        (numpy, scipy, numba)

Only the cells of `fit` and `fit-training` are read. Prints constants of `whitebox`, under the names that they have
there, and how well each does on what it was fitted to: kernels, MAPE, the sum of what it says over what they took.
"""
import collections
import json
import math
import statistics

import numpy as np
import scipy.optimize

import fit
import product_data as data  # of studies/kernels, to which fit.py leads
import product_model as pm
import profiles

BESIDE = (*profiles.BESIDE, "tensorTransformGeneric", "splitKreduce")
L2_BYTES = 60e6
SM_CLOCKS = profiles.SMS * profiles.CLOCK_MHZ  # in a µs
DATA, WEIGHTS = "data", "weights"
MMA_SYNC_SHARE, COLUMNS, STREAM_GAP_US = 0.63, 128, 1.3  # kMmaSyncShare, kFilledColumns, kStreamGapUs


def training_calls(operator):
    """(cell, kernels of one call) of the training steps whose operators' names hold a word."""
    for table in ("fit", "fit-training"):
        for cell, kernels in profiles.by_cell(table).items():
            if cell.endswith(" train"):
                for found in profiles.runs_of(kernels, lambda o: operator in o):
                    if operator in found[0].operator and found[0].dims:
                        yield cell, found


def which(kernel):
    """Whose gradient a kernel's name says that it is."""
    name = kernel.lower()
    if "reduce_wgrad" in name:
        return None
    if "dgrad" in name or "conv_depthwise2d_backward" in name:
        return DATA
    return WEIGHTS if "wgrad" in name or "grad_weight" in name else None


def halves(kernels, mask):
    """The kernels of a call's gradient of its data, and of its weights: one after the other with cuDNN, PyTorch's own
    the other way round. Names say which where they do; else the first own kernel is the data's."""
    if not (mask[0] and mask[1]):
        return (kernels, []) if mask[0] else ([], kernels)
    said = [which(k.kernel) for k in kernels]
    own = [i for i, k in enumerate(kernels) if not any(b in k.kernel for b in BESIDE)]
    first_of_weights = next((i for i, s in enumerate(said) if s == WEIGHTS), None)
    helper = [i for i, k in enumerate(kernels) if "reduce_wgrad" in k.kernel]
    last_of_data = max((i for i, s in enumerate(said) if s == DATA), default=None)
    if first_of_weights is not None and last_of_data is not None and first_of_weights < last_of_data:
        return [k for k, s in zip(kernels, said) if s == DATA], [k for k, s in zip(kernels, said) if s == WEIGHTS]
    if last_of_data is None:
        if first_of_weights is None and helper:
            first_of_weights = helper[-1] - 1
        before = [i for i in own if first_of_weights is None or i < first_of_weights]
        if not before or len(own) < 2:
            return None
        last_of_data = before[-1] if first_of_weights is not None else own[(len(own) - 1) // 2]
    end = last_of_data + 1
    while end < len(kernels) and (first_of_weights is None or end < first_of_weights) and any(
            b in kernels[end].kernel for b in ("nhwcToNchw", "splitKreduce")):
        end += 1
    return kernels[:end], kernels[end:]


def gradients():
    """Gradients of two-dimensional convolutions: extents, µs of their own kernels with the gaps behind them, and with
    the kernels beside them; each shape once, by the median."""
    seen = collections.OrderedDict()
    for cell, found in training_calls("aten::convolution_backward"):
        (result, inputs, weights), arguments = json.loads(found[0].dims)[:3], json.loads(found[0].arguments)
        parts = halves(found, json.loads(arguments[10].lower())) if len(inputs) == 4 else None
        last = json.loads(found[0].strides)[1][1] == 1 and inputs[1] > 1
        for of, part in zip((DATA, WEIGHTS), parts or ()):
            own = [k for k in part if not any(b in k.kernel for b in BESIDE)]
            if not own:
                continue
            key = (of, profiles.dtype_of(cell), last, inputs[0], inputs[1], inputs[2] * inputs[3], result[1],
                   result[2] * result[3], weights[2] * weights[3], json.loads(arguments[4])[0], int(arguments[9]),
                   "conv_depthwise2d" in own[0].kernel, own[0].kernel if profiles.dtype_of(cell) == "fp32" else "")
            seen.setdefault(key, []).append([sum(k.us + profiles.GAP_US for k in ks) for ks in (own, part)])
    names = "of dtype last images channels plane results positions window stride groups native kernel".split()
    return [dict(zip(names, key), us=us, with_others=others) for key, found in seen.items()
            for us, others in [map(statistics.median, zip(*found))]]


def show(name, values, said, measured):
    fit.report(f"{name} ({', '.join(f'{v:.3g}' for v in values)})", said, measured)


def fit_linear(name, terms, measured, starts):
    """Least mean |ln| of a sum of `terms` with factors that are positive."""
    terms, measured = [np.asarray(t, float) for t in terms], np.asarray(measured, float)
    if len(measured) < 4:
        print(f"{name}: {len(measured)} kernels, too few")
        return

    def said(logs):
        return sum(math.exp(x) * t for x, t in zip(logs, terms))
    best = min((scipy.optimize.minimize(
        lambda x: np.abs(np.log(said(x) / measured)).mean() + 0.01 * np.maximum(-8 - x, 0).sum(), np.log(start),
        method="Nelder-Mead", options={"maxiter": 3000}) for start in starts), key=lambda r: r.fun)
    show(name, np.exp(best.x), said(best.x), measured)


def depthwise(found):
    found = [g for g in found if 1 < g["groups"] == g["channels"] == g["results"]]
    half = ("fp16", "bf16")
    groups = {
        "kDepthwiseDataFirst": lambda g: (g["of"], g["native"], g["last"], g["stride"]) == (DATA, False, False, 1),
        "kDepthwiseDataStrided":
            lambda g: (g["of"], g["native"], g["last"]) == (DATA, False, False) and g["stride"] > 1,
        "kDepthwiseDataOwn16": lambda g: g["of"] == DATA and g["native"] and g["dtype"] in half,
        "kDepthwiseDataOwn32": lambda g: g["of"] == DATA and g["native"] and g["dtype"] not in half,
        "kDepthwiseDataLast16": lambda g: g["of"] == DATA and g["last"] and g["dtype"] in half,
        "kDepthwiseDataLast32": lambda g: g["of"] == DATA and g["last"] and g["dtype"] not in half,
        "kDepthwiseWeightsFirst": lambda g: g["of"] == WEIGHTS and not g["native"] and not g["last"],
        "kDepthwiseWeightsOwn16": lambda g: g["of"] == WEIGHTS and g["native"] and g["dtype"] in half,
        "kDepthwiseWeightsOwn32": lambda g: g["of"] == WEIGHTS and g["native"] and g["dtype"] not in half,
        "kDepthwiseWeightsLast16": lambda g: g["of"] == WEIGHTS and g["last"] and g["dtype"] in half,
        "kDepthwiseWeightsLast32": lambda g: g["of"] == WEIGHTS and g["last"] and g["dtype"] not in half and
        g["window"] < 49,
        "kDepthwiseWeightsLarge32": lambda g: g["of"] == WEIGHTS and g["last"] and g["dtype"] not in half and
        g["window"] >= 49}
    for name, wanted in groups.items():
        rows = [g for g in found if wanted(g)]
        own_result = name.startswith("kDepthwiseWeightsOwn")
        clocks = [g["images"] * g["channels"] * (g["positions"] if own_result else max(g["plane"], g["positions"])) /
                  SM_CLOCKS for g in rows]
        fit_linear(name, [np.ones(len(rows)), clocks, [c * g["window"] for c, g in zip(clocks, rows)]],
                   [g["us"] for g in rows], ([4.5, 0.4, 0.1], [10, 0.05, 0.05], [7, 1, 0.01]))


def as_product(g):
    """(batch, m, n, k, widths, no copies, how often an element of the data stands in A) of a dense gradient."""
    width = fit.WIDTHS[g["dtype"]]
    inside, outside = g["images"] * g["plane"], g["images"] * g["positions"]
    if g["of"] == WEIGHTS:
        m, n, k = g["window"] * g["channels"], g["results"], outside
        return 1.0, m, n, k, width, width, width, 0.0, max(1.0, m * k / (g["channels"] * inside))
    k = g["window"] * fit.loaded(g["results"], width) / (g["stride"]**2 if g["window"] > 1 else 1)
    return 1.0, inside, g["channels"], k, width, width, width, 0.0, max(1.0, inside * k / (g["results"] * outside))


def products(found):
    windows = [g for g in found if g["groups"] == 1 and g["channels"] > fit.FIRST_CHANNELS and g["dtype"] != "fp32" and
               (g["window"] > 1 or g["stride"] > 1)]
    for name, start, more, splits, wanted in (
            ("HopperDataGradients", "HopperWindows", [], False, lambda g: g["of"] == DATA),
            ("HopperWeightGradients", "HopperTf32", ["split_clocks"], True,
             lambda g: g["of"] == WEIGHTS and g["dtype"] != "tf32"),
            ("HopperWeightGradientsTf32", "HopperTf32", ["split_clocks"], True,
             lambda g: g["of"] == WEIGHTS and g["dtype"] == "tf32")):
        rows = [g for g in windows if wanted(g)]
        fit.fit_chip(name, [(g["dtype"], as_product(g)) for g in rows], [g["us"] for g in rows],
                     data.class_constants(start, pm.NAMES), (*fit.FITTED, *more), splits, room=1.5)


def batch_norms():
    seen = collections.defaultdict(list)
    for _, found in training_calls("batch_norm"):
        dims, strides = json.loads(found[0].dims), json.loads(found[0].strides)
        at = next((i for i, d in enumerate(dims) if len(d) >= 4), None)
        if at is None:
            continue
        last = strides[at][1] == 1 and dims[at][1] > 1
        key = (found[0].operator.removeprefix("aten::"), json.loads(found[0].types)[at].removeprefix("c10::"), last,
               tuple(dims[at]))
        seen[key].append(sum(k.us + profiles.GAP_US for k in found))
    groups, large = collections.defaultdict(list), []
    for (operator, dtype, last, dims), us in seen.items():
        rows, backward = math.prod(dims) // dims[1], operator.endswith("backward")
        passes = math.prod(dims) * (4 if dtype == "float" else 2) * (5 if backward else 3)
        if passes > 8 * L2_BYTES:
            large.append(statistics.median(us) * 1e-6 * fit.BANDWIDTH / passes)
        read = rows * (4 if dtype == "float" else 2) * (1 + backward)
        once = operator.startswith("cudnn") and not last and read <= 120e3
        order = "channels last" if last else "channels first, read once" if once else "channels first"
        groups[operator, dtype, order].append((rows, dims[1], statistics.median(us)))
    for key, found in sorted(groups.items()):
        rows, channels, us = (np.array(x, float) for x in zip(*found))
        fit_linear(" ".join(key), [np.ones(len(us)), rows * channels / SM_CLOCKS, rows / profiles.CLOCK_MHZ], us,
                   ([4, 0.5, 0.6], [8, 0.4, 0.01]))
    if large:
        print(f"kBatchNormTraffic: {min(large):.2f} of their passes at least, {np.median(large):.2f} in the median of "
              f"{len(large)}")


def sums():
    seen = collections.defaultdict(list)
    for _, found in training_calls("aten::sum"):
        key = (found[0].dims, found[0].arguments, found[0].types, found[0].strides)
        seen[key].append(sum(k.us + profiles.GAP_US for k in found))
    columns, rows, widths, measured = [], [], [], []
    for (dims, arguments, types, strides), us in seen.items():
        dims, strides, axes = json.loads(dims)[0], json.loads(strides)[0], json.loads(arguments)[1]
        summed = {a % len(dims) for a in json.loads(axes)} if axes else set(range(len(dims)))
        kept = [i for i in range(len(dims)) if i not in summed and dims[i] > 1]
        across = [strides[i] for i in summed if dims[i] > 1]
        if kept and across and max(strides[i] for i in kept) < min(across):
            columns.append(math.prod(dims[i] for i in kept))
            rows.append(math.prod(dims[i] for i in summed))
            widths.append(4 if json.loads(types)[0] == "float" else 2)
            measured.append(statistics.median(us))
    columns, rows, widths = (np.array(x, float) for x in (columns, rows, widths))
    split = np.minimum(np.minimum(16 * profiles.SMS / np.ceil(columns / 128), rows / 64), 1024)
    split = np.where(split > 1, split, 0)
    traffic = columns * rows * widths / 4.0e6
    fit_linear("sums of columns: µs, traffic, µs of a last block, per block", [np.ones(len(rows)), traffic, split > 0,
                                                                               split], measured, ([4, 1, 4, 0.06],))


def dense(found, dtypes):
    return [g for g in found if g["groups"] == 1 and g["channels"] > fit.FIRST_CHANNELS and g["dtype"] in dtypes]


def macs_of(g, tile=1):
    """With channels and windows filled up to tiles."""
    results, columns = (math.ceil(x / tile) * tile for x in (g["results"], g["channels"] * g["window"]))
    return g["images"] * g["positions"] * results * columns


def images(found):
    for bits, dtypes in ((16, ("fp16", "bf16")), (32, ("tf32", "fp32"))):
        rows = [g for g in found if g["of"] == WEIGHTS and g["groups"] == 1 and g["dtype"] in dtypes and
                g["channels"] <= fit.FIRST_CHANNELS and g["positions"] > 1]
        positions = [g["images"] * g["positions"] / SM_CLOCKS for g in rows]
        fit_linear(f"kImageGradientClocks, kImageGradientElement{bits}",
                   [positions, [p * math.ceil(g["results"] / 64) * g["window"] for p, g in zip(positions, rows)]],
                   [g["us"] for g in rows], ([45, 1], [90, 2]))


def lanes(found):
    """In float32. Of windows of 7 × 7 with one position nothing is known."""
    rows = [g for g in dense(found, ("fp32",)) if g["window"] < 49]
    spectral, winograd = (lambda g: "fft" in g["kernel"]), (lambda g: "winograd" in g["kernel"])
    direct = [g for g in rows if g["of"] == DATA and not spectral(g)]

    def shape(g):
        points = g["window"] == 1 and g["stride"] > 1
        inside = g["images"] * (g["positions"] if points else g["plane"])
        return 1, inside, g["channels"], g["results"] * g["window"] / (1 if points else g["stride"]**2)
    fit.fit_lanes("kLaneGradients, kLaneGradientUs", [shape(g) for g in direct], np.array([g["us"] for g in direct]),
                  [27, 52, 600, 120, 150, 3000, 3], False, ((32, 32), (128, 64)))
    for name, tile, wanted, more in (
            ("kLaneWeights", 32, lambda g: g["of"] == WEIGHTS and not winograd(g), ()),
            ("kWinogradWeights", 1, lambda g: g["of"] == WEIGHTS and winograd(g), ()),
            ("kSpectralData, kSpectralWeightsUs", 1, lambda g: g["of"] == DATA and spectral(g), (1e-3,))):
        some = [g for g in rows if wanted(g)]
        traffic = [g["images"] * (g["channels"] * g["plane"] + g["results"] * g["positions"]) * 4 / fit.BANDWIDTH * 1e6
                   for g in some]
        terms = [np.ones(len(some)), [2 * macs_of(g, tile) / fit.PEAKS["fp32"] * 1e6 for g in some], traffic,
                 *([g["channels"] * g["results"] for g in some] for _ in more)]
        fit_linear(name, terms, [g["us"] for g in some], ([10, 1, 3, *more], [30, 0.3, 12, *more]))


def points(found):
    """What windows of one element take, with what converts and adds up, over the product that they are; channels first.
    """
    both = collections.defaultdict(list)
    tf32 = data.class_constants("HopperTf32", pm.NAMES)
    for g in dense(found, ("fp16", "bf16", "tf32")):
        if g["of"] == WEIGHTS and not g["last"] and g["window"] == g["stride"] == 1:
            width = fit.WIDTHS[g["dtype"]]
            name = "kOddPoints" if g["plane"] * width % 16 else "kTf32Points" if width == 4 else "16 bits, aligned: 1"
            law = pm.product_time(fit.facts(g["dtype"]), tf32, *map(float, as_product(g))) * 1e6
            both[name].append((g["with_others"], law))
    for name, rows in sorted(both.items()):
        share = sum(us for us, _ in rows) / sum(law for _, law in rows)
        median = statistics.median(us / law for us, law in rows)
        print(f"{name}: {median:.2f} in the median of {len(rows)}, {share:.2f} of their sum")
    rows = [g for g in dense(found, fit.WIDTHS) if g["of"] == DATA and not g["last"] and g["dtype"] != "fp32" and
            g["window"] == g["stride"] == 1 and (g["dtype"] == "tf32" or g["plane"] % 8 and g["plane"] % 2 == 0)]
    measured = np.array([g["us"] for g in rows])

    def said(share):
        out = []
        for g in rows:
            facts = fit.facts(g["dtype"])
            filled = g["plane"] / (COLUMNS * math.ceil(g["plane"] / COLUMNS))
            facts[pm.PEAK] *= share * (1 if g["dtype"] == "tf32" else MMA_SYNC_SHARE * filled)
            out.append(pm.product_time(facts, tf32, *map(float, as_product(g))) * 1e6 + STREAM_GAP_US)
        return np.array(out)
    best = min(np.arange(0.3, 1, 0.05), key=lambda share: abs(np.log(said(share).sum() / measured.sum())))
    fit.report(f"kPointsShare ({best:.2f}, where sums agree)", said(best), measured)


def across():
    """Products whose operands both lie across k, as those of a weights' gradient, over what the table says; the kernel
    that adds up where k is split."""
    seen, adding = collections.defaultdict(list), []
    for cell, found in training_calls("aten::mm"):
        if "ackward" in found[0].call and found[0].operator == "aten::mm":
            (a, b), strides = json.loads(found[0].dims)[:2], json.loads(found[0].strides)
            key = (profiles.dtype_of(cell), a[0], b[1], a[1], strides[0][-1] != 1)
            seen[key].append(sum(k.us + profiles.GAP_US for k in found))
            if key[0] == "fp32":
                adding += [k.us for k in found if "splitKreduce" in k.kernel]
    tf32 = data.class_constants("HopperTf32", pm.NAMES)
    ratios = collections.defaultdict(list)
    for (dtype, m, n, k, lies_across), us in seen.items():
        if dtype == "tf32":
            law = pm.product_time(fit.facts(dtype), tf32, 1.0, float(m), float(n), float(k), 4.0, 4.0, 4.0, 0.0) * 1e6
            ratios[lies_across].append(statistics.median(us) / law)
    print(f"kTf32Across: {statistics.median(ratios[True]):.2f} in the median of {len(ratios[True])}, where operands "
          f"lie along k {statistics.median(ratios[False]):.2f} of {len(ratios[False])}")
    print(f"kLaneSplitUs: {min(adding):.1f} at least, {statistics.median(adding):.1f} in the median of {len(adding)}")


def read_once():
    """Byte of a channel that cuDNN's batch norms read once, and of the others."""
    found = {True: [0], False: [math.inf]}
    for _, kernels in training_calls("cudnn_batch_norm"):
        dims, types = json.loads(kernels[0].dims), json.loads(kernels[0].types)
        at = next((i for i, d in enumerate(dims) if len(d) >= 4), None)
        named = [k.kernel for k in kernels if "1C11" in k.kernel]
        if at is not None and named:
            width, tensors = 4 if types[at] == "float" else 2, 1 + kernels[0].operator.endswith("backward")
            found["singleread" in named[0]].append(math.prod(dims[at]) / dims[at][1] * width * tensors)
    print(f"kReadOnceBytes: once up to {max(found[True]):.0f}, more than once from {min(found[False]):.0f}")


def layer_norms():
    rows, own, forwards = [], collections.defaultdict(list), collections.defaultdict(list)
    for _, found in training_calls("native_layer_norm"):
        data_dims = max(json.loads(found[0].dims), key=lambda d: math.prod(d) if d else 0)
        for k in found:
            if "GammaBeta" in k.kernel and json.loads(k.grid)[1] == 1:
                rows.append((math.prod(data_dims[:-1]), k.us))
            elif "grad_input" in k.kernel:
                own[found[0].types, tuple(data_dims)].append(k.us)
            elif "vectorized_layer_norm" in k.kernel:
                forwards[json.loads(found[0].types)[0], tuple(data_dims)].append(k.us)
    clocks = [us * profiles.CLOCK_MHZ / n for n, us in rows if n > 1024]
    ratios = [statistics.median(us) / statistics.median(forwards[json.loads(types)[0], dims])
              for (types, dims), us in own.items() if (json.loads(types)[0], dims) in forwards]
    print(f"kParameterRowClocks: {statistics.median(clocks):.1f} in the median of {len(clocks)}; kLayerNormBackward: "
          f"{statistics.median(ratios):.2f} of {len(ratios)}")


def main():
    found = gradients()
    depthwise(found)
    products(found)
    images(found)
    lanes(found)
    points(found)
    across()
    batch_norms()
    read_once()
    layer_norms()
    sums()


if __name__ == "__main__":
    main()
