"""perfc: latency, memory, energy and MIG slice of a deep-learning model from its file. docs/python.md.

What predicts is compiled and is loaded when it is first asked for: `python -m perfc.measure` and `python -m perfc.export`
run from a checkout without it.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._api import Options, devices, diff, hosts, load, predict, predict_many, stacks
    from .diffs import Diff
    from .errors import Diagnostic, ModelError, PerfcError, UsageError
    from .ir import Features, Graph, Node, Type
    from .results import Interval, Prediction, Predictions

    __version__: str

_PLACES = {
    "_api": ("Options", "devices", "diff", "hosts", "load", "predict", "predict_many", "stacks"),
    "_perfc": ("__version__", ),
    "diffs": ("Diff", ),
    "errors": ("Diagnostic", "ModelError", "PerfcError", "UsageError"),
    "ir": ("Features", "Graph", "Node", "Type"),
    "results": ("Interval", "Prediction", "Predictions"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Diagnostic", "Diff", "Features", "Graph", "Interval", "ModelError", "Node", "Options", "PerfcError", "Prediction",
    "Predictions", "Type", "UsageError", "__version__", "devices", "diff", "hosts", "load", "predict", "predict_many",
    "stacks"
]


def __getattr__(name: str) -> object:
    place = _PLACE_OF.get(name)
    if place is None:
        raise AttributeError(f"module 'perfc' has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module("perfc." + place), name)
    except ModuleNotFoundError as error:
        if error.name != "perfc._perfc":
            raise
        raise ImportError(
            f"perfc.{name} needs the compiled part of perfc, which {__file__} does not have; run `pip install .` in "
            "the checkout and take its python/ out of PYTHONPATH", name="perfc._perfc") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
