"""Predictions held against limits."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ._api import predict
from .errors import usage_error
from .results import Prediction


class Held(NamedTuple):
    """A figure beside its limit."""
    figure: str  #: "latency_ms"
    value: float
    limit: float

    @property
    def exceeded(self) -> bool:
        return self.value > self.limit

    def __str__(self) -> str:
        return f"{self.figure} {self.value:g}, limit {self.limit:g}{' EXCEEDED' if self.exceeded else ''}"


#: Figures that can have an upper limit.
FIGURES: dict[str, Callable[[Prediction], float]] = {
    "latency_ms": lambda p: p.latency_ms,
    "memory_mib": lambda p: p.memory_mib,
    "energy_j": lambda p: p.energy_j,
    "power_w": lambda p: p.power_w,
    "macs": lambda p: p.static.macs,
    "params": lambda p: p.static.params,
}


def check_limits(limits: dict[str, float]) -> None:
    """Raises UsageError for a figure that there is not, or a limit that is no number."""
    for name, limit in limits.items():
        if name not in FIGURES:
            raise usage_error(f"'{name}' is no figure with a limit; there are {', '.join(FIGURES)}")
        if isinstance(limit, bool) or not isinstance(limit, (int, float)):
            raise usage_error(f"{name}: {limit!r} is no number")


def hold(prediction: Prediction, limits: dict[str, float]) -> list[Held]:
    """The figures that have a limit."""
    check_limits(limits)
    return [Held(name, FIGURES[name](prediction), limit) for name, limit in limits.items()]


class Checked(NamedTuple):
    """A prediction that was held against a budget."""
    prediction: Prediction
    held: list[Held]

    @property
    def exceeded(self) -> bool:
        return not self.prediction.fits or any(h.exceeded for h in self.held)


def check_budget(model: Any, example_inputs: Any = None, *, device: str = "a100-40gb", **arguments: Any) -> Checked:
    """Predicts a model and holds it against the limits among the arguments (`FIGURES`); the others are `predict`'s."""
    limits = {name: arguments.pop(name) for name in list(arguments) if name in FIGURES}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    check_limits(limits)
    found = predict(model, example_inputs, device=device, alternatives=False, **arguments)
    if not isinstance(found, Prediction):
        raise usage_error("a budget is of one device and one batch")
    return Checked(found, hold(found, limits))
