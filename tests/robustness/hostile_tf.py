"""Hostile TensorFlow graphs as protobuf text: name → (text, what the diagnostic must say).

None instead of a text: refusing and importing are both fine, crashing, hanging
and eating memory are not."""

HUGE = 1 << 62


def attr(key, value):
    return f'attr {{ key: "{key}" value {{ {value} }} }} '


def dims(shape):
    return "".join(f"dim {{ size: {d} }} " for d in shape)


def node(name, op, inputs=(), attrs="", inside="node"):
    return f'{inside} {{ name: "{name}" op: "{op}" ' + "".join(f'input: "{i}" ' for i in inputs) + attrs + "}\n"


def placeholder(name, shape, dtype="DT_FLOAT"):
    return node(name, "Placeholder", (), attr("dtype", f"type: {dtype}") + attr("shape", f"shape {{ {dims(shape)}}}"))


def ints(name, *values):
    contents = "".join(f"int64_val: {v} " for v in values)
    return node(name, "Const", (), attr("dtype", "type: DT_INT64") +
                attr("value", f"tensor {{ dtype: DT_INT64 tensor_shape {{ {dims([len(values)])}}} {contents}}}"))


def scalar(name, value, dtype="DT_INT32"):
    return node(name, "Const", (), attr("dtype", f"type: {dtype}") +
                attr("value", f"tensor {{ dtype: {dtype} tensor_shape {{ }} int_val: {value} }}"))


def weight(name, shape):
    return node(
        name, "Const", (),
        attr("dtype", "type: DT_FLOAT") +
        attr("value", f"tensor {{ dtype: DT_FLOAT tensor_shape {{ {dims(shape)}}} }}"))


def function(name, body, returned="y:y:0", args="x"):
    inputs = "".join(f'input_arg {{ name: "{a}" type: DT_FLOAT }} ' for a in args)
    return (f'function {{ signature {{ name: "{name}" {inputs}output_arg {{ name: "out" type: DT_FLOAT }} }}\n{body}'
            f'ret {{ key: "out" value: "{returned}" }} }}\n')


def call(name, inputs, function_name, inside="node_def"):
    return node(name, "PartitionedCall", inputs,
                attr("f", f'func {{ name: "{function_name}" }}') + attr("Tout", "list { type: DT_FLOAT }"), inside)


def library(*functions):
    return "library {\n" + "".join(functions) + "}\n"


X = placeholder("x", [1, 8, 8, 3])


def structure():
    yield "cycle", X + node("a", "Neg", ["b"]) + node("b", "Add", ["a", "x"]) + node("y", "Neg", ["b"]), "cycle"
    yield "self-cycle", X + node("y", "Add", ["y", "x"]) + node("z", "Neg", ["y"]), "cycle"
    yield "duplicate-node", X + node("y", "Relu", ["x"]) + node("y", "Relu", ["x"]), "second node of this name"
    yield "missing-node", X + node("y", "Add", ["x", "nowhere"]), "'nowhere', which nothing produces"
    yield "output-out-of-range", X + node("y", "Relu", ["x:99999"]), ""
    yield "output-number-overflows", X + node("y", "Relu", ["x:99999999999999999999"]), "which nothing produces"
    yield "nameless", X + 'node { op: "Relu" input: "x" }\n', "without a name"
    yield "terminal-escapes", X + node("y", "No\\033[31mSuch", ["x"]), "\\x1b"
    yield "many-inputs", X + node("y", "AddN", ["x"] * 100_000), None
    yield "many-nodes", X + "".join(node(f"n{i}", "Relu", [f"n{i - 1}" if i else "x"]) for i in range(100_000)), None
    yield "many-outputs", X + node("y", "Unpack", ["x"], attr("num", f"i: {HUGE}")), "apart into"
    yield "deep-messages", "node { " + "attr { value { list { func { " * 30_000, ""
    yield "unclosed", X + 'node { name: "y" op: "Relu', ""
    yield "closed-twice", X + node("y", "Relu", ["x"]) + "} " * 1000, ""
    yield "binary-in-text", X + "\x00\x01\x02\xff" * 100, ""


def functions():
    top = X + call("y", ["x"], "F0", "node")
    yield "function-of-itself", top + library(function("F0", call("y", ["x"], "F0"), "y:output:0")), "calls itself"
    yield "functions-of-each-other", top + library(function("F0", call("y", ["x"], "F1"), "y:output:0"),
                                                   function("F1", call("y", ["x"], "F0"), "y:output:0")), "calls itself"
    doubling = [
        function(f"F{i}",
                 call("t", ["x"], f"F{i + 1}") + call("y", ["t:output:0"], f"F{i + 1}"), "y:output:0")
        for i in range(60)
    ]
    end = node("y", "Relu", ["x"], inside="node_def")
    yield "functions-2-to-the-60", top + library(*doubling, function("F60", end, "y:activations:0")), "exceeds"
    chain = [function(f"F{i}", call("y", ["x"], f"F{i + 1}"), "y:output:0") for i in range(5_000)]
    yield "functions-5000-deep", top + library(*chain, function("F5000", end, "y:activations:0")), ""
    yield "function-twice", top + library(function("F0", end, "y:activations:0"), function(
        "F0", end, "y:activations:0")), "twice"
    yield "function-missing", top, ""
    yield "function-returns-nothing", top + library(function("F0", end, "nobody:0:0")), "nobody"
    loop = attr("cond", 'func { name: "C" }') + attr("body", 'func { name: "F0" }') + attr(
        "T", "list { type: DT_FLOAT }")
    yield "while-of-itself", X + node("y", "While", ["x"], loop) + library(
        function("C", end, "y:activations:0"), function("F0", node("y", "While", ["x"], loop, "node_def"),
                                                        "y:output:0")), ""
    branch = attr("then_branch", 'func { name: "F0" }') + attr("else_branch", 'func { name: "C" }')
    yield "if-with-unlike-branches", X + scalar("p", 1, "DT_BOOL") + node("y", "If", ["p", "x"], branch) + library(
        function("C", end, "y:activations:0", args="xz"), function("F0", end, "y:activations:0")), None


def frames():
    name = attr("frame_name", 's: "f"')
    enter = node("enter", "Enter", ["x"], name)
    yield "enter-without-exit", X + enter + node("y", "Relu", ["enter"]), None
    yield "exit-without-enter", X + node("y", "Exit", ["x"]), ""
    yield "merge-of-itself", X + enter + node("m", "Merge", ["enter", "m"]) + node("y", "Exit", ["m"]), ""
    yield "next-without-merge", X + enter + node("n", "NextIteration", ["enter"]) + node("y", "Relu", ["n"]), None
    yield "loop-without-condition", X + enter + node("m", "Merge", ["enter", "n"]) + node("s", "Switch", ["m", "m"]) + \
        node("n", "NextIteration", ["s:1"]) + node("y", "Exit", ["s"]), ""
    yield "switch-of-itself", X + node("s", "Switch", ["s", "s:1"]) + node("y", "Relu", ["s"]), ""
    yield "merge-of-nothing", X + node("y", "Merge", []), ""
    yield "merge-of-plain-values", X + node("y", "Merge", ["x", "x"]), ""
    ladder = "".join(
        node(f"s{i}", "Switch", [f"m{i - 1}" if i else "x", "p"]) + node(f"m{i}", "Merge", [f"s{i}", f"s{i}:1"])
        for i in range(2_000))
    yield "conditions-2000-in-a-row", X + placeholder("p", [], "DT_BOOL") + ladder + node("y", "Relu", ["m1999"]), None


def numbers():
    window = attr("strides", "list { i: 1 i: %d i: %d i: 1 }") + attr("padding", 's: "SAME"')
    conv = lambda stride: node("y", "Conv2D", ["x", "w"], window % (stride, stride))  # noqa: E731
    kernel = weight("w", [3, 3, 3, 8])
    yield "stride-zero", X + kernel + conv(0), "strides holds 0"
    yield "stride-negative", X + kernel + conv(-HUGE), "strides holds"
    yield "stride-huge", X + kernel + conv(HUGE), None
    yield "dim-huge", placeholder("x", [HUGE, HUGE, HUGE, 3]) + kernel + conv(1), None
    yield "dim-negative", placeholder("x", [-7, 8, 8, 3]) + kernel + conv(1), None
    yield "kernel-huge", X + weight("w", [HUGE, HUGE, 3, 8]) + conv(1), None
    yield "kernel-empty", X + weight("w", [0, 0, 3, 8]) + conv(1), None
    yield "explicit-padding-huge", X + kernel + node("y", "Conv2D", ["x", "w"], attr("padding", 's: "EXPLICIT"') + attr(
        "explicit_paddings", "list { " + f"i: {HUGE} " * 8 + "}")), ""
    yield "const-huge", weight("w", [HUGE, HUGE]) + node("y", "Relu", ["w"]), None
    yield "const-contents-too-many", ints("c", 1, 2, 3).replace("size: 3", "size: 2") + node("y", "Neg", ["c"]), None
    for op, values in (("Reshape", (HUGE, HUGE)), ("Reshape", (-1, -1)), ("Tile", (HUGE,) * 4),
                       ("Transpose", (0, 0, 9, -9)), ("Sum", (99,)), ("Pad", (1, 2, 3)), ("BroadcastTo", (HUGE,) * 4),
                       ("ExpandDims", (-99,)), ("ReverseV2", (44,)), ("TopKV2", (HUGE,)), ("SpaceToBatchND", (0, 0)),
                       ("MirrorPad", (HUGE,)), ("GatherV2", (-HUGE,)), ("Cumsum", (12,)), ("UnravelIndex", (0,))):
        yield f"{op}-{values[0]}-{len(values)}", X + ints("c", *values) + node("y", op, ["x", "c"]), None
    yield "fill-huge", ints("n", HUGE, HUGE) + scalar("v", 1) + node("y", "Fill", ["n", "v"]), None
    yield "range-huge", scalar("a", 0) + scalar("b", 2147483647) + scalar("s", 1) + node("y", "Range",
                                                                                         ["a", "b", "s"]), None
    yield "range-of-step-0", scalar("a", 0) + scalar("b", 7) + scalar("s", 0) + node("y", "Range", ["a", "b", "s"]), ""
    yield "slice-of-step-0", X + ints("b", 0) + ints("e", 1) + ints("s", 0) + node("y", "StridedSlice",
                                                                                   ["x", "b", "e", "s"]), ""
    yield "slice-masks", X + ints("b", 0) + ints("e", 1) + ints("s", 1) + node(
        "y", "StridedSlice", ["x", "b", "e", "s"],
        attr("ellipsis_mask", "i: -1") + attr("new_axis_mask", f"i: {HUGE}")), None
    yield "split-0", X + scalar("a", 3) + node("y", "Split", ["a", "x"], attr("num_split", "i: 0")), "num_split is 0"
    yield "one-hot-huge", X + scalar("d", 2147483647) + scalar("on", 1) + scalar("off", 0) + node(
        "y", "OneHot", ["x", "d", "on", "off"]), None
    yield "einsum", X + node("y", "Einsum", ["x"], attr("equation", 's: "...->->,,abc"')), ""
    yield "segments-negative", X + ints("ids", -1) + node("y", "SegmentSum", ["x", "ids"]), "segment"
    yield "sparse-shape-overflows", placeholder("at", [4, 3], "DT_INT64") + ints("from", HUGE, HUGE, HUGE) + \
        ints("to", -1, HUGE) + node("y", "SparseReshape", ["at", "from", "to"]), "too many elements"
    yield "sparse-coordinates-of-rank-0", placeholder("at", [4, 0], "DT_INT64") + placeholder("v", [4]) + ints("s") + \
        placeholder("d", []) + node("y", "SparseFillEmptyRows", ["at", "v", "s", "d"]), "not [entries, rank]"
    yield "list-huge", ints("e", 4) + scalar("n", 2147483647) + \
        node("l", "TensorListReserve", ["e", "n"], attr("element_dtype", "type: DT_FLOAT")) + \
        node("y", "TensorListStack", ["l", "e"], attr("element_dtype", "type: DT_FLOAT")), None
    yield "array-pieces-of-0", X + scalar("n", 2) + ints("l", 0, 0) + \
        node("a", "TensorArrayV3", ["n"], attr("dtype", "type: DT_FLOAT")) + \
        node("y", "TensorArraySplitV3", ["a", "x", "l", "a:1"]) + \
        node("z", "TensorArraySizeV3", ["a", "y"]), "different lengths"


TEXT = {f"tf-{name}": (text, says) for part in (structure, functions, frames, numbers) for name, text, says in part()}
