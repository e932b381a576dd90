"""labels.csv: a row per cell, written as soon as it is known, so that a run can be stopped at any time and go on."""
from __future__ import annotations

import csv
import fcntl
import io
import os
import pathlib

from perfc import files
from .cells import Cell

#: The first fifteen are what perfc reads (docs/gnn.md#labels); a column means the same on every back end, and is
#: empty where the machine does not say.
COLUMNS = (
    "model", "batch", "device", "dtype", "mode", "layout", "task",
    "pacing",                   # awaited: the host waits for each run; queued: it dispatches while the device works
    "latency_ms",               # of one batch; the protocol's statistic
    "memory_mib",               # most that the process took, context included
    "energy_j",                 # of one batch, idle power included
    "source", "licence", "architecture", "family",
    "status",                   # ok, oom, failed, crashed, timeout; perfc reads rows that are ok
    "message",                  # why not
    "flags",                    # of a row that is ok: spread, energy, memory, throttled
    "target",                   # what was measured, as the list names it
    "latency_mean_ms", "latency_median_ms", "latency_p95_ms", "latency_std_ms",
    "spread_percent",           # between runs, see protocol.py
    "runs", "attempts",
    "energy_above_idle_j",      # the same without idle power
    "power_w",                  # mean of the samples while it ran
    "idle_w",                   # with an open context and nothing to do
    "energy_ratio",             # energy counter / (power × time)
    "memory_allocated_mib",     # peak of tensors
    "memory_reserved_mib",      # peak of what the allocator took from the driver
    "memory_context_mib",       # of the process before it had a model
    "memory_unexplained_mib",   # memory − context − reserved
    "clock_mhz", "memory_clock_mhz", "temperature_c",  # mean, mean, maximum while it ran
    "throttle",                 # reasons why clocks were held down while it ran
    "mig",                      # slice
    "host", "threads", "driver", "cuda", "torch", "onnxruntime", "protocol", "measured_at",
)


class LabelsError(Exception):
    """Says what is wrong with a labels file, and what to do."""


def cell_of(row: dict) -> Cell:
    return Cell(row["target"], row["family"], int(row["batch"] or 0), row["dtype"], row["mode"], row["layout"],
                row["task"])


class LabelsFile:
    """labels.csv, open for appending and locked against a second writer."""

    def __init__(self, path: str):
        self.path = pathlib.Path(path)
        if self.path.exists() and not self.path.is_file():
            raise LabelsError(
                f"{self.path}: rows are read back to go on, and this is no regular file: name another with -o")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._open()
        try:
            self.rows = self._read()
        except LabelsError:
            self.close()
            raise

    def _open(self) -> None:
        self.file = open(self.path, "a+b")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.file.close()
            raise LabelsError(f"{self.path}: another run is writing to this file") from None

    def _read(self) -> list[dict]:
        self.file.seek(0)
        data = self.file.read()
        whole = data[:data.rfind(b"\n") + 1]  # a row that was cut off while it was written is not there
        if len(whole) != len(data):
            self.file.truncate(len(whole))
        if not whole:
            self._write_line(COLUMNS)
            return []
        reader = csv.DictReader(io.StringIO(whole.decode()))
        if tuple(reader.fieldnames or ()) != COLUMNS:
            other = sorted(set(reader.fieldnames or ()) ^ set(COLUMNS))
            raise LabelsError(f"{self.path}:1: the columns are not those of perfc.measure"
                              + (f" ({', '.join(other[:5])})" if other else "") + ": name another file with -o")
        rows = []
        for row in reader:
            try:
                cell_of(row)
            except (TypeError, ValueError):
                raise LabelsError(
                    f"{self.path}:{reader.line_num}: not a row of perfc.measure: correct or remove it") from None
            rows.append(row)
        return rows

    def _write_line(self, fields) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(fields)
        try:
            self.file.write(text.getvalue().encode())
            self.file.flush()
            os.fsync(self.file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def append(self, row: dict) -> None:
        unknown = set(row) - set(COLUMNS)
        assert not unknown, unknown
        text = {c: _text(row.get(c)) for c in COLUMNS}
        self._write_line(text[c] for c in COLUMNS)
        self.rows.append(text)

    def forget_failed(self) -> int:
        """Removes the rows that are not ok; the number of them."""
        kept = [r for r in self.rows if r["status"] == "ok"]
        removed = len(self.rows) - len(kept)
        if removed:
            with files.writing(self.path, newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(kept)
            self.file.close()
            self._open()
            self.rows = kept
        return removed

    def close(self) -> None:
        self.file.close()


def _text(value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return " ".join(str(value).split())  # a message stays on its line
