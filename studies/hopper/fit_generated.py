#!/usr/bin/env python3
"""Fits what TorchInductor's kernels and its wrapper's calls take to an H200's profiles (README.md).

    python3 studies/hopper/fit_generated.py        (numpy, scipy, numba, pandas)
    python3 studies/hopper/fit_generated.py --models MODELS [--perfc build/release/perfc]      the wrapper's calls, too

Reads `fit-compiled` and prints as fit_inference.py does. Operators' clocks are the column `generated_clocks` of ir/ops.
What a pointwise kernel computes is told from its name, which lists operators once, and from how many vectors it reads:
four per batch norm. Cells whose batch was not the first of their model (float32, TF32) were compiled for any batch,
and lie channels first for that reason (torch/_inductor/graph.py, decide_layout_opt): their kernels count, their host
does not.
"""
import argparse
import json
import math
import pathlib
import re
import sys

import numpy as np
import scipy.optimize

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[1] / "kernels")]

import emitted  # noqa: E402
import judge  # noqa: E402
import profiles  # noqa: E402
from inference import BANDWIDTH, BYTES, SHIPPED, SM_CLOCKS, mape  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
LEAST = 500_000  # elements: smaller kernels tell no rate
STEADY = 0.06  # of a run's median, half of its spread: else the host traced others meanwhile
#: Columns of the law, in the order of its constants, with where each ships.
OPERATORS = {"nn.batch_norm": "reductions", "nn.gelu": "elementwise", "nn.fast_gelu": "elementwise",
             "nn.silu": "elementwise"}
WORDS = {"nn.gelu": "_gelu_", "nn.fast_gelu": "_tanh_", "nn.silu": "_silu_"}


def shipped_clocks(operator):
    text = (ROOT / f"ir/ops/table/{OPERATORS[operator]}.cpp").read_text()
    row = re.search(rf'\{{\.name = "{re.escape(operator)}".*?generated_clocks = ([\d.]+)', text, re.S)
    return float(row.group(1))


def pointwise(cell, k):
    """Of a kernel that reads and writes whole values alone: elements, bytes, what it computes."""
    tensors = [(math.prod(d), BYTES.get(t, 8)) for d, t in zip(json.loads(k.dims), json.loads(k.types))
               if t != "Scalar" and d]
    count = json.loads(k.arguments)
    elements = max(n for n, _ in tensors)
    if elements < LEAST or math.prod(int(c) for c in count if c.isdigit()) != elements:
        return None  # it computes a part, or joins several
    if any(word in k.operator for word in ("cat", "pool", "attention", "mean", "embedding", "hard")):
        return None
    whole = [width for n, width in tensors if n == elements]
    norms = sum(n < elements / 8 for n, _ in tensors) // 4
    inputs = norms + (norms == 1 and "_add_" in k.operator) if norms else max(len(whole) - 1, 1)
    moved = sum(whole) + max(inputs + 1 - len(whole), 0) * whole[0]  # results that take an operand's place
    return {"elements": elements, "bytes": moved * elements, "nn.batch_norm": norms, "us": k.us,
            **{o: int(word in k.operator + "_") for o, word in WORDS.items()}}


def pointwise_us(c, rows):
    first, byte, *clocks = c
    computed = byte * rows["bytes"] + sum(x * rows[o] * rows["elements"] for o, x in zip(OPERATORS, clocks))
    return first + np.maximum(computed / SM_CLOCKS, rows["bytes"] / BANDWIDTH)


def fit_pointwise():
    found = {}
    for cell, kernels in profiles.by_cell("fit-compiled").items():
        for k in kernels:
            made = pointwise(cell, k) if k.operator.startswith("triton_poi") else None
            if made:
                found.setdefault((cell, k.operator), []).append(made)
    median = [sorted(of, key=lambda r: r["us"])[len(of) // 2] for of in found.values()]
    rows = {key: np.array([r[key] for r in median]) for key in median[0]}
    ships = [SHIPPED["kGeneratedUs"], SHIPPED["kGeneratedTime"][0], *map(shipped_clocks, OPERATORS)]

    def loss(c):
        return np.log(pointwise_us(c, rows) / rows["us"])

    best = scipy.optimize.least_squares(loss, ships, bounds=(0, 10), loss="soft_l1", f_scale=0.1).x
    names = ["kGeneratedUs", "kGeneratedTime.byte", *OPERATORS]
    print(", ".join(f"{n} {b:.3g} ({s:.3g})" for n, b, s in zip(names, best, ships)) +
          f": {len(median)} kernels, MAPE {mape(pointwise_us(best, rows), rows['us']):.1f} % "
          f"({mape(pointwise_us(ships, rows), rows['us']):.1f})")


def fit_part(name, part, elements_of):
    """Clocks per element of kernels that a part of their names tells."""
    rows = []
    for kernels in profiles.by_cell("fit-compiled").values():
        for k in kernels:
            elements = elements_of(k) if re.search(part, k.operator) else 0
            if elements >= LEAST:
                rows.append((elements, sum(math.prod(d) * BYTES.get(t, 8) for d, t in
                                           zip(json.loads(k.dims), json.loads(k.types)) if t != "Scalar"), k.us))
    elements, moved, measured = np.array(rows).T

    def us(clocks):
        computed = SHIPPED["kGeneratedTime"][0] * moved + clocks * elements
        return SHIPPED["kGeneratedUs"] + np.maximum(computed / SM_CLOCKS, moved / BANDWIDTH)

    best = min(np.arange(0.02, 3, 0.02), key=lambda c: np.abs(np.log(us(c) / measured)).mean())
    print(f"{name} {best:.3g} ({SHIPPED[name]:.3g}): {len(rows)} kernels, MAPE {mape(us(best), measured):.1f} % "
          f"({mape(us(SHIPPED[name]), measured):.1f}), median {np.median(us(best) / measured):.2f} "
          f"({np.median(us(SHIPPED[name]) / measured):.2f})")


def of_operand(k):
    return math.prod(json.loads(k.dims)[0])


def of_images(k):
    dims = json.loads(k.dims)[0]
    return math.prod(dims) if len(dims) == 4 and dims[1] == 3 and dims[2] > 16 and json.loads(k.grid)[1] > 1 else 0


def fit_calls(models, perfc):
    """The wrapper's time: generated kernels, and libraries' calls over what they take in eager mode."""
    files = judge.exported(models)
    eager = next(h for h in json.loads((ROOT / "data/hosts.json").read_text())["hosts"]
                 if h["name"] == "h200-2026")["eager_us"]
    classes = {"convolution": "convolution", "depthwise": "convolution", "matmul": "product"}
    tables, rows, first = profiles.by_cell("fit-compiled"), [], {}
    for label in profiles.labels("fit"):
        if label["mode"] != "compiled" or label["target"] not in files:
            continue
        any_batch = label["batch"] not in ("1", first.setdefault(label["target"], label["batch"]))
        ran_us = sum(k.us + profiles.GAP_US for k in tables[label["cell"]])
        measured = float(label["latency_ms"]) * 1e3
        if any_batch or float(label["spread"]) > STEADY or measured < judge.HOST_WAITS * ran_us:
            continue
        kernels = list(emitted.kernels(perfc, files[label["target"]], *judge.options(label)))
        calls = [eager["composite" if "sdpa" in k["operators"] else classes[k["kind"]]] for k in kernels
                 if k["kind"] in classes]
        rows.append((measured, sum(calls), len(kernels) - len(calls), len(kernels)))
    measured, calls, generated, kernels = np.array(rows).T
    best = scipy.optimize.least_squares(
        lambda c: np.log((c[0] * calls + c[1] * generated) / measured), [1.4, 6], bounds=(0, 50), loss="soft_l1",
        f_scale=0.1).x  # some of these hosts traced others meanwhile
    said = best[0] * calls + best[1] * generated

    def middle(of):
        return 100 * np.median(np.abs(of / measured - 1))

    print(f"a library's call {best[0]:.2f} times an eager one (devices/host.cpp, kCompiledCall), a generated kernel "
          f"{best[1]:.1f} µs (h200-2026): {len(rows)} runs, median error {middle(said):.1f} %; every kernel alike "
          f"{middle(np.median(measured / kernels) * kernels):.1f} %")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--models")
    p.add_argument("--perfc", default="build/release/perfc")
    args = p.parse_args()
    fit_pointwise()
    fit_part("kGeneratedRow", r"triton_(per|red)_.*(layer_norm|softmax)", of_operand)
    fit_part("kGeneratedImages", r"triton_poi_fused_(_to_copy|convolution)_\d+$", of_images)
    if args.models:
        fit_calls(args.models, args.perfc)


if __name__ == "__main__":
    main()
