"""perfc: latency, memory, energy and MIG slice of a deep-learning model from its file. docs/python.md.

What predicts is compiled and is loaded when it is first asked for: `python -m perfc.measure` and
`python -m perfc.export` run from a checkout without it.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._api import __version__, devices, diff, hosts, load, predict, predict_many, stacks
    from ._options import Options
    from .diffs import Diff
    from .errors import Diagnostic, ModelError, PerfcError, UsageError
    from .ir import Features, Graph, Node, Type
    from .results import Interval, Prediction, Predictions
    from .sweeps import Row, sweep

_PLACES = {
    "_api": ("__version__", "devices", "diff", "hosts", "load", "predict", "predict_many", "stacks"),
    "diffs": ("Diff", ),
    "errors": ("Diagnostic", "ModelError", "PerfcError", "UsageError"),
    "ir": ("Features", "Graph", "Node", "Type"),
    "_options": ("Options", ),
    "results": ("Interval", "Prediction", "Predictions"),
    "sweeps": ("Row", "sweep"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Diagnostic", "Diff", "Features", "Graph", "Interval", "ModelError", "Node", "Options", "PerfcError", "Prediction",
    "Predictions", "Row", "Type", "UsageError", "__version__", "devices", "diff", "hosts", "load", "predict",
    "predict_many", "stacks", "sweep"
]


def __getattr__(name: str) -> object:
    place = _PLACE_OF.get(name)
    if place is None:
        raise AttributeError(f"module 'perfc' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module("perfc." + place), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
