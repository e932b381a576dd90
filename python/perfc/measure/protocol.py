"""How a cell is timed: warm-up, runs, and when to do it again."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import Callable

MOST_RUNS = 10_000


@dataclass(frozen=True)
class Protocol:
    name: str = "default"
    warm_up: int = 5
    runs: int = 30             #: at least
    seconds: float = 1.0       #: at least
    statistic: str = "median"  #: what latency_ms is
    attempts: int = 3          #: at most, while the spread is larger than `spread`
    spread: float = 0.05


#: DIPPM (arXiv 2303.11733, section 4): 5 warm-up runs, the arithmetic mean of 30.
PROTOCOLS = {p.name: p for p in (Protocol(), Protocol("dippm", seconds=0, statistic="mean", attempts=1))}


@dataclass
class Timing:
    """Runs of one attempt, in ms each."""
    runs_ms: list[float]
    attempt: int = 0           #: its number among the attempts, from 0
    attempts: int = 1
    statistics: dict = field(default_factory=dict)

    @property
    def mean_ms(self) -> float:
        return statistics.fmean(self.runs_ms)

    @property
    def median_ms(self) -> float:
        return statistics.median(self.runs_ms)

    @property
    def p95_ms(self) -> float:
        return percentile(self.runs_ms, 0.95)

    @property
    def std_ms(self) -> float:
        return statistics.stdev(self.runs_ms) if len(self.runs_ms) > 1 else 0.0

    @property
    def spread(self) -> float:
        """Half of the distance between the 16th and the 84th percentile, over the median: for a normal distribution
        its standard deviation over its mean, but one interrupted run in thirty does not show."""
        return (percentile(self.runs_ms, 0.84) - percentile(self.runs_ms, 0.16)) / 2 / self.median_ms

    def latency_ms(self, protocol: Protocol) -> float:
        return self.mean_ms if protocol.statistic == "mean" else self.median_ms


def percentile(values: list[float], share: float) -> float:
    """Linear between the two values around it."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def run_count(protocol: Protocol, warm_up_ms: list[float]) -> int:
    """Enough for both minima, by the faster half of the warm-up: its first runs may compile or load."""
    typical = statistics.median_low(sorted(warm_up_ms)[:max(1, (len(warm_up_ms) + 1) // 2)])
    return max(protocol.runs, min(MOST_RUNS, math.ceil(protocol.seconds * 1e3 / max(typical, 1e-3))))


def measure(time_runs: Callable[[int], list[float]], protocol: Protocol,
            window: Callable[[Callable, int], list[float]] = None) -> Timing:
    """`time_runs(n)` runs n times and gives each run's ms. `window(measure_it, attempt)` surrounds an attempt, to read
    meters before and after. Gives the attempt with the least spread."""
    count = run_count(protocol, time_runs(protocol.warm_up))
    window = window or (lambda measure_it, attempt: measure_it())
    made: list[Timing] = []
    while len(made) < protocol.attempts:
        made.append(Timing(window(lambda: time_runs(count), len(made)), attempt=len(made)))
        if made[-1].spread <= protocol.spread:
            break
    best = min(made, key=lambda t: t.spread)
    best.attempts = len(made)
    return best
