"""What goes wrong in a user's model, said in one line."""
from __future__ import annotations

import pathlib
import traceback

import torch

LONGEST = 400


class ExportError(Exception):
    """Says what could not be exported, and what to do."""


def blame(what: str, error: BaseException) -> ExportError:
    """`what` failed with `error`: the message's first line, and the last line of code outside of torch that ran."""
    lines = str(error).strip().splitlines()
    message = f"{type(error).__name__}: {lines[0][:LONGEST]}" if lines else type(error).__name__
    ours = (pathlib.Path(torch.__file__).parent, pathlib.Path(__file__).parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if not f.filename.startswith("<") and not any(o in pathlib.Path(f.filename).parents for o in ours)]
    place = f" (at {frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return ExportError(f"{what}: {message}{place}")
