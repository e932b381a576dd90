#!/usr/bin/env python3
"""Operators of com.microsoft that the importer writes as several of the IR's: onnxruntime computes the same with what
`perfc opt -o` writes of them as with its own kernels, and gives results of the same types.

usage: contrib_test.py [PERFC]

Those that onnxruntime's CPU provider has not are computed here as its schemas say (docs/ContribOperators.md).
"""
import importlib.util
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

if not importlib.util.find_spec("onnxruntime"):
    python = support.reference_python()
    os.execv(python, [python, *sys.argv])

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import helper  # noqa: E402

import reimport_test  # noqa: E402
import runs  # noqa: E402

RANDOM = np.random.default_rng(7)
TOLERANCE = 1e-5


def f32(*dims):
    return RANDOM.standard_normal(dims).astype(np.float32)


def f16(*dims):
    return RANDOM.standard_normal(dims).astype(np.float16)


def whole(dtype, low, high, *dims):
    return RANDOM.integers(low, high, dims).astype(dtype)


def angles(rows, columns):
    return np.cos(f32(rows, columns)), np.sin(f32(rows, columns))


class Known(np.ndarray):
    """An operand that the file has as an initializer, since the importer must know it."""


def known(*values, dtype=np.int64):
    return np.array(values, dtype).view(Known)


def cases():
    """Operator, its attributes, operands (None: omitted), outputs ("": not asked)."""
    yield "LinearAttentionGate", {}, [f32(2, 3, 4), f32(4), f32(4), f32(2, 3, 4)], ["y", "z"]
    yield "LinearAttentionGate", {}, [f16(2, 3, 4), f32(4), f32(4)], ["y"]
    yield "GatedRMSNorm", {}, [f32(2, 3, 8), f32(8), f32(2, 3, 8)], ["y"]
    yield "GatedRMSNorm", {"activation": "sigmoid", "epsilon": 0.5}, [f32(2, 3, 8), f32(4), f32(2, 3, 8)], ["y"]
    for layout, sections in ((0, [2, 1, 1]), (1, [2, 1, 1])):
        same = np.broadcast_to(whole(np.int64, 0, 9, 1, 2, 3), (3, 2, 3)).copy()  # text: T = H = W
        yield ("MRotaryEmbedding", {"mrope_section": sections, "mrope_layout": layout},
               [f32(2, 4, 3, 8), same, *angles(9, 4)], ["y"])
    yield "ScaledSiLU", {"alpha": 0.7}, [f32(2, 5)], ["y"]
    yield "ScaledSiLU", {}, [f32(2, 5), f32()], ["y"]
    yield "GatedAdd", {}, [f32(2, 3, 4), f32(2, 3, 4), f32(2, 3, 1)], ["y"]
    yield "BranchwiseRMSNorm", {}, [f32(2, 3, 4)], ["y"]
    yield "BranchwiseRMSNorm", {}, [f32(2, 3, 4), f32(4)], ["y"]
    yield "BranchwiseRMSNorm", {}, [f32(2, 3, 4), f32(12)], ["y"]
    yield "BranchwiseRMSNorm", {"num_branches": 3, "epsilon": 0.5}, [f32(2, 12), f32(3, 4)], ["y"]
    yield "MoEGroupRouter", {"top_k": 2}, [f32(2, 3, 8), f32(8)], ["y"]
    yield ("MoEGroupRouter", {"top_k": 3, "n_group": 4, "topk_group": 2, "group_topk": 2}, [f32(5, 16), f32(16)], ["y"])
    yield ("MoEGroupRouter", {"top_k": 3, "n_group": 8, "topk_group": 2, "group_topk": 5}, [f32(5, 16), f32(16)], ["y"])
    for gates in ((2, 3), (2, 3, 1), (2, 3, 4)):
        yield "HyperConnectionPreMix", {"reduction_scale": 0.5}, [f32(2, 3, 4), f32(*gates)], ["y"]
        yield "HyperConnectionPostMix", {}, [f32(2, 3, 4), f32(2, 4), f32(*gates)], ["y"]
    yield "HyperConnectionPreMix", {"num_branches": 3}, [f32(2, 12), f32(2, 12)], ["y"]
    yield "HyperConnectionPreMix", {"num_branches": 3}, [f32(2, 12), f32(2, 3)], ["y"]
    yield "HyperConnectionPostMix", {}, [f32(5, 2, 3, 4), f32(5, 2, 4), f32(5, 2, 3), f32(5, 2, 3, 3)], ["y"]
    yield "HyperConnectionPostMix", {"num_branches": 3}, [f32(2, 12), f32(2, 4), f32(2, 3), f32(2, 3, 3)], ["y"]
    of_stream = [f32(2, 3, 4, 8), f32(2, 3, 4, 8), f32(2, 3, 8), f32(4, 8), f32(4, 8)]
    yield "EngramGate", {}, of_stream, ["y"]
    yield "EngramGate", {"epsilon": 0.1}, [*of_stream, f32(4, 8)], ["y", "z"]
    for metric in ("euclidean", "sqeuclidean"):
        yield "CDist", {"metric": metric}, [f32(5, 9), f32(7, 9)], ["y"]
    yield "UnfoldTensor", {"size": 3, "step": 2}, [f32(5, 9)], ["y"]
    yield "UnfoldTensor", {"size": 2, "dim": 0}, [f32(5, 9)], ["y"]
    yield ("ConvTransposeWithDynamicPads", {"strides": [2, 2]}, [f32(1, 3, 8, 8), f32(3, 4, 3, 3), known(1, 0, 1, 2),
                                                               f32(4)], ["y"])
    yield ("MaxpoolWithMask", {"kernel_shape": [2, 2], "strides": [2, 2]},
           [f32(1, 3, 8, 8), np.ones((1, 3, 8, 8), np.int32)], ["y"])
    yield "MatMulInteger16", {}, [whole(np.int16, -99, 99, 2, 5), whole(np.int16, -99, 99, 5, 3)], ["y"]
    yield "Unique", {}, [whole(np.float32, 0, 6, 20)], ["y", "places", "counts"]
    number = lambda dtype, value: np.array(value, dtype)  # noqa: E731
    tables = [whole(np.uint8, 0, 255, 30, 8), whole(np.uint8, 0, 255, 12, 8), whole(np.uint8, 0, 255, 2, 8)]
    factors = [whole(np.uint8, 0, 255, 8), whole(np.uint8, 0, 255, 8)]
    scales, zeros = [number(np.float32, 0.01)] * 5, [number(np.uint8, 128)] * 5
    ids = whole(np.int32, 0, 30, 2, 5)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    yield ("QEmbedLayerNormalization", {"epsilon": 1e-5},
           [ids, whole(np.int32, 0, 2, 2, 5), *tables, *factors, mask, *scales, *zeros], ["y", "z"])
    yield ("QEmbedLayerNormalization", {"epsilon": 1e-5},
           [ids, None, *tables[:2], None, *factors, None, *scales[:2], None, *scales[:2], *zeros[:2], None, *zeros[:2]],
           ["y", "z"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def swiglu(gate, up, alpha=1.0, beta=0.0, limit=0.0):
    if limit > 0:
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
    return gate * sigmoid(alpha * gate) * (up + beta)


def rms_norm(x, scale, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * scale


def distance_biases(table, queries, keys, farthest, both_ways):
    away = np.arange(queries)[:, None] - np.arange(keys)[None, :]
    buckets, first = table.shape[0], 0
    if both_ways:
        buckets //= 2
        first, away = (away < 0) * buckets, np.abs(away)
    else:
        away = np.maximum(away, 0)
    exact = buckets // 2
    with np.errstate(divide="ignore"):
        logs = np.log(away.astype(np.float32) / exact) / np.log(farthest / exact) * (buckets - exact)
    grown = np.minimum(exact + np.where(away > 0, logs, 0).astype(np.int64), buckets - 1)
    return table[first + np.where(away < exact, away, grown)].transpose(2, 0, 1)[None]


def without_padding(x, counts):
    there = (np.arange(x.shape[1])[None] < counts[:, None]).ravel()
    order = np.argsort(~there, kind="stable").reshape(x.shape[:2]).astype(np.int32)
    sums = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return x.reshape(-1, x.shape[2])[there], order, sums, counts.max(keepdims=True)


def with_padding(x, places):
    out = np.zeros((places.size, x.shape[1]), x.dtype)
    out[places.ravel()[:len(x)]] = x
    return out.reshape(*places.shape, -1)


def low_rank_mix(x, scale, down, up, inject, block, gate, n):
    grouped = x.reshape(*x.shape[:-1], n, -1)
    grouped = grouped + gate[..., None] * block[..., None, :]
    norm = rms_norm(grouped, scale.reshape(n, -1), 1e-5)
    flat = norm.reshape(x.shape)
    hidden = 0.5 * (flat @ down)
    hidden = hidden * sigmoid(hidden)
    gates = sigmoid(hidden @ up).reshape(norm.shape)
    return 0.25 * (norm * gates).sum(-2), 3 * sigmoid(flat @ inject / 2), grouped.reshape(x.shape)


def decoder(query, key, by_q, by_kv, bias, mask, keys, values, of_keys, cached, heads):
    def split(x):
        return x.reshape(*x.shape[:2], heads, -1).transpose(1, 2, 0, 3)
    hidden = query.shape[-1]
    q = split(query @ by_q + bias[:hidden])
    if of_keys and cached:
        k, v = keys, values
    else:
        both = (key if of_keys else query) @ by_kv + bias[hidden:]
        k, v = split(both[..., :hidden]), split(both[..., hidden:])
        if cached:
            k, v = np.concatenate([keys, k], 2), np.concatenate([values, v], 2)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(np.float32(q.shape[-1]))
    if mask is not None:
        scores = np.where(mask[:, None, None], -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    y = weights / weights.sum(-1, keepdims=True) @ v
    return y.transpose(2, 0, 1, 3).reshape(query.shape), k, v


def reference_cases():
    """The same, and what the schema says that the results are."""
    g, u, both = f32(2, 3, 4), f32(2, 3, 4), f32(2, 3, 8)
    clamped = {"activation_alpha": 1.5, "activation_beta": 1.0, "limit": 0.5}
    yield "SwiGLU", {}, [g, u], ["y"], [swiglu(g, u)]
    yield "SwiGLU", clamped, [g, u], ["y"], [swiglu(g, u, 1.5, 1, 0.5)]
    yield "SwiGLU", clamped, [both], ["y"], [swiglu(both[..., :4], both[..., 4:], 1.5, 1, 0.5)]
    x, w = f32(2, 3, 5), f32(5, 10)
    y = x @ w
    yield ("RouterGateUpProj", {"router_size": 4}, [x, w], ["y", "z"], [y[..., :4], swiglu(y[..., 4:7], y[..., 7:])])
    a, k, weight = f32(2, 3, 4), f32(2, 3, 6), f32(6, 1)
    yield "GatedAdd", {}, [a, g, k, weight], ["y"], [a + g * sigmoid(k @ weight)]
    table = f32(32, 3)
    for both_ways in (0, 1):
        yield ("RelativePositionBias", {"max_distance": 40, "is_bidirectional": both_ways},
               [table, known(50), known(60)], ["y"], [distance_biases(table, 50, 60, 40, both_ways)])
    x, counts = f32(3, 5, 4), np.array([2, 5, 3], np.int32)
    rows, order, sums, most = without_padding(x, counts)
    yield "RemovePadding", {}, [x, counts], ["y", "places", "sums", "most"], [rows, order, sums, most]
    yield "RestorePadding", {}, [rows, order], ["y"], [with_padding(rows, order)]
    table, ids = f32(20, 4), whole(np.int64, 0, 20, 2, 3)
    yield "TorchEmbedding", {}, [table, ids], ["y"], [table[ids]]
    a, b = f32(3, 4, 2), f32(4, 2)
    x, y = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    for op, z in (("ComplexMul", x * y), ("ComplexMulConj", x * y.conj())):
        yield op, {}, [a, b], ["y"], [np.stack([z.real, z.imag], -1)]
    a, b = whole(np.uint8, 0, 255, 2, 5), whole(np.uint8, 0, 255, 5)
    yield ("MulInteger", {}, [a, np.array(9, np.uint8), b, np.array(7, np.uint8)], ["y"],
           [(a.astype(np.int32) - 9) * (b.astype(np.int32) - 7)])
    yield "MulInteger", {}, [a, None, b], ["y"], [a.astype(np.int32) * b.astype(np.int32)]
    a = whole(np.int8, -99, 99, 2, 5)
    yield "ReduceSumInteger", {"axes": [1], "keepdims": 0}, [a], ["y"], [a.sum(1, dtype=np.int32)]
    x = f32(2, 3, 12)
    operands = [x, f32(12), f32(12, 5), f32(5, 12), f32(12, 3), f32(2, 3, 4), f32(2, 3, 3)]
    yield ("HyperConnectionLowRankMix", {"num_branches": 3, "silu_alpha": 0.5, "reduction_scale": 0.25, "gate_div": 2.0,
                                         "gate_mul": 3.0}, operands, ["y", "gate", "streams"],
           list(low_rank_mix(*operands, 3)))
    emb, q, q_rot, k, k_rot = f32(2, 3, 4), f16(2, 5, 3, 4), f16(2, 5, 3, 4), f16(2, 5, 3, 4), f16(2, 5, 3, 4)
    cos, sin = np.cos(emb).astype(np.float16)[:, None], np.sin(emb).astype(np.float16)[:, None]
    yield ("GemmaRotaryEmbedding", {}, [emb, q, q_rot, k, k_rot], ["q", "k"],
           [q * cos + q_rot * sin, k * cos + k_rot * sin])
    for value in (1, np.inf, np.nan):
        yield "IsAllFinite", {}, [f32(2, 5), np.full(3, value, np.float32)], ["y"], [np.isfinite(value)]
        yield ("IsAllFinite", {"isinf_only": 1}, [f32(2, 5), np.full(3, value, np.float32)], ["y"],
               [np.array(not np.isinf(value))])
    weights = [f32(8, 8), f32(8, 16), f32(24)]
    query, key, mask = f32(3, 2, 8), f32(5, 2, 8), np.array([[0, 0, 1], [0, 0, 0]], bool)
    old = [f32(2, 4, 6, 2), f32(2, 4, 6, 2)]
    flag = lambda v: known(v, dtype=bool).reshape(())  # noqa: E731
    for of_keys, cached, masked in ((0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1, 0)):
        yield ("DecoderAttention", {"num_heads": 4},
               [query, key, *weights, mask if masked else None, *(old if cached else [None, None]), flag(of_keys),
                flag(cached), flag(cached), flag(masked)], ["y", "k", "v"],
               list(decoder(query, key, *weights, mask if masked else None, *old, of_keys, cached, 4)))


def packed_cases():
    """Products with packed weights, which are written as operators that onnxruntime's CPU provider has not."""
    half = lambda *dims: np.zeros(dims, np.float16)  # noqa: E731
    whole_bytes = lambda *dims: np.zeros(dims, np.uint8)  # noqa: E731
    eight = lambda *dims: np.zeros(dims, ml_dtypes.float8_e4m3fn)  # noqa: E731
    yield ("MatMulBlockQuantizedFp4Weight", {}, [half(2, 5, 40), whole_bytes(96, 20), whole_bytes(96, 3), f32(), None,
                                                 half(96)], ["y"])
    yield "MatMulBlockQuantizedFp8Weight", {}, [half(2, 5, 40), eight(96, 40), f32(96, 1), None, half(96)], ["y"]
    packed = [whole_bytes(96, 2, 16), half(96, 2)]
    yield ("MatMulNBitsMlp", {"K": 64, "N": 96, "block_size": 32, "activation": "silu"},
           [half(1, 5, 64), half(1, 5, 64), half(64), *packed, None, *packed], ["y", "sum"])
    yield ("RMSNormRotary", {"rotary_embedding_dim": 8, "output_fp16": 1},
           [half(2, 3, 4, 16), f32(16), whole(np.int64, 0, 9, 2, 3), f32(9, 4), f32(9, 4)], ["y"])


def model_of(op, attributes, operands, outputs):
    names = [f"i{i}" if v is not None else "" for i, v in enumerate(operands)]
    given = [(n, v) for n, v in zip(names, operands) if v is not None]
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given
              if not isinstance(v, Known)]
    weights = [onnx.numpy_helper.from_array(np.asarray(v), n) for n, v in given if isinstance(v, Known)]
    node = helper.make_node(op, names, outputs, domain="com.microsoft", **attributes)
    asked = [onnx.ValueInfoProto(name=o) for o in outputs if o]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph([node], op, inputs, asked, weights), opset_imports=opsets, ir_version=10)


def problem_of(perfc, folder, op, attributes, operands, outputs, wanted=None) -> str | None:
    written, again = folder / "one.onnx", folder / "several.onnx"
    model = model_of(op, attributes, operands, outputs)
    onnx.save(model, written)
    feed = {f"i{i}": v for i, v in enumerate(operands) if v is not None}
    try:
        wanted = dict(zip(outputs, wanted)) if wanted else runs.run(runs.session(model), feed)
    except Exception as e:  # noqa: BLE001, onnxruntime raises its own of many kinds
        return f"onnxruntime: {str(e)[:200]}"
    code, stderr = runs.perfc(perfc, "opt", written, "--passes", "none", "-o", again)
    if code:
        return runs.error_of(stderr)
    try:
        found = runs.run(runs.session(str(again)), feed)
    except Exception as e:  # noqa: BLE001
        return f"onnxruntime, of what is written: {str(e)[:200]}"
    tolerance = 2e-3 if any(v.dtype == np.float16 for v in feed.values()) else TOLERANCE
    for name, value in wanted.items():
        if why := runs.difference(value, found[name], tolerance):
            return f"{name}: {why}"
    return None


def written_problem(perfc, folder, op, attributes, operands, outputs) -> str | None:
    """What is written is what onnxruntime takes, but for kernels, and perfc reads it as the same work."""
    written, again = folder / "one.onnx", folder / "several.onnx"
    onnx.save(model_of(op, attributes, operands, outputs), written)
    code, stderr = runs.perfc(perfc, "opt", written, "--passes", "none", "-o", again)
    if code:
        return runs.error_of(stderr)
    try:
        runs.session(str(again))
    except Exception as e:  # noqa: BLE001
        if "Could not find an implementation" not in str(e):
            return f"onnxruntime, of what is written: {str(e)[:200]}"
    before, after = (reimport_test.static(perfc, path) for path in (written, again))
    return None if before == after else f"{before}, written and read again {after}"


def main():
    perfc = sys.argv[1] if len(sys.argv) > 1 else str(support.PERFC)
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as name:
        checks = [*((problem_of, c) for c in (*cases(), *reference_cases())),
                  *((written_problem, c) for c in packed_cases())]
        for problem, case in checks:
            count += 1
            if why := problem(perfc, pathlib.Path(name), *case):
                shapes = [v if v is None else list(np.shape(v)) for v in case[2]]
                problems.append(f"{case[0]} {case[1]} {shapes}: {why}")
    print(f"{count} forms of operators, {len(problems)} computed otherwise")
    print("\n".join("  " + p for p in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
