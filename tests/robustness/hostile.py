"""Hostile models: name → (file contents, what the diagnostic must say).

None instead of a text: refusing and importing are both fine, crashing, hanging
and eating memory are not."""
from support import ROOT
from wire import (BOOL, FLOAT, INT64, attribute, function, graph, ints, message, model, nested, node, number, tensor,
                  tensor_type, value, varint)

X = value("x", [1, 3, 8, 8])
HUGE = 1 << 62


def one(op, *extra, inputs=("x",), x=X, outputs=("y",), opset=17, domain="", **attributes):
    """A model of one node; `extra` are initializers, which follow x as operands."""
    names = [*inputs, *(f"c{i}" for i in range(len(extra)))]
    constants = [make(f"c{i}") for i, make in enumerate(extra)]
    declared = [message(1, o) for o in outputs]
    return model(graph([node(op, names, outputs, domain=domain, **attributes)], [x], declared, constants), opset=opset)


def const(*values):
    return lambda name: ints(name, values)


def floats(dims):
    return lambda name: tensor(name, FLOAT, dims)


def structure():
    y = [message(1, "y")]
    relu = node("Relu", ["x"], ["y"])
    yield "empty", b"", "empty"
    yield "no-graph", number(1, 8) + message(8, number(2, 17)), "no graph"
    yield "no-outputs", model(graph([relu], [X], [])), None
    yield "cycle", model(graph([node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]), node("Add", ["a", "x"], ["y"])],
                               [X], y)), "cycle"
    yield "self-cycle", model(graph([node("Relu", ["y"], ["y"])], [X], y)), "cycle"
    yield "duplicate-value", model(graph([relu, node("Abs", ["x"], ["y"])], [X], y)), "y"
    yield "duplicate-input", model(graph([relu], [X, X], y)), "two graph inputs"
    yield "duplicate-initializer", model(graph([relu], [X], y, [ints("c", [1]), ints("c", [1])])), "two initializers"
    yield "missing-value", model(graph([node("Add", ["x", "nowhere"], ["y"])], [X], y)), "nowhere"
    yield "missing-output", model(graph([relu], [X], [message(1, "z")])), "no node produces"
    yield "terminal-escapes", model(graph([node("No\x1b[31mSuch", ["\x07"], ["y"])], [X], y)), "\\x07"
    yield "bad-utf8", model(
        graph([b"".join([message(1, b"\xff\xfe"), message(2, "y"),
                         message(4, b"\xc0\x80")])], [X], y)), ""
    yield "many-inputs", model(graph([node("Sum", ["x"] * 100_000, ["y"])], [X], y)), None
    yield "many-attributes", model(
        graph([
            message(1, "x") + message(2, "y") + message(4, "Relu") +
            b"".join(message(5, attribute(f"a{i}", i)) for i in range(100_000))
        ], [X], y)), None
    yield "many-outputs", model(
        graph([node("Split", ["x"], [f"y{i}" for i in range(100_000)])], [X], [message(1, "y0")])), ""


def functions():
    call = node("F0", ["x"], ["y"], domain="f")
    top = graph([call], [X], [message(1, "y")])
    yield "function-of-itself", model(top, [function("F0", ["x"], ["y"], [call])]), "F0"
    yield "functions-of-each-other", model(top, [
        function("F0", ["x"], ["y"], [node("F1", ["x"], ["y"], domain="f")]),
        function("F1", ["x"], ["y"], [node("F0", ["x"], ["y"], domain="f")])]), "F"
    doubling = [function(f"F{i}", ["x"], ["y"], [node(f"F{i + 1}", ["x"], ["t"], domain="f"),
                                                 node(f"F{i + 1}", ["t"], ["y"], domain="f")]) for i in range(60)]
    yield "functions-2-to-the-60", model(
        top, [*doubling, function("F60", ["x"], ["y"], [node("Relu", ["x"], ["y"])])]), ""
    chain = [function(f"F{i}", ["x"], ["y"], [node(f"F{i + 1}", ["x"], ["y"], domain="f")]) for i in range(20_000)]
    yield "functions-20000-deep", model(top,
                                        [*chain, function("F20000", ["x"], ["y"], [node("Relu", ["x"], ["y"])])]), ""
    yield "function-twice", model(top, [function("F0", ["x"], ["y"], [node("Relu", ["x"], ["y"])])] * 2), "twice"


def nesting():
    y, c = [message(1, "y")], value("c", [], BOOL)
    for levels in (100, 1_000_000):
        # If whose then-branch is a graph with an If …: AttributeProto.g in NodeProto.attribute in GraphProto.node.
        core = message(1, node("Relu", ["x"], ["y"])) + message(12, message(1, "y"))
        inner = core
        if levels == 100:
            for _ in range(levels):
                inner = graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=core)], [], y)
            yield "regions-100-deep", model(
                graph([node("If", ["c"], ["y"], then_branch=inner, else_branch=core)], [X, c], y)), "deep"
        else:
            parts, size = [], len(core)
            for _ in range(levels):
                for head, field in ((b"", 6), (message(1, "c") + message(2, "y") + message(4, "If"), 5), (b"", 1)):
                    prefix = head + varint(field << 3 | 2) + varint(size)
                    parts.append(prefix)
                    size += len(prefix)
            yield "regions-1000000-deep", model(b"".join(reversed(parts)) + core), ""
    deep_type = nested(1_000_000, b"", 1, b"", tensor_type(FLOAT, [1]))
    yield "types-1000000-deep", model(
        graph([node("Identity", ["x"], ["y"])], [message(1, "x") + message(2, deep_type)], y)), ""
    yield "unknown-fields-deep", nested(1_000_000, b"", 99, b"", b""), ""


def dims():
    for name, shape in {"negative": [-5, 3], "overflowing": [HUGE, HUGE, 16], "max": [(1 << 63) - 1] * 4,
                        "zero": [0, 3]}.items():
        yield f"dims-{name}", one("Relu", x=value("x", shape)), "TypeProto" if name == "negative" else None
        yield f"weights-{name}", one("Add", floats(shape)), "negative" if name == "negative" else None
    yield "rank-million", one("Relu", x=value("x", [1] * 1_000_000)), None
    yield "raw-data-too-short", one("Reshape", lambda n: tensor(n, INT64, [4], b"\x01" * 7)), ""
    yield "raw-data-absent", one("Reshape", lambda n: tensor(n, INT64, [4])), None
    yield "initializer-2-to-the-62", one("Reshape", lambda n: tensor(n, INT64, [HUGE], b"\x01" * 8)), ""
    yield "dtype-unknown", one("Relu", x=message(1, "x") + message(2, tensor_type(99, [1]))), ""
    yield "gemm-huge", one("MatMul", floats([HUGE, HUGE]), x=value("x", [HUGE, HUGE])), None


def attributes():
    w = floats([4, 3, 3, 3])
    for key, given in {
            "strides": [0, 0], "dilations": [-1, 3], "pads": [-HUGE] * 4, "group": 0, "kernel_shape": [0, 0]
    }.items():
        yield f"conv-{key}", one("Conv", w, **{key: given}), ""
    yield "conv-pads-huge", one("Conv", w, pads=[HUGE] * 4), None
    yield "conv-strides-wrong-kind", one("Conv", w, strides="two"), ""
    yield "conv-transpose-huge", one("ConvTranspose", floats([3, 4, 3, 3]), strides=[HUGE, HUGE]), None
    yield "pool-zero-stride", one("MaxPool", kernel_shape=[2, 2], strides=[0, 0]), ""
    yield "pool-negative-kernel", one("AveragePool", kernel_shape=[-2, 2]), ""
    yield "concat-axis", one("Concat", axis=HUGE), ""
    yield "softmax-axis", one("Softmax", axis=-HUGE), ""
    yield "transpose-perm", one("Transpose", perm=[0, 0, 1, HUGE]), ""
    yield "space-to-depth-zero", one("SpaceToDepth", blocksize=0), ""
    yield "depth-to-space-huge", one("DepthToSpace", blocksize=HUGE), ""
    yield "split-billion", one("Split", num_outputs=1_000_000_000, opset=18), ""
    yield "split-zero", one("Split", num_outputs=0, opset=18), ""
    yield "einsum-million", one("Einsum", equation="a" * 1_000_000 + "->a"), ""
    yield "einsum-ellipses", one("Einsum", equation="...i...j...->......"), ""
    yield "lstm-hidden-huge", one("LSTM", floats([1, 4, 8]), floats([1, 4, 1]), x=value("x", [5, 1, 8]),
                                  hidden_size=HUGE), None
    yield "flatten-axis", one("Flatten", axis=99), ""
    yield "lrn-size", one("LRN", size=-1), None
    yield "cast-to-nowhere", one("Cast", to=999), ""
    yield "attention-heads-zero", one("Attention", floats([8, 24]), floats([24]), x=value("x", [1, 4, 8]),
                                      domain="com.microsoft", num_heads=0), ""
    yield "experts-without-rows", one("MoE", floats([0, 4]), floats([4, 8, 8]), floats([8]), floats([4, 8, 8]),
                                      x=value("x", [0, 8]), domain="com.microsoft", k=2), None
    yield "experts-unlike-their-data", one("MoE", floats([4, 2]), floats([4, HUGE, 8]), floats([8]), floats([4, 8, 9]),
                                           x=value("x", [4, 8]), domain="com.microsoft", k=2), ""
    yield "experts-fewer-than-chosen", one("QMoE", floats([4, 2]), floats([4, 8, 8]), floats([8]), floats([8]),
                                           floats([4, 8, 8]), domain="com.microsoft", k=HUGE), ""
    yield "states-without-channels", one("GatedDeltaNet", floats([1, 4, 0, 0]), inputs=("x", *[""] * 5),
                                         x=value("x", [6, 8]), domain="com.microsoft", update_rule="linear"), ""
    yield "states-of-absurd-heads", one("LinearAttention", floats([1, 4, 8]), floats([1, 4, 8]),
                                        x=value("x", [1, 4, 8]), domain="com.microsoft", q_num_heads=HUGE,
                                        kv_num_heads=1, update_rule="linear"), ""
    yield "causal-reach-absurd", one("CausalConvWithState", floats([8, 1, 4]), x=value("x", [1, 8, 4]),
                                     domain="com.microsoft", dilation=HUGE), ""
    yield "causal-window-empty", one("CausalConvWithState", floats([8, 1, 0]), x=value("x", [1, 8, 4]),
                                     domain="com.microsoft"), ""
    yield "matmulnbits-zero-block", one("MatMulNBits", floats([8, 1, 8]), floats([8]), x=value("x", [1, 16]), K=16, N=8,
                                        bits=4, block_size=0, domain="com.microsoft"), ""
    yield from contrib_attributes()
    yield "random-huge", model(graph([node("RandomNormal", [], ["y"], shape=[HUGE, HUGE])], [X],
                                     [message(1, "y")])), None


def contrib_attributes():
    """Operators of com.microsoft that language models have."""
    def ms(op, *extra, **attributes):
        return one(op, *extra, domain="com.microsoft", **attributes)

    rows, four = value("x", [4, 64]), value("x", [1, 2, 4, 64])
    yield "gate-without-operands", ms("LinearAttentionGate", x=value("x", [1, 2, 8])), "operand 1 (dt_bias) is missing"
    yield "gate-of-other-heads", ms("LinearAttentionGate", floats([5]), floats([8]), x=value("x", [1, 2, 8])), "dt_bias"
    yield "gated-norm-of-nothing", ms("GatedRMSNorm", floats([0]), floats([4, 64]), x=rows), "parts of 0"
    yield "gated-norm-without-gate", ms("GatedRMSNorm", floats([64]), x=rows), "operand 2 (gate) is missing"
    yield "branches-huge", ms("BranchwiseRMSNorm", num_branches=HUGE, x=rows), "branches"
    yield "swiglu-odd", ms("SwiGLU", x=value("x", [4, 7])), "two halves"
    yield "swiglu-scalar", ms("SwiGLU", x=value("x", [])), "1 or more dims"
    yield "gated-add-scalars", ms("GatedAdd", floats([]), floats([]), x=value("x", [])), "X must have a dim"
    rotary = (floats([64]), const(0), floats([9, 16]), floats([9, 16]))
    yield ("norm-and-rotary-huge", ms("RMSNormRotary", *rotary, rotary_embedding_dim=HUGE, x=four),
           "rotary_embedding_dim")
    yield "norm-and-rotary-start", ms("RMSNormRotary", *rotary, rotary_embedding_dim=32, input_start=HUGE,
                                      input_width=HUGE, x=four), "input_start"
    yield "norm-and-rotary-negative", ms("RMSNormRotary", *rotary, rotary_embedding_dim=32, input_start=-HUGE,
                                         input_width=64, x=four), "input_start"
    yield "rotary-sections-huge", ms("MRotaryEmbedding", *rotary[1:], mrope_section=[HUGE, HUGE, HUGE],
                                     x=four), "mrope_section"
    yield ("rotary-sections-negative", ms("MRotaryEmbedding", *rotary[1:], mrope_section=[-1, 9, 8], x=four),
           "mrope_section")
    weight = (floats([8, 2, 16]), floats([8, 2]))
    sizes = {"K": 64, "N": 8, "block_size": 32, "activation": "silu"}
    none = ["x", "", ""]
    yield ("packed-mlp-without-up", ms("MatMulNBitsMlp", *weight, inputs=none, x=rows, **sizes),
           "operand 6 (up_B) is missing")
    yield "packed-mlp-huge", ms("MatMulNBitsMlp", *weight, floats([8]), *weight, inputs=none, x=rows,
                                **{**sizes, "K": HUGE, "N": HUGE}), "too large"
    yield "packed-qkv-block", ms("MatMulNBitsQkv", floats([64]), *weight, floats([8]), *weight, floats([8]), *weight,
                                 inputs=["x", ""], x=rows, K=64, Nq=8, Nkv=8, block_size=0), "block_size"
    yield "adapter-of-no-rank", ms("MatMulNBitsQLoRA", *weight, floats([0, 2, 16]), floats([0, 2]), floats([8, 1, 16]),
                                   floats([8, 1]), x=rows, K=64, N=8), ""
    yield "float4-block-negative", ms("MatMulBlockQuantizedFp4Weight", floats([8, 32]), floats([8, 4]), floats([]),
                                      block_size=-16, x=rows), "block_size"
    yield "float8-block-huge", ms("MatMulBlockQuantizedFp8Weight", floats([8, 64]), floats([8, 1]), block_size=HUGE,
                                  x=rows), "block_size"
    yield "float8-product-to-nowhere", ms("GemmFloat8", floats([64, 8]), dtype=999, x=rows), ""
    yield "router-wider-than-weight", ms("RouterGateUpProj", floats([64, 8]), router_size=HUGE, x=rows), "router_size"
    yield "router-of-no-groups", ms("MoEGroupRouter", floats([64]), top_k=2, n_group=0, x=rows), "n_group is 0"
    yield ("router-of-huge-groups", ms("MoEGroupRouter", floats([64]), top_k=HUGE, n_group=8, topk_group=8, x=rows),
           "top_k")
    yield "streams-zero", ms("HyperConnectionPreMix", floats([4, 0]), num_branches=0, x=value("x", [4, 0, 8])), None
    yield ("streams-negative", ms("HyperConnectionPostMix", floats([4, 8]), floats([4, 8]), num_branches=-8, x=rows),
           "is -8")
    yield "streams-of-one-rank", ms("HyperConnectionPreMix", floats([]), x=value("x", [8])), "streams must have"
    yield "engram-flat", ms("EngramGate", *[floats([4, 64])] * 4, x=rows), "key must have 4 dims"
    yield ("packed-experts-format", ms("MoEPacked", floats([4, 8]), floats([8, 4, 144]), floats([8, 4, 144]),
                                       floats([8, 64, 144]), gate_type=-1, up_type=12, down_type=12, x=rows),
           "gate_type is -1")
    yield "unfold-huge", ms("UnfoldTensor", size=HUGE, x=rows), "windows of"
    yield "unfold-step-zero", ms("UnfoldTensor", size=2, step=0, x=rows), "windows of"
    yield "biases-of-one-bucket", ms("RelativePositionBias", const(5), const(5), max_distance=HUGE,
                                     x=value("x", [1, 8])), "buckets"
    yield "biases-huge", ms("RelativePositionBias", const(HUGE), const(HUGE), max_distance=128,
                            x=value("x", [32, 8])), None
    yield "dynamic-pads-huge", ms("ConvTransposeWithDynamicPads", floats([3, 4, 3, 3]), const(*[HUGE] * 4)), None
    yield "crop-huge", ms("CropAndResize", floats([6, 4]), const(*[0] * 6), const(HUGE, HUGE)), None


def operands():
    yield "tile-absurd", one("Tile", const(HUGE, HUGE, HUGE, HUGE)), ""
    yield "tile-negative", one("Tile", const(-1, 1, 1, 1)), ""
    yield "expand-absurd", one("Expand", const(HUGE, 3, 8, 8)), None
    yield "reshape-negative", one("Reshape", const(-7, 3)), ""
    yield "reshape-two-unknown", one("Reshape", const(-1, -1)), ""
    yield "reshape-overflow", one("Reshape", const(HUGE, HUGE, 16)), ""
    yield "pad-absurd", one("Pad", const(*[HUGE] * 8)), None
    yield "pad-negative", one("Pad", const(*[-HUGE] * 8)), ""
    yield "slice-min", one("Slice", const(-(1 << 63)), const((1 << 63) - 1), const(0), const(-(1 << 63))), None
    yield "slice-step-zero", one("Slice", const(0), const(1), const(0), const(0)), ""
    yield "unsqueeze-absurd", one("Unsqueeze", const(HUGE)), ""
    yield "unsqueeze-million", one("Unsqueeze", const(*range(1_000_000))), None
    yield "topk-huge", one("TopK", const(HUGE), outputs=("y", "z")), ""
    yield "resize-sizes", one("Resize", const(), const(), const(HUGE, HUGE, HUGE, HUGE)), None
    yield "constant-of-shape", one("ConstantOfShape", const(HUGE, HUGE), inputs=()), None
    yield "constant-of-shape-negative", one("ConstantOfShape", const(-1), inputs=()), ""
    scalar = lambda v: lambda n: tensor(n, INT64, [], v.to_bytes(8, "little", signed=True))  # noqa: E731
    yield "range-huge", one("Range", scalar(0), scalar(HUGE), scalar(1), inputs=()), None
    yield "range-step-zero", one("Range", scalar(0), scalar(HUGE), scalar(0), inputs=()), ""
    yield "range-min", one("Range", scalar(-(1 << 63)), scalar((1 << 63) - 1), scalar(1), inputs=()), None
    yield "onehot-huge", one("OneHot", scalar(HUGE), const(0, 1), x=value("x", [2], INT64)), None
    yield "gather-out-of-range", one("Gather", const(HUGE), axis=0), None
    divide = [node("Div", ["c0", "c1"], ["y"])]
    yield "fold-division-by-zero", model(
        graph(divide, [X], [message(1, "y")], [ints("c0", [-(1 << 63)]), ints("c1", [0])])), None
    yield "fold-division-overflow", model(
        graph(divide, [X], [message(1, "y")], [ints("c0", [-(1 << 63)]), ints("c1", [-1])])), None
    yield "fold-mod-zero", model(graph([node("Mod", ["c0", "c1"], ["y"])], [X], [message(1, "y")],
                                       [ints("c0", [5]), ints("c1", [0])])), None
    body = graph(
        [node("Identity", ["cond"], ["c2"]),
         node("Concat", ["v", "v"], ["v2"], axis=0)],
        [value("i", [], INT64),
         value("cond", [], BOOL),
         message(1, "v") + message(2, tensor_type(FLOAT, [4]))], [message(1, "c2"), message(1, "v2")])
    yield "loop-doubling", model(
        graph([node("Loop", ["n", "", "v0"], ["y"], body=body)], [value("v0", [4])], [message(1, "y")],
              [tensor("n", INT64, [], HUGE.to_bytes(8, "little"))])), None
    grow = [node("Concat", [f"t{i}", f"t{i}"], [f"t{i + 1}"], axis=0) for i in range(200)]
    yield "doubling-200-times", model(graph(grow, [value("t0", [2])], [message(1, "t200")])), None
    shapes = [node("Concat", [f"t{i}", f"t{i}"], [f"t{i + 1}"], axis=0) for i in range(40)]
    yield "constant-doubling-40-times", model(graph(shapes, [X], [message(1, "t40")], [ints("t0", [1, 2])])), None


def wire_format():
    good = one("Relu")
    yield "varint-endless", b"\x80" * 100, ""
    yield "varint-eleven-bytes", b"\x08" + b"\xff" * 10 + b"\x01" + good, ""
    yield "length-beyond-end", varint(7 << 3 | 2) + varint(1 << 40) + good, ""
    yield "length-negative", varint(7 << 3 | 2) + b"\xff" * 9 + b"\x01" + good, ""
    yield "field-zero", b"\x00\x01" + good, ""
    yield "group-open", varint(5 << 3 | 3) + good, ""
    yield "group-close", varint(5 << 3 | 4) + good, ""
    yield "wire-type-7", varint(5 << 3 | 7) + good, ""
    yield "graph-as-number", number(7, 5), ""
    yield "two-graphs", good + good, None
    yield "zeros", b"\x00" * 4096, ""
    yield "ones", b"\xff" * 4096, ""


BINARY = {name: (data, says) for part in (structure, functions, nesting, dims, attributes, operands, wire_format)
          for name, data, says in part()}

HEAD = 'ir_version: 8\nopset_import { version: 17 }\n'


def without_operands() -> str:
    """A node of each ONNX operator of docs/ops.md, with attributes that some read before their operands."""
    rows = (ROOT / "docs" / "ops.md").read_text().split("## onnx:")[1].split("\n## ")[0].splitlines()
    spellings = [row.split()[1] for row in rows if row.startswith("| ")][1:]
    attributes = " ".join(f'attribute {{ name: "{name}" ints: 0 type: INTS }}' for name in ("dims", "axes"))
    nodes = []
    for i, (domain, _, name) in enumerate(spelling.rpartition(".") for spelling in spellings):
        nodes.append(f'node {{ output: "y{i}" op_type: "{name}" domain: "{domain}" {attributes} }}')
    return HEAD + "graph { " + "\n".join(nodes) + " }"


TEXT = {
    "text-empty-graph": (HEAD + "graph { }", ""),
    "text-unclosed": (HEAD + "graph {", ""),
    "text-surplus-brace": (HEAD + "}", ""),
    "text-nested": ("graph {" * 1_000_000, ""),
    "text-angles": ("graph <" * 1_000_000, ""),
    "text-unterminated-string": (HEAD + 'graph { name: "g', ""),
    "text-huge-int": (HEAD + "graph { node { input: \"x\" attribute { i: 99999999999999999999999 } } }", ""),
    "text-wrong-kind": (HEAD + "graph { node: 5 }", ""),
    "text-unknown-field": (HEAD + "graph { nose { } }", ""),
    "text-bad-escape": (HEAD + 'graph { name: "\\xzz\\777" }', ""),
    "text-binary-junk": (HEAD + "\x00\x01\x02", ""),
    "text-list-unclosed": (HEAD + "graph { node [ { ", ""),
    "text-nothing-to-expand": (HEAD + 'graph { node { output: "y" op_type: "ExpandDims" attribute { name: "dims" '
                               'ints: 0 type: INTS } } }', "has no first"),
    "text-without-operands": (without_operands(), ""),
    "text-million-nodes": (HEAD + "graph { " + "node { } " * 1_000_000 + "}", ""),
}
