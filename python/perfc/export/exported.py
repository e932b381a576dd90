"""torch.export archives (.pt2) without their weights."""
from __future__ import annotations

import pathlib
import tempfile
import zipfile

import torch

from perfc import files
from .errors import blame


def export_archive(module: torch.nn.Module, inputs, path: str) -> dict:
    """Exports `module` with torch.export and writes the archive to `path`, weights and example inputs left out.

    Returns {"nodes", "parameters"}: how many of each the program has.
    """
    made = program(module, inputs)
    with tempfile.TemporaryDirectory() as folder:
        complete = pathlib.Path(folder) / "model.pt2"
        torch.export.save(made, complete)
        strip(complete, path)
    return {"nodes": len(made.graph.nodes), "parameters": len(made.state_dict)}


NUMBER_BYTES = 8


def program(module: torch.nn.Module, inputs) -> torch.export.ExportedProgram:
    """What torch.export makes of a module."""
    try:
        with torch.no_grad():
            return torch.export.export(module.eval(), tuple(inputs))
    except Exception as error:
        raise blame("torch.export cannot export the module; without --format pt2 it is traced", error) from None


def strip(source: pathlib.Path, target: str) -> None:
    """Copies an archive but for the bytes of tensors; single numbers stay, for shapes may follow from them."""
    with files.writing(target, "wb") as out:
        copy_configuration(source, out)


def copy_configuration(source, target) -> None:
    """The same from file or file object to file object: what configures tensors is JSON and stays."""
    with zipfile.ZipFile(source) as whole, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as slim:
        for name in whole.namelist():
            inside = name.partition("/")[2]
            number = whole.getinfo(name).file_size <= NUMBER_BYTES
            if inside.startswith("data/") and not inside.endswith(".json") and not number:
                continue
            slim.writestr(name, whole.read(name))
