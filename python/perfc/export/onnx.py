"""ONNX files without their weights, by torch's two exporters: what perfc reads of a weight is its type."""
from __future__ import annotations

import os
import pathlib
import tempfile
import warnings

import torch

from perfc import files
from .errors import ExportError, blame

KEPT_ELEMENTS = 1024  # shapes, axes, tables of indices: importers compute with small contents
KEPT_ZEROS = 1 << 20  # bytes of a mask of zeros, which hides nothing: perfc leaves it out


def export_onnx(module: torch.nn.Module, inputs, path: str, *, dynamo: bool) -> dict:
    """Exports `module`; larger weights become external data in a file that is not written.

    Returns {"nodes", "parameters"}: how many of each the graph has. Needs the package onnx, with `dynamo` onnxscript
    too.
    """
    try:
        import onnx  # noqa: F401
        if dynamo:
            import onnxscript  # noqa: F401
    except ModuleNotFoundError as error:
        raise ExportError(f"ONNX export needs the package {error.name}: pip install {error.name}") from None
    with tempfile.TemporaryDirectory() as folder:
        complete = os.path.join(folder, "model.onnx")
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = module.eval()
                if dynamo:
                    torch.onnx.export(module, tuple(inputs), dynamo=True, verbose=False).save(
                        complete, external_data=True)
                else:
                    torch.onnx.export(module, tuple(inputs), complete, dynamo=False)
        except Exception as error:
            other = "onnx-legacy" if dynamo else "onnx"
            raise blame(f"torch.onnx cannot export the module; another --format ({other}, json, pt2) may",
                        error) from None
        graph = onnx.load(complete)
    strip(graph, pathlib.Path(path).name + ".data")
    with files.writing(path, "wb") as file:
        file.write(graph.SerializeToString())
    return {"nodes": len(graph.graph.node), "parameters": len(graph.graph.initializer)}


def is_mask_of_zeros(tensor) -> bool:
    """Zeros for all heads of an attention, which are added to its scores."""
    return (len(tensor.dims) > 2 and tensor.dims[-3] == 1 and 0 < len(tensor.raw_data) <= KEPT_ZEROS
            and not any(tensor.raw_data))


def strip(model, location: str) -> None:
    """Replaces the contents of the larger initializers by a reference to the file `location`."""
    import onnx
    offset = 0
    for tensor in model.graph.initializer:
        elements = 1
        for dim in tensor.dims:
            elements *= dim
        external = tensor.data_location == onnx.TensorProto.EXTERNAL
        if not external and (elements <= KEPT_ELEMENTS or is_mask_of_zeros(tensor)):
            continue
        size = elements * max(1, onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize)
        for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data",
                      "external_data"):
            tensor.ClearField(field)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", location), ("offset", offset), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        offset += size
