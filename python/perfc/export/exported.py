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
    try:
        with torch.no_grad():
            program = torch.export.export(module.eval(), tuple(inputs))
    except Exception as error:
        raise blame("torch.export cannot export the module; without --format pt2 it is traced", error) from None
    with tempfile.TemporaryDirectory() as folder:
        complete = pathlib.Path(folder) / "model.pt2"
        torch.export.save(program, complete)
        strip(complete, path)
    return {"nodes": len(program.graph.nodes), "parameters": len(program.state_dict)}


def strip(source: pathlib.Path, target: str) -> None:
    """Copies an archive but for the bytes of tensors: what configures them is JSON and stays."""
    with zipfile.ZipFile(source) as whole, files.writing(target, "wb") as out, zipfile.ZipFile(
            out, "w", zipfile.ZIP_DEFLATED) as slim:
        for name in whole.namelist():
            inside = name.partition("/")[2]
            if inside.startswith("data/") and not inside.endswith(".json"):
                continue
            slim.writestr(name, whole.read(name))
