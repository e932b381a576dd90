"""The pytest plugin: a fixture `perfc` that holds models against budgets.

    def test_latency(perfc):
        perfc.assert_budget("model.onnx", device="l4", batch=8, latency_ms=20, memory_mib=4096)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from . import budgets
    from .results import Prediction

_CHECKED = pytest.StashKey["list[tuple[str, budgets.Checked]]"]()


class Budgets:
    """The fixture's value."""

    def __init__(self, test: str, checked: list[tuple[str, budgets.Checked]]) -> None:
        self._test = test
        self._checked = checked

    def assert_budget(self, model: Any, example_inputs: Any = None, *, device: str = "a100-40gb", **arguments: Any
                      ) -> Prediction:
        """Fails the test where the prediction exceeds a limit, or where the device's memory does not hold the run.

        Limits: latency_ms, memory_mib, energy_j, power_w, macs, params, at most. The other arguments are those of
        `perfc.predict`. Returns the prediction.
        """
        __tracebackhide__ = True
        from . import budgets
        checked = budgets.check_budget(model, example_inputs, device=device, **arguments)
        self._checked.append((self._test, checked))
        if checked.exceeded:
            p = checked.prediction
            lines = [f"{p.model}, batch {p.batch}, on {p.device} exceeds its budget:"]
            lines += [f"  {held}" for held in checked.held]
            if not p.fits:
                most = "" if p.largest_batch is None else f"; the largest batch that fits is {p.largest_batch}"
                lines.append(f"  does not fit: {p.memory_mib:g} MiB, the device has {p.device_memory_mib:g}{most}")
            lines += [f"  slowest: {h.op} {h.name} {h.time_us:g} µs ({100 * h.share:.0f} %)" for h in p.hot_ops[:3]]
            pytest.fail("\n".join(lines), pytrace=False)
        return checked.prediction


@pytest.fixture
def perfc(request: pytest.FixtureRequest) -> Budgets:
    """Holds models against budgets: perfc.assert_budget(model, device="l4", latency_ms=20)."""
    return Budgets(request.node.nodeid, request.config.stash.setdefault(_CHECKED, []))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """A line per budget: how much of it is used."""
    checked = config.stash.get(_CHECKED, [])
    if not checked:
        return
    terminalreporter.section("perfc budgets")
    for test, (prediction, held) in checked:
        used = ", ".join(f"{h.figure} {h.value:g} of {h.limit:g}" for h in held) or f"{prediction.latency_ms:g} ms"
        terminalreporter.write_line(f"{test}: {prediction.device}, batch {prediction.batch}: {used}")
