"""TorchScript graph -> TorchScript JSON (docs/torch.md has the format).

Weights are named with their shapes, never written. Calls of submodules are
inlined and attributes of modules resolved: tensors become parameters, numbers
and flags constants, packed weights of quantised modules tuples of their parts.
"""
from __future__ import annotations

import json
import math
import os
import sys

import torch

from perfc import files
from .errors import ExportError, blame

VERSION = 1
MAX_ELEMENTS = 64  # larger constant tensors are written without contents


def within_packages(place: str) -> str:
    """A place in the source as the import system names its file: without the folders of this machine."""
    roots = [root for root in (os.path.abspath(path) + os.sep for path in sys.path) if place.startswith(root)]
    return place.removeprefix(max(roots, key=len, default=""))


def export_module(module: torch.nn.Module, inputs, *, name: str = "", script: bool = False) -> dict:
    """The program of a module: traced with `inputs`, or scripted with its control flow."""
    module = module.eval()
    if script:
        try:
            scripted = torch.jit.script(module)
        except Exception as error:
            raise blame("the module cannot be scripted; without --script it is traced", error) from None
        return export_script(scripted, name=name or type(module).__name__, inputs=inputs)
    try:
        with torch.no_grad():
            traced = torch.jit.trace(module, inputs, strict=False, check_trace=False)
    except Exception as error:
        meta = any(isinstance(i, torch.Tensor) and i.device.type == "meta" for i in inputs)
        hint = "; not all models can be traced on the meta device, try --device cpu or --format pt2" if meta else ""
        raise blame(f"the module fails on the example inputs{hint}", error) from None
    return program(traced, name or type(module).__name__)


def export_script(module: torch.jit.ScriptModule, *, name: str = "", inputs=None, method: str = "forward") -> dict:
    """The program of a script module. Example inputs, if given, tell the inputs' shapes."""
    module.eval()
    result = program(module, name or module.original_name, method)
    if inputs and len(inputs) > len(result["inputs"]):
        raise ExportError(f"{len(inputs)} inputs are given, but {method} has {len(result['inputs'])}: "
                          + ", ".join(v["name"] for v in result["inputs"]))
    tensors = [value for value in result["inputs"] if "type" not in value]
    for value, example in zip(tensors, [i for i in inputs or () if isinstance(i, torch.Tensor)]):
        value.update(_tensor(example))
    return result


def program(module: torch.jit.ScriptModule, name: str, method: str = "forward") -> dict:
    """The program of one of a script module's methods, calls of submodules inlined."""
    names = sorted(module._c._method_names())
    if method not in names:
        raise ExportError(f"the module has no method '{method}'" +
                          (f"; give --method {' or '.join(names)}" if names else " at all"))
    graph = module._c._get_method(method).graph.copy()
    torch._C._jit_pass_inline(graph)
    return _Writer(module).run(graph, name)


def dump(result: dict, stream) -> None:
    """One node a line: such files are read, searched and compared as text, too."""
    head = {k: v for k, v in result.items() if k not in ("nodes", "parameters")}
    stream.write(json.dumps(head)[:-1])
    for key in ("parameters", "nodes"):
        stream.write(f',\n"{key}": [')
        stream.write(",".join("\n" + json.dumps(item) for item in result[key]))
        stream.write("]")
    stream.write("}\n")


def _dtype(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _tensor(tensor: torch.Tensor) -> dict:
    return {"dtype": _dtype(tensor.dtype), "shape": list(tensor.shape)}


#: The dict of the attributes of modules that the program changes.
STATE = "module_state"


class _Writer:
    def __init__(self, module):
        self.module = module
        self.objects = {}      # value name -> module, or another object that an attribute holds
        self.names = {}        # value name -> name of the parameter that it is
        self.parameters = {}   # parameter name -> entry
        self.by_identity = {}  # tensor -> first name
        self.keys = 0          # names of attributes that are values of their own
        self.changed = set()   # names of attributes that the program sets
        self.state = {}        # path of such an attribute of a module -> what it holds before
        self.kinds = {id(p): "parameter" for p in module.parameters()}

    def run(self, graph, name: str) -> dict:
        inputs = list(graph.inputs())
        if inputs and inputs[0].type().kind() == "ClassType":
            self.objects[inputs[0].debugName()] = ("", self.module)
            inputs = inputs[1:]
        self.changed = {n.s("name") for n in graph.findAllNodes("prim::SetAttr", recurse=True)}
        nodes = self.nodes(graph.nodes())
        nodes = self.first_state() + nodes
        return {
            "format": "torchscript-json",
            "version": VERSION,
            "producer": f"torch {torch.__version__}",
            "model": name,
            "inputs": [self.value(v) for v in inputs],
            "outputs": [self.value(v) for v in graph.outputs()],
            "parameters": list(self.parameters.values()),
            "nodes": nodes,
        }

    def value(self, value) -> dict:
        result = {"name": self.name(value)}
        kind = value.type()
        if kind.kind() == "TensorType":
            scalar = kind.dtype() if hasattr(kind, "dtype") else None
            if scalar is not None:
                result["dtype"] = _dtype(scalar)
            sizes = kind.sizes() if hasattr(kind, "sizes") else None
            if sizes is not None:
                result["shape"] = list(sizes)
        else:
            result["type"] = kind.annotation_str
        return result

    def name(self, value) -> str:
        return self.names.get(value.debugName(), value.debugName())

    def nodes(self, nodes) -> list[dict]:
        result = []
        for node in nodes:
            if node.kind() == "prim::GetAttr" and next(node.inputs()).debugName() in self.objects:
                result += self.attribute(node)
            elif node.kind() in ("prim::CreateObject", "prim::GetAttr", "prim::SetAttr"):
                result += self.of_script_class(node)
            else:
                result.append(self.node(node))
        return result

    def node(self, node) -> dict:
        result = {"op": node.kind(), "inputs": [self.name(v) for v in node.inputs()]}
        result["attributes"] = self.attributes(node)
        blocks = [
            {
                "inputs": [self.value(v) for v in block.inputs()],
                "nodes": self.nodes(block.nodes()),
                "outputs": [self.name(v) for v in block.outputs()],
            }
            for block in node.blocks()
        ]
        # After the blocks: they may resolve the attribute that an output is.
        result["outputs"] = [self.value(v) for v in node.outputs()]
        if blocks:
            result["blocks"] = blocks
        if node.scopeName():
            result["scope"] = node.scopeName()
        source = node.sourceRange().strip().splitlines()
        if source:
            result["source"] = within_packages(source[0].strip())
        return result

    def attributes(self, node) -> dict:
        if node.kind() == "prim::Constant":
            return {"value": self.literal(node.output().toIValue())}
        result = {}
        for name in node.attributeNames():
            kind = node.kindOf(name)
            if kind in ("i", "f", "s", "is", "fs", "ss"):
                result[name] = getattr(node, kind)(name)
            elif kind == "tys":
                result[name] = [t.annotation_str for t in node.tys(name)]
        return result

    def attribute(self, node) -> list[dict]:
        """A module's attribute: nothing is left of it but what it holds."""
        path, holder = self.objects[next(node.inputs()).debugName()]
        field = node.s("name")
        path = f"{path}.{field}" if path else field
        output = node.output().debugName()
        held = getattr(holder, field)
        if isinstance(held, torch.Tensor):
            self.names[output] = self.parameter(path, held)
            return []
        if isinstance(held, torch.ScriptObject):
            return self.packed(path, held, node)
        if field in self.changed:
            self.state[path] = held
            return self.item("aten::__getitem__", path, [STATE], [self.value(node.output())])
        is_module = isinstance(held, (torch.nn.Module, torch.jit.RecursiveScriptModule))
        if is_module or type(held).__module__.startswith("torch.jit") or node.output().type().kind() == "ClassType":
            self.objects[output] = (path, held)
            return []
        if isinstance(held, dict):
            return self.dict_of_constants(path, held, node)
        constant = {"op": "prim::Constant", "inputs": [], "outputs": [self.value(node.output())],
                    "attributes": {"value": self.literal(held), "from_attr": path}}
        return [constant]

    def dict_of_constants(self, path: str, held: dict, node) -> list[dict]:
        nodes, parts = [], []
        for part in (item for pair in held.items() for item in pair):
            parts.append(f"{path}.{len(parts)}")
            nodes.append({
                "op": "prim::Constant", "inputs": [], "outputs": [{"name": parts[-1], "type": type(part).__name__}],
                "attributes": {"value": self.literal(part), "from_attr": path}
            })
        nodes.append({"op": "prim::DictConstruct", "inputs": parts, "outputs": [self.value(node.output())],
                      "attributes": {}})
        return nodes

    def of_script_class(self, node) -> list[dict]:
        """An object that the program makes itself: a dict of its attributes; a module's attribute that it changes: an
        item of the dict of all of these."""
        inputs = [self.name(v) for v in node.inputs()]
        outputs = [self.value(v) for v in node.outputs()]
        if node.kind() == "prim::CreateObject":
            return [{"op": "prim::DictConstruct", "inputs": [], "outputs": outputs, "attributes": {}}]
        if node.kind() == "prim::GetAttr":
            return self.item("aten::__getitem__", node.s("name"), inputs, outputs)
        key, owner = node.s("name"), self.objects.get(next(node.inputs()).debugName())
        if owner:
            path, holder = owner
            held = getattr(holder, key)
            key = f"{path}.{key}" if path else key
            self.state[key], inputs[0] = held, STATE
        return self.item("aten::_set_item", key, inputs, outputs)

    def item(self, op: str, key: str, inputs: list[str], outputs: list[dict]) -> list[dict]:
        """What reads or sets the item of a dict, the first of the inputs."""
        self.keys += 1
        name = f"attribute_name.{self.keys}"
        return [{"op": "prim::Constant", "inputs": [], "outputs": [{"name": name, "type": "str"}],
                 "attributes": {"value": key}},
                {"op": op, "inputs": [inputs[0], name, *inputs[1:]], "outputs": outputs, "attributes": {}}]

    def first_state(self) -> list[dict]:
        """The attributes that the program changes, as they are before it runs."""
        nodes, parts = [], []
        for path, held in self.state.items():
            for suffix, value in (("name", path), ("value", held)):
                if isinstance(value, torch.Tensor):
                    parts.append(self.parameter(path, value))
                    continue
                parts.append(f"{STATE}.{path}.{suffix}")
                nodes.append({"op": "prim::Constant", "inputs": [], "outputs": [{"name": parts[-1]}],
                              "attributes": {"value": self.literal(value)}})
                nodes[-1]["outputs"][0]["type"] = "NoneType" if value is None else type(value).__name__
        if parts:
            nodes.append({"op": "prim::DictConstruct", "inputs": parts, "outputs": [{"name": STATE, "type": "Dict"}],
                          "attributes": {}})
        return nodes

    def parameter(self, path: str, tensor: torch.Tensor) -> str:
        key = (tensor.data_ptr(), tuple(tensor.shape),
               tensor.dtype) if tensor.numel() and tensor.device.type != "meta" else id(tensor)
        name = self.by_identity.setdefault(key, path)
        if name == path:
            kind = self.kinds.get(id(tensor), "parameter" if tensor.requires_grad else "buffer")
            self.parameters[path] = {"name": path, **_tensor(tensor), "kind": kind}
        return name

    def packed(self, path: str, held, node) -> list[dict]:
        """Packed weights: a tuple (weight, bias, stride, padding, dilation, groups[, output_padding])
        of a convolution, (weight, bias) of a linear layer."""
        output = node.output().debugName()
        try:
            weight, bias = held.unpack()
        except (RuntimeError, AttributeError, ValueError):
            return [{"op": "prim::Constant", "inputs": [], "outputs": [self.value(node.output())],
                     "attributes": {"value": {"repr": str(held)}, "from_attr": path}}]
        parts, nodes = [self.parameter(f"{path}.weight", weight)], []

        def constant(suffix, value, kind):
            name = f"{output}.{suffix}"
            nodes.append({
                "op": "prim::Constant", "inputs": [], "outputs": [{"name": name, "type": kind}],
                "attributes": {"value": value}
            })
            parts.append(name)

        if bias is None:
            constant("bias", None, "NoneType")
        else:
            parts.append(self.parameter(f"{path}.bias", bias))
        if hasattr(held, "stride"):
            for field in ("stride", "padding", "dilation"):
                constant(field, [int(v) for v in getattr(held, field)()], "List[int]")
            constant("groups", int(held.groups()), "int")
            if held.transpose():
                constant("output_padding", [int(v) for v in held.output_padding()], "List[int]")
        nodes.append({
            "op": "prim::TupleConstruct", "inputs": parts, "outputs": [{"name": output, "type": "Tuple"}],
            "attributes": {}
        })
        return nodes

    def literal(self, value):
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {
                "float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
            }
        if isinstance(value, torch.Tensor):
            entry = _tensor(value)
            if value.numel(
            ) <= MAX_ELEMENTS and value.device.type != "meta" and not value.is_quantized and not value.is_complex():
                entry["data"] = [self.literal(v) for v in value.flatten().tolist()]
            return {"tensor": entry}
        if isinstance(value, (list, tuple)):
            return [self.literal(v) for v in value]
        return {"repr": str(value)}


def load(path: str) -> torch.jit.ScriptModule:
    """A TorchScript archive, on the CPU."""
    try:
        return torch.jit.load(path, map_location="cpu")
    except RuntimeError as error:
        first = str(error).strip().splitlines()[0]
        raise ExportError(
            f"not a TorchScript archive that torch {torch.__version__} reads; of a state_dict or a pickled module "
            f"export module:factory instead, .pt2 is read by perfc as it is ({first.partition('. This is')[0]})"
        ) from None


def write(result: dict, path: str) -> None:
    if path == "-":
        dump(result, sys.stdout)
        return
    with files.writing(path, encoding="utf-8") as stream:
        dump(result, stream)
