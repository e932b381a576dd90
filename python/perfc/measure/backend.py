"""What the harness asks of a kind of device. Two classes per kind, because two processes look at it:

- `Backend` lives in the process that runs one cell, and may touch the device;
- `Sensors` lives in the parent, which samples power, clocks and memory while the cell runs. So sampling costs the
  measured process nothing, and a context of the parent's never counts as the model's memory.

Nothing here changes a setting of the device, and nothing needs root. What a machine does not say is None.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable


@dataclass
class Sample:
    """One look at the device."""
    power_w: float | None = None
    clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    temperature_c: float | None = None
    memory_mib: float | None = None          #: of the measured process
    throttle: tuple[str, ...] = ()           #: reasons why clocks are held down


@dataclass
class PeakMemory:
    """As the allocator of the framework sees it, in MiB."""
    allocated_mib: float | None = None
    reserved_mib: float | None = None


@dataclass
class Versions:
    driver: str | None = None
    cuda: str | None = None
    torch: str | None = None
    onnxruntime: str | None = None           #: of mode onnxruntime-cpu


class Backend:
    name: str
    device: str                              #: as torch names it

    def open(self) -> None:
        """Makes the context, and sets what this process's arithmetic is to be."""

    def holds(self, tensors) -> None:
        """Tensors that live as long as the model does."""

    def capture(self, step: Callable[[], object]) -> Callable[[], object]:
        """`step` as one CUDA graph."""
        raise ValueError(f"mode cuda-graph needs CUDA, this is {self.name}")

    def time_runs(self, step: Callable[[], object], count: int) -> list[float]:
        """ms of each of `count` runs, one after the other."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Waits until the device has nothing to do."""

    def reset_peak(self) -> None:
        """Peaks of memory count from here."""

    def peak_memory(self, step: Callable[[], object]) -> PeakMemory:
        """Since reset_peak(); may run `step` once more to find out."""
        raise NotImplementedError

    def energy_j(self) -> float | None:
        """A counter that only grows."""
        return None

    def versions(self) -> Versions:
        return Versions()


class Sensors:
    """The parent's view of the device that is measured."""
    host = ""                                #: what the device calls itself
    mig: str | None = None                   #: slice
    #: Memory beside context and reserved that is no cause for concern: kernels loaded later, the libraries' own.
    unexplained_mib = 0.0
    interval_s = 0.02                        #: between two samples

    def sample(self, pid: int) -> Sample:
        raise NotImplementedError

    def process_starts(self) -> None:
        """Before the measured process is there."""


class Unavailable(Exception):
    """The back end cannot be used here; says why, and what to install."""
