"""Hostile PyTorch programs: name → (contents, what the diagnostic must say).

None instead of a text: refusing and importing are both fine, crashing, hanging
and eating memory are not."""
import io
import json
import re
import zipfile

HUGE = 1 << 62


def value(name, shape=(2, 3), dtype="float32"):
    return {"name": name, "dtype": dtype, "shape": list(shape)}


def node(op, inputs, output, shape=(2, 3), **more):
    return {"op": op, "inputs": list(inputs), "outputs": [value(output, shape)], "attributes": {}, **more}


def number(name, content):
    return {
        "op": "prim::Constant", "inputs": [], "outputs": [{"name": name, "type": "int"}],
        "attributes": {"value": content}
    }


def program(*nodes, shape=(2, 3), outputs=("y",), parameters=(), **more):
    return json.dumps({
        "format": "torchscript-json", "version": 1, "model": "m", "inputs": [value("x", shape)],
        "outputs": list(outputs), "parameters": list(parameters), "nodes": list(nodes), **more
    })


RELU = node("aten::relu", ["x"], "y")


LOOP = node(
    "prim::Loop", ["n", "t", "x"], "y", blocks=[{
        "inputs": [{"name": "i", "type": "int"}, value("c")], "nodes": [node("aten::relu", ["c"], "d")],
        "outputs": ["t", "d"]
    }])


def scripts():
    yield "no-object", "[]", "the text is no object"
    yield "cut-in-a-string", program(RELU)[:-20], "the text ends too early"
    yield "other-version", program(RELU, version=99), "version 99"
    yield "other-format", program(RELU, format="something"), "\"format\" is not"
    yield "nodes-of-the-wrong-kind", program(RELU).replace('"nodes": [', '"nodes": 3, "old": ['), "no array \"nodes\""
    yield "undefined-input", program(node("aten::relu", ["z"], "y")), "'z' is used but nothing before makes it"
    yield "later-input", program(node("aten::relu", ["a"], "y"), node("aten::relu", ["x"],
                                                                      "a")), "'a' is used but nothing before makes it"
    yield "own-input", program(node("aten::relu", ["y"], "y")), "'y' is used but nothing before makes it"
    yield "undefined-output", program(RELU, outputs=["z"]), "'z' is used but nothing before makes it"
    yield "negative-dim", program(RELU, shape=(-5, 3)), "negative dim -5"
    yield "huge-dims", program(node("aten::flatten", ["x"], "y"), shape=(HUGE, HUGE)), None
    yield "fractional-dim", program(RELU, shape=(1.5, 3)), "a dim is neither"
    yield "many-dims", program(RELU, shape=(2,) * 100_000), None
    yield "no-operator", program({"inputs": ["x"], "outputs": [value("y")]}), "the node has no \"op\""
    yield "too-many-operands", program(node("aten::relu", ["x"] * 100_000,
                                            "y")), "no overload takes these 100000 arguments"
    yield "endless-loop", program(number("n", HUGE), number("t", 1), LOOP), None
    nothing = {"op": "prim::Constant", "inputs": [], "outputs": [{"name": "t", "type": "int"}], "attributes": {}}
    yield "loop-on-nothing", program(number("n", 1 << 63), nothing, LOOP), "decides by None"
    yield "huge-repeat", program(
        number("n", HUGE), {
            "op": "prim::ListConstruct", "inputs": ["n", "n"], "outputs": [{"name": "l", "type": "List[int]"}],
            "attributes": {}
        }, node("aten::repeat", ["x", "l"], "y")), None
    yield "huge-arange", program(number("n", HUGE), node("aten::arange", ["n"], "y")), "absurdly many elements"
    for name, depth in (("nested-blocks", 2_000), ("deep-blocks", 100_000)):
        inner = '{"op": "prim::If", "inputs": ["x"], "outputs": [], "attributes": {}, ' \
                '"blocks": [{"inputs": [], "outputs": [], "nodes": ['
        yield name, program().replace('"nodes": []',
                                      '"nodes": [' + inner * depth + "]}]}" * depth + "]"), "nested deeper than"
    yield "deep-brackets", "[" * 1_000_000, "nested deeper than"
    yield "deep-constant", program(
        {"op": "prim::Constant", "inputs": [], "outputs": [{"name": "y"}], "attributes": {"value": "LIST"}}).replace(
            '"LIST"', "[" * 500 + "]" * 500), "nested too deeply"
    yield "parameter-twice", program(RELU, parameters=[value("w"), value("w")]), "two parameters have this name"
    yield "not-utf-8", program(RELU).replace("aten::relu", "aten::\xff\xfe"), "malformed JSON"


def argument(name, content):
    return {"name": name, "arg": content, "kind": 1}


def tensor_meta(sizes=(2, 3)):
    return {
        "dtype": 7, "sizes": [{"as_int": d} for d in sizes], "requires_grad": False, "device": {
            "type": "cpu", "index": None
        }, "strides": [{"as_int": 1} for _ in sizes], "storage_offset": {"as_int": 0}, "layout": 7
    }


def exported(nodes=None, sizes=(2, 3), **graph):
    """A program as torch.export.save writes it: one input x, one output y."""
    call = {"target": "torch.ops.aten.relu.default", "inputs": [argument("self", {"as_tensor": {"name": "x"}})],
            "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}
    return {
        "graph_module": {
            "graph": {
                "inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}],
                "nodes": [call] if nodes is None else nodes, "tensor_values": {
                    "x": tensor_meta(sizes), "y": tensor_meta(sizes)
                }, "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": False, **graph
            }, "signature": {
                "input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
                "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]
            }, "module_call_graph": [], "metadata": {}
        }, "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 8},
        "verifiers": [], "torch_version": "2.9.0"
    }


def archive(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return out.getvalue()


def packed(program):
    contents = program if isinstance(program, bytes) else json.dumps(program)
    return archive({"m/archive_format": "pt2", "m/models/model.json": contents})


def archives():
    good = packed(exported())
    yield "fine", good, None
    yield "empty", b"", "the file is empty"
    yield "no-members", archive({}), "not an archive of torch.export"
    yield "no-program", archive({"m/archive_format": "pt2", "m/data/weights/0": b"\0" * 64}), "no exported program"
    yield "no-directory", good[:good.rindex(b"PK\x01\x02")], "no zip directory"
    yield "bomb", packed(b" " * (1 << 28)), "more than perfc accepts"
    yield "bomb-in-a-string", packed(b'{"graph_module": "' + b"a" * (1 << 27) + b'"}'), "more than perfc accepts"
    yield "many-members", archive({"m/archive_format": "pt2"} |
                                  {f"m/{i}": b"" for i in range(20_000)}), "no exported program"
    yield "no-json", packed(b"\x80\x02not json"), "malformed JSON"
    yield "no-graph", packed({"schema_version": {"major": 8, "minor": 8}}), "no graph_module"
    yield "undefined-input", packed(
        exported([{
            "target": "torch.ops.aten.relu.default", "inputs": [argument("self", {"as_tensor": {"name": "z"}})],
            "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}
        }])), "'z' is used but nothing before makes it"
    yield "negative-dim", packed(exported(sizes=(-5, 3))), "a dim is no extent"
    yield "huge-dims", packed(exported(sizes=(HUGE, HUGE))), "absurdly many elements"
    yield "no-types", packed(exported(tensor_values={})), None
    yield "nodes-of-the-wrong-kind", packed(exported(nodes="nodes")), "a graph has no nodes"
    yield "deep-expression", packed(
        exported(sym_int_values={"s": {"as_expr": {"expr_str": "(" * 100_000 + "1" +
                                                               ")" * 100_000, "hint": None}}})), None
    # Every member unpacks to its size, but to something else: the checksum in the directory differs.
    spoiled = bytearray(good)
    for at in [m.start() for m in re.finditer(rb"PK\x01\x02", good)]:
        spoiled[at + 16] ^= 1
    yield "wrong-checksums", bytes(spoiled), "does not unpack"
    # The members' sizes in the directory lie.
    lying = bytearray(good)
    at = lying.rindex(b"PK\x01\x02")
    lying[at + 24:at + 28] = (0xfffffff0).to_bytes(4, "little")
    yield "lying-size", bytes(lying), "more than perfc accepts"


SCRIPTS = {f"torch-{name}": (text, says) for name, text, says in scripts()}
ARCHIVES = {f"pt2-{name}": (data, says) for name, data, says in archives()}
