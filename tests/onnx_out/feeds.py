"""Inputs and weights at random, such that a model's own types hold."""
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MOST_BYTES = 64 << 20       # of weights that are made at random, and of inputs
UNKNOWN_DIM = 2             # what open dims of inputs are bound to
ATTEMPTS = 60               # to find inputs that the model runs with and that contradict no type that it declares
WORDS = ["a", "b", "1", "2.5", "abc", "a b", "x@example.org", "-"]
# numpy has no such elements: the models are given casts from and to some that it has.
WIDER = {TensorProto.BFLOAT16: TensorProto.FLOAT, **dict.fromkeys((17, 18, 19, 20, 23, 24), TensorProto.FLOAT),
         **dict.fromkeys((21, 22, 25, 26), TensorProto.INT32)}


def rng(name: str, attempt: int = 0):
    return np.random.default_rng([zlib.crc32(name.encode()), attempt])


def weight_elements(name: str, shape, dtype):
    r = rng(name)
    if dtype == np.bool_:
        return r.random(shape) < 0.5
    if np.issubdtype(dtype, np.integer):
        return np.asarray(r.integers(0, 2, shape)).astype(dtype)
    if "var" in name:
        return np.asarray(0.5 + r.random(shape)).astype(dtype)
    scale = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5 if len(shape) > 1 else 1
    return np.asarray(r.standard_normal(shape) * scale).astype(dtype)


def has_contents(t) -> bool:
    if t.data_location == TensorProto.EXTERNAL:
        return False
    count = int(np.prod(t.dims)) if t.dims else 1
    return count == 0 or bool(t.raw_data or t.float_data or t.int32_data or t.int64_data or t.double_data
                              or t.uint64_data or t.string_data)


def graphs(graph):
    yield graph
    for node in graph.node:
        for a in node.attribute:
            for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs):
                yield from graphs(g)


def fill(model, most=MOST_BYTES) -> bool:
    """Gives weights that the file does not have random contents; False: they are too big."""
    total = 0
    for g in graphs(model.graph):
        tensors = list(g.initializer) + [a.t for n in g.node if n.op_type == "Constant" for a in n.attribute
                                         if a.type == onnx.AttributeProto.TENSOR]
        for t in tensors:
            if has_contents(t):
                continue
            dtype = helper.tensor_dtype_to_np_dtype(t.data_type)
            total += int(np.prod(t.dims)) * dtype.itemsize
            if total > most:
                return False
            name, dims = t.name, list(t.dims)
            t.CopyFrom(numpy_helper.from_array(np.asarray(weight_elements(name or "constant", dims, dtype)), name))
            t.data_location = TensorProto.DEFAULT
    return True


def accessible(model):
    """The model with inputs and outputs that numpy has, by casts."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    given = {t.name for t in out.graph.initializer}
    first, last = [], []
    for values, nodes in ((out.graph.input, first), (out.graph.output, last)):
        for v in values:
            wide = WIDER.get(v.type.tensor_type.elem_type)
            if wide is None or v.name in given:
                continue
            narrow, name = v.type.tensor_type.elem_type, v.name
            v.name, v.type.tensor_type.elem_type = name + "__wide", wide
            nodes.append(helper.make_node("Cast", [v.name], [name], to=narrow) if nodes is first else
                         helper.make_node("Cast", [name], [v.name], to=wide))
    body = [*first, *out.graph.node, *last]
    del out.graph.node[:]
    out.graph.node.extend(body)
    return out


def extents(tensor, dims: dict, name: str, index=None):
    out = []
    for i, d in enumerate(tensor.shape.dim):
        known = d.HasField("dim_value") and d.dim_value >= 0
        out.append(d.dim_value if known else dims.setdefault(d.dim_param or f"{name}.{i}", UNKNOWN_DIM))
    if int(np.prod(out)) * 8 > MOST_BYTES:
        raise ValueError("an input is too big")
    return out


def input_elements(name: str, shape, dtype, attempt: int, wanted: list):
    """Attempt 0: bits and a normal distribution. Later ones: other ranges, and shapes that results declare."""
    r = rng(name, attempt)
    style = np.random.default_rng(attempt)
    if dtype == np.object_:
        return r.choice(np.array(WORDS, dtype=object), shape)
    if dtype == np.bool_:
        return r.random(shape) < (0.5, 1, 0)[attempt % 3]
    if np.issubdtype(dtype, np.integer):
        fitting = [s for s in wanted if len(s) == (shape[0] if len(shape) == 1 else -1)]
        if fitting and attempt % 2:
            return np.asarray(fitting[attempt // 2 % len(fitting)]).astype(dtype)
        low, high = ((0, 2), (0, 1), (1, 2), (2, 3), (1, 4), (0, 4), (-2, 3), (1, 12), (0, 12), (3, 4))[
            0 if attempt == 0 else style.integers(10)]
        if np.issubdtype(dtype, np.unsignedinteger):
            low = max(low, 0)
        return np.asarray(r.integers(low, high, shape)).astype(dtype)
    if attempt == 0:
        return np.asarray(r.standard_normal(shape)).astype(dtype)
    kind = style.integers(6)
    values = (r.standard_normal(shape), r.random(shape) + 0.5, r.integers(1, 4, shape), np.full(shape, 2.0),
              r.random(shape) * 4, r.integers(0, 3, shape) * 0.5)[kind]
    return np.asarray(values).astype(dtype)


def element(type_proto, name: str, dims: dict, attempt: int, wanted: list):
    kind = type_proto.WhichOneof("value")
    if kind == "optional_type":
        return element(type_proto.optional_type.elem_type, name, dims, attempt, wanted)
    if kind == "sequence_type":
        return [element(type_proto.sequence_type.elem_type, f"{name}.{i}", dims, attempt, wanted) for i in range(2)]
    if kind != "tensor_type":
        raise ValueError(f"an input of {kind}")
    tensor = type_proto.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return np.asarray(input_elements(name, extents(tensor, dims, name), dtype, attempt, wanted))


def inputs_of(model, attempt: int = 0) -> dict:
    """Of an accessible model, by name."""
    known = {t.name for t in model.graph.initializer}
    wanted = [[d.dim_value for d in o.type.tensor_type.shape.dim] for o in model.graph.output
              if o.type.HasField("tensor_type")]
    dims = {}
    return {i.name: element(i.type, i.name, dims, attempt, wanted) for i in model.graph.input if i.name not in known}
