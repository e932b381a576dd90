"""A run of the harness: cells in, rows of labels.csv out."""
from __future__ import annotations

import datetime
import os
import pathlib
import statistics
import time
from dataclasses import dataclass, field
from typing import Callable

from perfc import isolate
from . import worker
from .backend import Sample, Sensors
from .cells import SESSION, Cell, in_order
from .protocol import Protocol
from .table import LabelsFile, cell_of

#: Of each back end's runs (Backend.time_runs).
PACING = {"cuda": "queued", "cpu": "awaited"}
#: Energy counter and power × time may differ by this factor before a row is flagged: power is sampled.
ENERGY_FACTOR = 1.15
#: Seconds of runs below which counters, which tick some ten times a second, say nothing about energy.
ENERGY_SECONDS = 0.5
MEMORY_SHARE = 0.10


@dataclass
class Model:
    """A model of the list and the files that describe it, by form."""
    entry: object
    architecture: str
    family: str
    files: dict[str, str]                    #: "json" -> path relative to labels.csv

    def file(self, mode: str) -> str:
        """The form that shows what is launched: a trace, for compiled runs ONNX, whose exporters fold as compilers
        do."""
        folded = mode in ("compiled", SESSION)
        order = ("onnx", "onnx-legacy", "json", "pt2") if folded else ("json", "onnx-legacy", "onnx", "pt2")
        return next(self.files[form] for form in order if form in self.files)


@dataclass
class Options:
    backend: str
    device: str                              #: perfc's name of the device
    protocol: Protocol
    budget_s: float | None = None
    timeout_s: float = 300
    memory_mib: float | None = None
    threads: int | None = None
    source: str = "perfc.measure"
    licence: str = ""


class Recorder:
    """What the parent sees of one cell: the context's memory, and samples by attempt."""

    def __init__(self, sensors: Sensors):
        self.sensors, self.pid, self.recording = sensors, 0, None
        self.context_mib: float | None = None
        self.samples: dict[int, list[Sample]] = {}

    def watch(self) -> isolate.Watch:
        return isolate.Watch(self.started, self.message, self.tick, self.sensors.interval_s)

    def started(self, pid: int) -> None:
        self.pid = pid

    def message(self, name: str, value) -> None:
        if name == "context":
            self.context_mib = self.sensors.sample(self.pid).memory_mib
        elif name == "start":
            self.recording = self.samples.setdefault(value, [])
            self.sensors.sample(self.pid)  # meters that tell a difference begin here
        elif name == "stop":
            self.tick()
            self.recording = None

    def tick(self) -> None:
        if self.recording is not None:
            self.recording.append(self.sensors.sample(self.pid))


def mean(values) -> float | None:
    known = [v for v in values if v is not None]
    return statistics.fmean(known) if known else None


def most(values) -> float | None:
    return max((v for v in values if v is not None), default=None)


def combine(result: dict, recorder: Recorder, options: Options, idle_w: float | None) -> dict:
    """Columns of a row that is ok: the worker's, the samples', and the checks that hold one against the other."""
    samples = recorder.samples.get(result.pop("attempt"), [])
    seconds, joules = result.pop("window_s"), result.pop("window_j")
    row = dict(result)
    row["power_w"] = mean(s.power_w for s in samples)
    row["idle_w"] = idle_w
    row["clock_mhz"] = mean(s.clock_mhz for s in samples)
    row["memory_clock_mhz"] = mean(s.memory_clock_mhz for s in samples)
    row["temperature_c"] = most(s.temperature_c for s in samples)
    row["throttle"] = "+".join(sorted({reason for s in samples for reason in s.throttle}))
    row["memory_mib"] = most(s.memory_mib for s in samples) or None
    row["memory_context_mib"] = recorder.context_mib
    if joules is not None and seconds >= ENERGY_SECONDS:
        share = result["latency_ms"] / 1e3 / seconds
        row["energy_j"] = joules * share
        if idle_w is not None:
            row["energy_above_idle_j"] = (joules - idle_w * seconds) * share
        if row["power_w"]:
            row["energy_ratio"] = joules / (row["power_w"] * seconds)
    if None not in (row["memory_mib"], row["memory_context_mib"], row["memory_reserved_mib"]):
        row["memory_unexplained_mib"] = row["memory_mib"] - row["memory_context_mib"] - row["memory_reserved_mib"]
    row["flags"] = "+".join(flags(row, options.protocol, recorder.sensors.unexplained_mib))
    return row


def flags(row: dict, protocol: Protocol, unexplained_mib: float) -> list[str]:
    """What is doubtful about a row."""
    found = []
    if row["spread_percent"] > 100 * protocol.spread:
        found.append("spread")
    ratio = row.get("energy_ratio")
    if ratio is not None and not 1 / ENERGY_FACTOR <= ratio <= ENERGY_FACTOR:
        found.append("energy")
    rest = row.get("memory_unexplained_mib")
    if rest is not None and abs(rest) > max(unexplained_mib, MEMORY_SHARE * row["memory_mib"]):
        found.append("memory")
    if row["throttle"]:
        found.append("throttled")
    return found


class Budget:
    """Whether there is time for another cell."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic):
        self.clock, self.start, self.seconds = clock, clock(), seconds
        self.taken: list[float] = []

    def left(self) -> float:
        return float("inf") if self.seconds is None else self.seconds - (self.clock() - self.start)

    def allows_another(self) -> bool:
        """At least as long as half of the cells so far took."""
        return self.left() > (statistics.median(self.taken) if self.taken else 0)


@dataclass
class Summary:
    ok: int = 0
    flagged: int = 0
    not_ok: dict[str, int] = field(default_factory=dict)
    known: int = 0                           #: rows that an earlier run left
    left: int = 0                            #: cells for which no time was left


def run(models: list[Model], cells: list[Cell], labels: LabelsFile, sensors: Sensors, options: Options, *,
        say=isolate.say, budget: Budget | None = None, call=isolate.call) -> Summary:
    """Measures the cells that `labels` lacks, the most informative first, and appends a row for each."""
    by_target = {m.entry.target: m for m in models}
    measured = {(cell_of(r).key(), r["device"], r["protocol"]) for r in labels.rows}
    before = [
        cell_of(r) for r in labels.rows if r["device"] == options.device and r["protocol"] == options.protocol.name
    ]
    todo = in_order([c for c in cells if (c.key(), options.device, options.protocol.name) not in measured], before)
    summary = Summary(known=len(cells) - len(todo), left=len(todo))
    if not todo:
        return summary
    budget = budget or Budget(options.budget_s)
    sensors.process_starts()
    idle = call(worker.idle_power, options.backend, timeout_s=60)
    if idle.status != "ok":
        raise RuntimeError(f"the device does not start: {idle.message}")
    for number, cell in enumerate(todo, 1):
        if not budget.allows_another():
            break
        began = budget.clock()
        model = by_target[cell.target]
        recorder = Recorder(sensors)
        sensors.process_starts()
        timeout_s = min(options.timeout_s, max(budget.left(), 1))
        outcome = call(worker.run_cell, model.entry, cell, options.protocol, options.backend, options.threads,
                       timeout_s=timeout_s, memory_mib=options.memory_mib, watch=recorder.watch())
        if outcome.status == "timeout" and timeout_s < options.timeout_s:
            break  # the budget ended it, which says nothing about the cell
        row = {
            "model": model.file(cell.mode), "batch": cell.batch or None, "device": options.device, "dtype": cell.dtype,
            "mode": cell.mode, "layout": cell.layout, "task": cell.task, "pacing":
                PACING[options.backend], "source": options.source, "licence":
                options.licence, "architecture": model.architecture, "family": cell.family, "target": cell.target,
            "status": outcome.status, "message": outcome.message, "mig": sensors.mig, "host": sensors.host, "protocol":
                options.protocol.name, "measured_at": datetime.datetime.now(
                    datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        }
        if outcome.status == "ok":
            row |= combine(outcome.value, recorder, options, idle.value)
            summary.ok += 1
            summary.flagged += bool(row["flags"])
            said = f"{row['latency_ms']:.4g} ms ± {row['spread_percent']:.1f} %" + (f"  [{row['flags']}]"
                                                                                    if row["flags"] else "")
        else:
            summary.not_ok[outcome.status] = summary.not_ok.get(outcome.status, 0) + 1
            said = f"{outcome.status}: {outcome.message}"
        labels.append(row)
        summary.left -= 1
        budget.taken.append(budget.clock() - began)
        left = statistics.fmean(budget.taken) * (len(todo) - number)
        say(f"[{progress(number, len(todo))}] {number}/{len(todo)}, {duration(left)} left  {cell.title()}: {said}")
    return summary


def progress(done: int, of: int, width: int = 20) -> str:
    filled = width * done // of
    return "#" * filled + "." * (width - filled)


def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def relative(path: pathlib.Path, folder: pathlib.Path) -> str:
    return os.path.relpath(path, folder)
