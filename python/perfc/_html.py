"""Predictions as notebooks show them: tables without scripts or anything from elsewhere. Every text is escaped."""
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .results import Interval, Prediction, Predictions

_RIGHT = ' style="text-align:right"'


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _figure(value: float, interval: Interval, unit: str) -> str:
    return f"{_number(value)} {unit} <small>({_number(interval.lo)} … {_number(interval.hi)})</small>"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Cells are HTML; the first column is text, the others are figures."""
    out = ["<table><thead><tr>", *(f"<th>{h}</th>" for h in head), "</tr></thead><tbody>"]
    for row in rows:
        out += ["<tr>", *(f"<td{_RIGHT if i else ''}>{cell}</td>" for i, cell in enumerate(row)), "</tr>"]
    return "".join([*out, "</tbody></table>"])


def _memory(p: Prediction) -> str:
    text = _figure(p.memory_mib, p.memory_mib_interval, "MiB")
    return text if p.fits else f"{text} <b>out of memory</b>"


def prediction(p: Prediction) -> str:
    """One prediction: its figures, then the slowest operators."""
    figures = [("latency", _figure(p.latency_ms, p.latency_ms_interval, "ms")),
               ("throughput", f"{_number(p.throughput_per_s)} samples/s"), ("memory", _memory(p)),
               ("energy", _figure(p.energy_j, p.energy_j_interval, "J")), ("bound by", escape(p.bound))]
    if p.largest_batch is not None:
        figures.append(("largest batch that fits", str(p.largest_batch)))
    if p.mig:
        figures.append(("MIG profile", escape(p.mig.profile or "none") + f" <small>{escape(p.mig.why)}</small>"))
    hot = ([escape(f"{h.op} {h.name}"), f"{_number(h.time_us)} µs", f"{100 * h.share:.1f} %", escape(h.bound)]
           for h in p.hot_ops)
    title = f"{p.model}, batch {p.batch}, {p.device}, {p.dtype}, {p.runtime}"
    notes = "".join(f"<li>{escape(note)}</li>" for note in (*p.novelty, *p.warnings))
    return (f"<div><b>{escape(title)}</b>{_table(('', 'predicted (90 %)'), figures)}"
            f"{_table(('slowest operators', 'time', 'share', 'bound by'), hot)}"
            f"{f'<ul>{notes}</ul>' if notes else ''}</div>")


def predictions(all_of_them: Predictions) -> str:
    """A row each."""
    rows = ([escape(p.model), escape(p.device), str(p.batch), escape(p.dtype),
             _figure(p.latency_ms, p.latency_ms_interval, "ms"), _number(p.throughput_per_s), _memory(p),
             _figure(p.energy_j, p.energy_j_interval, "J"), escape(p.mig.profile or "none") if p.mig else "–"]
            for p in all_of_them)
    return _table(("model", "device", "batch", "dtype", "latency", "samples/s", "memory", "energy", "MIG"), rows)
