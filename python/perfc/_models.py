"""Models as they are given: files, bytes, and objects of ONNX and PyTorch in memory."""
from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import usage_error

if TYPE_CHECKING:
    from typing import Union

    import onnx
    import torch

    #: A path, the bytes of a file, or a model in memory; a module with its example inputs is a pair.
    Model = Union[str, os.PathLike[str], bytes, onnx.ModelProto, torch.nn.Module, torch.export.ExportedProgram,
                  tuple[torch.nn.Module, Any]]

_KEPT_BYTES = 1 << 16  # of an initializer: shapes and tables that importers compute with are far smaller


class Given(NamedTuple):
    """What the compiled part takes: a file's path, or its bytes."""
    name: str
    path: str | None
    content: bytes | None


def given(model: object, example_inputs: object = None, *, export: str = "json") -> Given:
    """Raises UsageError for what is no model, perfc.export.ExportError for a module that cannot be exported."""
    if isinstance(model, tuple) and len(model) == 2 and example_inputs is None:
        model, example_inputs = model
    torch_model = _torch_model(model, example_inputs, export)
    if torch_model:
        return torch_model
    if example_inputs is not None:
        raise usage_error("example_inputs are of a torch.nn.Module; files have their inputs")
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        if isinstance(path, str):
            return Given(path, path, None)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Given("<bytes>", None, bytes(model))
    if type(model).__name__ == "ModelProto" and hasattr(model, "SerializeToString"):
        return Given(model.graph.name or "ModelProto", None, onnx_bytes(model))  # type: ignore[attr-defined]
    raise usage_error(f"{type(model).__qualname__} is no model; give a path, the bytes of a file, an onnx.ModelProto, "
                      "a torch.nn.Module with example inputs, or a torch.export.ExportedProgram")


def is_module(model: object) -> bool:
    """Whether it is a torch.nn.Module; does not import torch."""
    torch = sys.modules.get("torch")  # whoever has such an object has imported it
    return torch is not None and isinstance(model, torch.nn.Module)


def _torch_model(model: object, example_inputs: object, export: str) -> Given | None:
    exported = getattr(sys.modules.get("torch.export"), "ExportedProgram", None)
    if exported is not None and isinstance(model, exported):
        if example_inputs is not None:
            raise usage_error("example_inputs: an ExportedProgram has its own")
        return Given("ExportedProgram", None, program_bytes(model))
    if not is_module(model):
        return None
    return Given(getattr(model, "original_name", type(model).__name__), None,
                 module_bytes(model, _tuple(example_inputs), export))


def _tuple(example_inputs: Any) -> tuple[Any, ...] | None:
    if example_inputs is None:
        return None
    return tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs, )


def module_bytes(module: Any, inputs: Sequence[Any] | None, export: str) -> bytes:
    """The module as a file without its weights, by perfc.export: "json" is TorchScript, traced or as it was scripted,
    "pt2" is what torch.export gives. Leaves the module as it is."""
    import torch
    from perfc.export import exported, torchscript
    if export not in ("json", "pt2"):
        raise usage_error(f"export: '{export}' is none of json, pt2")
    scripted = isinstance(module, torch.jit.ScriptModule)
    if inputs is None and not scripted:
        raise usage_error(f"example_inputs are missing: perfc.predict({type(module).__name__}(…), "
                          "torch.zeros(1, 3, 224, 224)), say, or input=(3, 224, 224)")
    training = [m for m in module.modules() if m.training]
    try:
        if scripted:
            return _text(torchscript.export_script(module, inputs=inputs))
        if export == "json":
            return _text(torchscript.export_module(module, tuple(inputs or ())))
        return program_bytes(exported.program(module, inputs))
    finally:
        for m in training:
            m.training = True


def _text(program: dict[str, Any]) -> bytes:
    from perfc.export import torchscript
    text = io.StringIO()
    torchscript.dump(program, text)
    return text.getvalue().encode()


def program_bytes(program: Any) -> bytes:
    """A torch.export.ExportedProgram as a .pt2 archive without its weights."""
    import torch
    from perfc.export import exported
    whole, slim = io.BytesIO(), io.BytesIO()
    torch.export.save(program, whole)
    exported.copy_configuration(whole, slim)
    return slim.getvalue()


def onnx_bytes(model: Any) -> bytes:
    """An onnx.ModelProto as a file without its larger weights, of which perfc reads the types: any size of model is
    copied in no time."""
    slim = type(model)()
    for field, value in model.ListFields():
        if field.name != "graph":
            _copy_field(slim, field, value)
    for field, value in model.graph.ListFields():
        if field.name != "initializer":
            _copy_field(slim.graph, field, value)
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) <= _KEPT_BYTES:  # typed fields are of small tensors
            slim.graph.initializer.add().CopyFrom(tensor)
            continue
        copy = slim.graph.initializer.add(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        copy.data_location = 1  # TensorProto.EXTERNAL
        copy.external_data.add(key="location", value="left-out")
    content: bytes = slim.SerializeToString()
    return content


def _copy_field(message: Any, field: Any, value: Any) -> None:
    target = getattr(message, field.name)
    if hasattr(target, "MergeFrom"):
        target.MergeFrom(value)
    elif hasattr(target, "extend"):
        target.extend(value)
    else:
        setattr(message, field.name, value)
