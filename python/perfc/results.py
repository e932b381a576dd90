"""Predictions as values. Fields are the keys of the JSON report, in its order and units (docs/json.md)."""
from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, overload

if TYPE_CHECKING:
    import numpy as np

    from . import _perfc


_PICKLED = "this was pickled, which keeps the figures only: predict it again"


class Interval(NamedTuple):
    """A 90 % interval."""
    lo: float
    hi: float


@dataclass(frozen=True)
class Host:
    """What dispatches to the device."""
    name: str
    framework: str
    calls: float
    us_per_call: float
    interval: float  #: 90 % of such hosts lie within this factor


@dataclass(frozen=True)
class Stack:
    """What takes memory beside the model."""
    name: str
    framework: str
    cuda: str
    context_mib: float
    interval: float  #: 90 % of such contexts lie within this factor


@dataclass(frozen=True)
class BoundBy:
    """Shares of the device's time in kernels that each of these limits."""
    compute: float
    memory: float
    launch: float


@dataclass(frozen=True)
class Alternative:
    """Other options that bring more samples per second."""
    options: str
    batch: int
    latency_ms: float
    throughput_per_s: float


@dataclass(frozen=True)
class OnRuntime:
    """The same on another runtime."""
    runtime: str
    dtype: str
    latency_ms: float


@dataclass(frozen=True)
class OnHost:
    """The same on a narrower kind of host."""
    host: str
    latency_ms: float


@dataclass(frozen=True)
class MemoryBreakdown:
    """Parts of the memory in MiB, which sum to it."""
    context: float
    weights: float
    gradients: float
    optimizer: float
    activations: float
    workspace: float
    search: float | None = None  #: with `cudnn_benchmark`


@dataclass(frozen=True)
class PowerBreakdown:
    """What a run's power is for, in W; their sum is what it would draw without the device's limit."""
    idle: float
    kernels: float  #: for being on the device
    vector_units: float  #: arithmetic
    matrix_units: float
    memory: float  #: traffic


@dataclass(frozen=True)
class MigProfile:
    """A MIG profile, and the run in such a slice."""
    profile: str
    fits: bool
    eligible: bool
    memory_mib: float
    slice_memory_mib: float
    latency_ms: float
    instances: int
    throughput_per_s: float
    energy_j: float
    why: str


@dataclass(frozen=True)
class Mig:
    """The MIG decision."""
    profile: str | None  #: None: none fits
    why: str
    profiles: tuple[MigProfile, ...]
    dippm_profile: str | None = None


@dataclass(frozen=True)
class Static:
    """Totals that do not depend on a device."""
    macs: float
    flops: float
    params: float
    weight_mib: float
    nodes: int
    conv2d: int
    dense: int
    relu: int


@dataclass(frozen=True)
class HotOp:
    """One of the slowest operators."""
    op: str
    name: str
    time_us: float
    share: float
    bound: str  #: "compute", "memory" or "launch"
    flops: float
    bytes: float


@dataclass(frozen=True)
class DynamicNode:
    """A call whose results have dims that data decides."""
    op: str
    name: str
    extents: tuple[int, ...]
    by: str


@dataclass(frozen=True)
class Dynamic:
    """How the prediction rests on dims that data decides."""
    taken: str
    share_of_device: float
    device_ms_range: Interval
    not_covered: str
    nodes: tuple[DynamicNode, ...]


class MemoryOdds(NamedTuple):
    """Odds that a monitor sees a run at this much memory or more."""
    memory_mib: float
    odds: float


@dataclass(frozen=True, eq=False)
class Kernels(Sequence[HotOp]):
    """All kernels in the order of their execution: columns, and a sequence of their rows. The numbers are NumPy arrays
    in place, read-only."""
    op: tuple[str, ...]
    name: tuple[str, ...]
    bound: tuple[str, ...]
    time_us: np.ndarray[Any, np.dtype[np.float64]]
    flops: np.ndarray[Any, np.dtype[np.float64]]
    bytes: np.ndarray[Any, np.dtype[np.float64]]

    @overload
    def __getitem__(self, index: int) -> HotOp: ...
    @overload
    def __getitem__(self, index: slice) -> list[HotOp]: ...

    def __getitem__(self, index: int | slice) -> HotOp | list[HotOp]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        time = float(self.time_us[index])
        total = float(self.time_us.sum())
        return HotOp(self.op[index], self.name[index], time, time / total if total else 0.0, self.bound[index],
                     float(self.flops[index]), float(self.bytes[index]))

    def __len__(self) -> int:
        return len(self.op)

    def __repr__(self) -> str:
        return f"Kernels({len(self)} kernels, {float(self.time_us.sum()):.6g} µs)"


@dataclass(frozen=True)
class _Source:
    """Where a prediction is among the reports, and how many hot operators it lists."""
    reports: _perfc.Reports
    index: int
    top: int


@dataclass(frozen=True)
class Prediction:
    """What a model takes on a device: latency of one batch, memory, energy, MIG slice, and what they come from.

    `repr()` is one line, `str()` the report that the command line prints, in notebooks it is a table.
    """
    model: str
    batch: int
    device: str
    dtype: str
    runtime: str
    mode: str
    layout: str
    norms: str
    task: str
    pacing: str  #: "awaited" or "queued"
    predictor: str
    method: str  #: in a sentence, how `predictor` comes to its times
    latency_ms: float  #: of one batch
    latency_ms_interval: Interval
    device_ms: float  #: time the device is busy
    host_ms: float  #: time the host needs to dispatch
    host: Host
    bound: str  #: "host" or "device": which of the two takes longer
    device_waits: float  #: share of the latency in which the device waits for the host
    device_time_bound_by: BoundBy
    alternatives: tuple[Alternative, ...]
    hosts: tuple[OnHost, ...]  #: of a run that a host bounds of which there are several kinds, by kind
    runtimes: tuple[OnRuntime, ...]
    throughput_per_s: float  #: samples per second
    memory_mib: float
    memory_allocated_mib: float  #: as torch.cuda.max_memory_allocated counts it
    memory_mib_interval: Interval
    device_memory_mib: float
    fits: bool  #: whether the device's memory, or the slice's, holds the run
    memory_breakdown_mib: MemoryBreakdown
    stack: Stack
    energy_j: float  #: of one batch
    energy_j_interval: Interval
    energy_j_per_sample: float
    power_w: float
    power_breakdown_w: PowerBreakdown
    device_tdp_w: float
    mig: Mig | None  #: None: the device has no MIG profiles
    static: Static
    novelty: tuple[str, ...]  #: what the predictor is unfamiliar with
    hot_ops: tuple[HotOp, ...]  #: the `top` slowest operators
    warnings: tuple[str, ...]
    framework: str | None = None  #: with dtype "default": whose default it is
    largest_batch: int | None = None  #: of a run that does not fit: the largest batch that does
    memory_odds: tuple[MemoryOdds, ...] = ()  #: with `cudnn_benchmark`
    dynamic: Dynamic | None = None  #: of models with dims that data decides
    _source: _Source | None = field(default=None, repr=False, compare=False)

    @property
    def kernels(self) -> Kernels:
        """All kernels in the order of their execution, numbers as NumPy arrays without a copy."""
        import numpy as np
        source = self._reports()
        columns = source.reports.kernels(source.index)
        return Kernels(tuple(columns["op"]), tuple(columns["name"]), tuple(columns["bound"]),
                       *(np.asarray(columns[key]) for key in ("time_us", "flops", "bytes")))

    def to_json(self) -> str:
        """What `perfc … --json` prints for this model, batch and device, to the last byte."""
        source = self._reports()
        return source.reports.json(source.index, 1, source.top)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
        document: dict[str, Any] = json.loads(self.to_json())["predictions"][0]
        return document

    def to_text(self) -> str:
        """The report for people."""
        source = self._reports()
        return source.reports.text("report", source.index, 1, source.top)

    def to_trace(self) -> str:
        """Kernels over time as Chrome trace JSON, which Perfetto and speedscope open."""
        source = self._reports()
        return source.reports.text("trace", source.index, 1, 0)

    def to_folded(self) -> str:
        """Device time by stacks of modules, for flame graphs."""
        source = self._reports()
        return source.reports.text("folded", source.index, 1, 0)

    def to_summary(self, depth: int = 3) -> str:
        """A table by module, `depth` levels of them."""
        source = self._reports()
        return source.reports.text("summary", source.index, 1, depth)

    def _reports(self) -> _Source:
        if self._source is None:
            raise ValueError(_PICKLED)
        return self._source

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}

    def __str__(self) -> str:
        return self.to_text() if self._source else repr(self)

    def __repr__(self) -> str:
        lo, hi = self.latency_ms_interval
        profile = f", MIG {self.mig.profile or 'none'}" if self.mig else ""
        return (f"<Prediction {self.model}, batch {self.batch}, {self.device}, {self.dtype}, {self.runtime}: "
                f"{self.latency_ms:g} ms ({lo:g} … {hi:g}), {self.memory_mib:g} MiB"
                f"{'' if self.fits else ' (out of memory)'}, {self.energy_j:g} J{profile}>")

    def _repr_html_(self) -> str:
        from . import _html
        return _html.prediction(self)


class Predictions(Sequence[Prediction]):
    """Predictions by device, then batch. Prints as the command line's table; `rows()` is made for data frames."""

    def __init__(self, predictions: Sequence[Prediction], source: tuple[_perfc.Reports, int] | None = None) -> None:
        self._predictions = tuple(predictions)
        self._source = source

    def _reports(self) -> tuple[_perfc.Reports, int]:
        if self._source is None:
            raise ValueError(_PICKLED)
        return self._source

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Prediction, ...]: ...

    def __getitem__(self, index: int | slice) -> Prediction | tuple[Prediction, ...]:
        return self._predictions[index]

    def __len__(self) -> int:
        return len(self._predictions)

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self._predictions)

    def of(self, *, device: str | None = None, batch: int | None = None) -> list[Prediction]:
        """Those on a device, of a batch, or of both."""
        return [p for p in self if device in (None, p.device) and batch in (None, p.batch)]

    def rows(self) -> list[dict[str, Any]]:
        """The main figures, a flat dict each: pandas.DataFrame(predictions.rows())."""
        return [{
            "model": p.model, "batch": p.batch, "device": p.device, "dtype": p.dtype, "runtime": p.runtime,
            "latency_ms": p.latency_ms, "latency_ms_lo": p.latency_ms_interval.lo,
            "latency_ms_hi": p.latency_ms_interval.hi, "throughput_per_s": p.throughput_per_s,
            "memory_mib": p.memory_mib, "fits": p.fits, "energy_j": p.energy_j, "power_w": p.power_w,
            "mig": p.mig.profile if p.mig else None
        } for p in self]

    def to_json(self) -> str:
        """What `perfc … --json` prints for these, to the last byte."""
        reports, top = self._reports()
        return reports.json(0, len(self), top)

    def to_text(self) -> str:
        """The report for people: a table, then each."""
        reports, top = self._reports()
        return reports.text("report", 0, len(self), top)

    def __reduce__(self) -> tuple[Any, ...]:
        return Predictions, (self._predictions, )

    def __str__(self) -> str:
        return self.to_text() if self._source else repr(self)

    def __repr__(self) -> str:
        return "Predictions([\n" + "".join(f"  {p!r},\n" for p in self) + "])"

    def _repr_html_(self) -> str:
        from . import _html
        return _html.predictions(self)


def _make(cls: type[Any], value: dict[str, Any], **parts: Any) -> Any:
    """A dataclass of a JSON object. Keys that the class does not have stay in `to_json()`."""
    known = {f.name for f in fields(cls)}
    return cls(**{key: v for key, v in value.items() if key in known and key not in parts}, **parts)


def _dynamic(value: dict[str, Any]) -> Dynamic:
    nodes = tuple(_make(DynamicNode, n, extents=tuple(n["extents"])) for n in value["nodes"])
    made: Dynamic = _make(Dynamic, value, nodes=nodes, device_ms_range=Interval(*value["device_ms_range"]))
    return made


def _mig(value: dict[str, Any] | None) -> Mig | None:
    if value is None:
        return None
    made: Mig = _make(Mig, value, profiles=tuple(_make(MigProfile, p) for p in value["profiles"]))
    return made


def prediction_of(value: dict[str, Any], source: _Source) -> Prediction:
    """A prediction of the JSON report."""
    intervals = {key: Interval(*value[key]) for key in ("latency_ms_interval", "memory_mib_interval",
                                                        "energy_j_interval")}
    made: Prediction = _make(
        Prediction, value, **intervals, host=_make(Host, value["host"]), stack=_make(Stack, value["stack"]),
        device_time_bound_by=_make(BoundBy, value["device_time_bound_by"]),
        alternatives=tuple(_make(Alternative, a) for a in value["alternatives"]),
        hosts=tuple(_make(OnHost, h) for h in value["hosts"]),
        runtimes=tuple(_make(OnRuntime, r) for r in value["runtimes"]),
        memory_breakdown_mib=_make(MemoryBreakdown, value["memory_breakdown_mib"]),
        power_breakdown_w=_make(PowerBreakdown, value["power_breakdown_w"]), mig=_mig(value["mig"]),
        static=_make(Static, value["static"]), novelty=tuple(value["novelty"]),
        hot_ops=tuple(_make(HotOp, h) for h in value["hot_ops"]), warnings=tuple(value["warnings"]),
        memory_odds=tuple(MemoryOdds(*o) for o in value.get("memory_odds", ())),
        dynamic=_dynamic(value["dynamic"]) if "dynamic" in value else None, _source=source)
    return made


def predictions_of(reports: _perfc.Reports, top: int) -> list[Prediction]:
    """All predictions of a call."""
    document = json.loads(reports.json(0, reports.count(), top))
    return [prediction_of(value, _Source(reports, i, top)) for i, value in enumerate(document["predictions"])]
