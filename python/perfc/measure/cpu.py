"""CPUs: torch on the CPU, process memory from /proc, energy from RAPL where it may be read."""
from __future__ import annotations

import os
import pathlib
import platform
import time
import weakref
from typing import Callable

from .backend import Backend, PeakMemory, Sample, Sensors, Versions
from .rapl import Rapl

MIB = 2**20


def live_bytes_peak(step: Callable[[], object], resident: int) -> float:
    """Most bytes of tensors that are alive at once while `step` runs: `resident`, and what its operators make.
    torch counts allocations on CUDA only."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.live = self.peak = resident
            self.known = set()

        def free(self, address: int, size: int) -> None:
            self.known.discard(address)
            self.live -= size

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            inside = {t.untyped_storage().data_ptr() for t in _tensors((args, kwargs or {}))}
            for tensor in _tensors(result):
                storage = tensor.untyped_storage()
                if storage.data_ptr() in inside or storage.data_ptr() in self.known:
                    continue  # a view, or written in place
                self.known.add(storage.data_ptr())
                self.live += storage.nbytes()
                self.peak = max(self.peak, self.live)
                weakref.finalize(storage, self.free, storage.data_ptr(), storage.nbytes())
            return result

    with Counting() as counting:
        step()
    return counting.peak


def _tensors(value):
    import torch
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from _tensors(v)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))


class CpuBackend(Backend):
    name, device = "cpu", "cpu"

    def __init__(self, threads: int | None = None, clock: Callable[[], float] = time.perf_counter,
                 rapl: Rapl | None = None):
        self.threads, self.clock = threads, clock
        self.rapl = rapl or Rapl()
        self.resident = 0

    def open(self) -> None:
        import torch
        if self.threads:
            torch.set_num_threads(self.threads)

    def time_runs(self, step, count):
        out = []
        for _ in range(count):
            start = self.clock()
            step()
            out.append((self.clock() - start) * 1e3)
        return out

    def reset_peak(self) -> None:
        """The kernel's high-water mark of this process (proc(5), clear_refs)."""
        try:
            pathlib.Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass

    def holds(self, tensors) -> None:
        seen = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
        self.resident = sum(seen.values())

    def peak_memory(self, step) -> PeakMemory:
        peak = live_bytes_peak(step, self.resident) / MIB
        return PeakMemory(peak, peak)  # nothing lies between tensors and the C library

    def energy_j(self) -> float | None:
        return self.rapl.energy_j()

    def versions(self) -> Versions:
        import torch
        return Versions(torch=torch.__version__)


def cpu_name(cpuinfo: pathlib.Path = pathlib.Path("/proc/cpuinfo")) -> str:
    try:
        for line in cpuinfo.read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _numbers(pattern: str, root: pathlib.Path = pathlib.Path("/sys")) -> list[float]:
    out = []
    for file in root.glob(pattern):
        try:
            out.append(float(file.read_text()))
        except (OSError, ValueError):
            pass
    return out


class CpuSensors(Sensors):
    """Clock, temperature and throttling as sysfs has them, power as RAPL's difference between two samples."""

    unexplained_mib, interval_s = 96.0, 0.1  # oneDNN keeps packed weights and generated code

    def __init__(self, rapl: Rapl | None = None, clock: Callable[[], float] = time.perf_counter):
        self.host = cpu_name()
        self.rapl, self.clock = rapl or Rapl(), clock
        self.last = self._energy()
        self.throttled = self._throttle_count()

    def _energy(self):
        return self.clock(), self.rapl.energy_j()

    @staticmethod
    def _throttle_count() -> float:
        return sum(_numbers("devices/system/cpu/cpu*/thermal_throttle/core_throttle_count"))

    def sample(self, pid: int) -> Sample:
        (before, joules), (now, more) = self.last, self._energy()
        self.last = now, more
        clocks = [khz / 1e3 for khz in _numbers("devices/system/cpu/cpu*/cpufreq/scaling_cur_freq")]
        temperatures = [t / 1e3 for t in _numbers("class/thermal/thermal_zone*/temp")]
        throttled, self.throttled = self.throttled, self._throttle_count()
        return Sample(power_w=(more - joules) / (now - before) if more is not None and now > before else None,
                      clock_mhz=sum(clocks) / len(clocks) if clocks else None,
                      temperature_c=max(temperatures, default=None),
                      memory_mib=process_mib(pid),
                      throttle=("thermal",) if self.throttled > throttled else ())


def process_mib(pid: int) -> float | None:
    """Most memory that a process had resident since its high-water mark was last reset."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def host_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
