"""Predictions inside of architecture searches: candidates are priced on all cores and held against limits.

    price = perfc.callbacks.Pricer(device="l4", batch=8, limits={"latency_ms": 5})
    best = min((c for c in price(models) if c.feasible), key=lambda c: c.latency_ms)

    study = optuna.create_study(directions=["minimize", "maximize"])
    study.optimize(price.objective(build, accuracy), n_trials=100)
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from . import budgets
from ._api import predict, predict_many
from .results import Prediction


@dataclass(frozen=True)
class Candidate:
    """A model of a search, priced."""
    prediction: Prediction | None  #: None: it could not be predicted
    error: Exception | None  #: why not
    exceeded: tuple[budgets.Held, ...]  #: the limits that it breaks

    @property
    def feasible(self) -> bool:
        """Whether it was predicted, fits into the device's memory and keeps every limit."""
        return self.prediction is not None and self.prediction.fits and not self.exceeded

    @property
    def latency_ms(self) -> float:
        """Infinite where it could not be predicted, so that a minimum passes it by."""
        return self.prediction.latency_ms if self.prediction else float("inf")


class Pricer:
    """Prices candidates on one device. Limits are upper ones of latency_ms, memory_mib, energy_j, power_w, macs and
    params; the options are those of `perfc.predict`."""

    def __init__(self, *, device: str = "a100-40gb", limits: dict[str, float] | None = None, workers: int | None = None,
                 **options: Any) -> None:
        self.limits = dict(limits or {})
        budgets.check_limits(self.limits)
        self.workers = workers
        self.options = {**options, "device": device}

    def __call__(self, models: Iterable[Any]) -> list[Candidate]:
        """A generation of candidates, on all cores; what cannot be predicted is infeasible and has its error."""
        found = predict_many(models, workers=self.workers, return_exceptions=True, **self.options)
        return [self._judged(f) for f in found]

    def one(self, model: Any, example_inputs: Any = None) -> Candidate:
        """One candidate; raises what `predict` raises."""
        return self._judged(predict(model, example_inputs, alternatives=False, **self.options))

    def _judged(self, found: Any) -> Candidate:
        if isinstance(found, Exception):
            return Candidate(None, found, ())
        return Candidate(found, None, tuple(h for h in budgets.hold(found, self.limits) if h.exceeded))

    def objective(self, build: Callable[[Any], Any], score: Callable[[Any, Any], float] | None = None
                  ) -> Callable[[Any], Any]:
        """An objective for Optuna: `build(trial)` gives a model (a module as a pair with its inputs), whose latency in
        ms is returned, and before it is trained: what breaks a limit is pruned, its figures are the trial's user
        attributes. With `score(trial, model)` the objective is the pair (latency, score), and pruned models are never
        scored."""

        def call(trial: Any) -> Any:
            import optuna
            model = build(trial)
            candidate = self.one(model)
            prediction = candidate.prediction
            assert prediction is not None
            for name, figure in budgets.FIGURES.items():
                trial.set_user_attr(name, figure(prediction))
            if not candidate.feasible:
                why = ", ".join(map(str, candidate.exceeded)) or "does not fit into the device's memory"
                raise optuna.TrialPruned(why)
            return candidate.latency_ms if score is None else (candidate.latency_ms, score(trial, model))

        return call
