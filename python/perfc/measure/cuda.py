"""NVIDIA GPUs: CUDA events for time, torch's allocator and NVML (package nvidia-ml-py) for the rest."""
from __future__ import annotations

import os
import re
from typing import Callable

from .backend import Backend, PeakMemory, Sample, Sensors, Unavailable, Versions

MIB = 2**20
CAPTURE_WARM_UP = 3

#: NVML's bits that mean that clocks are held down (nvml.h, nvmlClocksEventReason*, before ThrottleReason). Not among
#: them: idle clocks, and clocks that the user or an application set.
THROTTLE = ((0x4, "power-cap"), (0x8, "hardware"), (0x10, "sync-boost"), (0x20, "thermal"), (0x40, "hardware-thermal"),
            (0x80, "power-brake"))


def load_nvml():
    try:
        import pynvml
    except ImportError:
        raise Unavailable("NVML is read through the package nvidia-ml-py: pip install nvidia-ml-py") from None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise Unavailable(f"NVML does not start: {error}") from None
    return pynvml


class Nvml:
    """The GPU that CUDA calls device 0, and the MIG slice of it where that is what CUDA sees."""

    def __init__(self, nvml=None, visible: str | None = None):
        self.nvml = nvml or load_nvml()
        visible = os.environ.get("CUDA_VISIBLE_DEVICES") if visible is None else visible
        first = (visible or "0").split(",")[0].strip()
        try:
            self.gpu, self.slice = self._find(first)
        except self.nvml.NVMLError as error:
            raise Unavailable(f"NVML does not know the GPU '{first}' of CUDA_VISIBLE_DEVICES: {error}") from None

    def _find(self, first: str):
        n = self.nvml
        if first.startswith("MIG-"):
            part = n.nvmlDeviceGetHandleByUUID(first)
            return n.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(part), part
        gpu = n.nvmlDeviceGetHandleByUUID(first) if first.startswith("GPU-") else n.nvmlDeviceGetHandleByIndex(
            int(first))
        if self._ask(n.nvmlDeviceGetMigMode, gpu, otherwise=(0, 0))[0] != 1:
            return gpu, None
        for index in range(n.nvmlDeviceGetMaxMigDeviceCount(gpu)):  # CUDA takes the first instance there is
            part = self._ask(n.nvmlDeviceGetMigDeviceHandleByIndex, gpu, index)
            if part is not None:
                return gpu, part
        return gpu, None

    def _ask(self, function, *arguments, otherwise=None):
        """What NVML says, or `otherwise` where this GPU or a slice does not know."""
        try:
            return function(*arguments)
        except self.nvml.NVMLError:
            return otherwise

    def name(self) -> str:
        found = self.nvml.nvmlDeviceGetName(self.gpu)
        return found.decode() if isinstance(found, bytes) else found

    def mig(self) -> str | None:
        """"1g.5gb": a slice's own name ends in it."""
        if self.slice is None:
            return None
        found = self.nvml.nvmlDeviceGetName(self.slice)
        found = found.decode() if isinstance(found, bytes) else found
        profile = re.search(r"\bMIG (\S+)", found)
        return profile.group(1) if profile else found

    def driver(self) -> str:
        found = self.nvml.nvmlSystemGetDriverVersion()
        return found.decode() if isinstance(found, bytes) else found

    def energy_j(self) -> float | None:
        """Of the whole GPU since the driver was loaded; a slice's share of it nobody counts."""
        if self.slice is not None:
            return None
        millijoules = self._ask(self.nvml.nvmlDeviceGetTotalEnergyConsumption, self.gpu)
        return None if millijoules is None else millijoules / 1e3

    def power_w(self) -> float | None:
        milliwatts = None if self.slice is not None else self._ask(self.nvml.nvmlDeviceGetPowerUsage, self.gpu)
        return None if milliwatts is None else milliwatts / 1e3

    def used_mib(self) -> float | None:
        memory = self._ask(self.nvml.nvmlDeviceGetMemoryInfo, self.slice if self.slice is not None else self.gpu)
        return None if memory is None else memory.used / MIB

    def clock_mhz(self, kind: str) -> float | None:
        return self._ask(self.nvml.nvmlDeviceGetClockInfo, self.gpu, getattr(self.nvml, f"NVML_CLOCK_{kind}"))

    def temperature_c(self) -> float | None:
        return self._ask(self.nvml.nvmlDeviceGetTemperature, self.gpu, self.nvml.NVML_TEMPERATURE_GPU)

    def throttle(self) -> tuple[str, ...]:
        ask = getattr(self.nvml, "nvmlDeviceGetCurrentClocksEventReasons",
                      None) or self.nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        bits = self._ask(ask, self.gpu, otherwise=0)
        return tuple(name for bit, name in THROTTLE if bits & bit)


class CudaBackend(Backend):
    name, device = "cuda", "cuda"

    def __init__(self, nvml: Nvml | None = None):
        self.meter = nvml
        import torch
        self.torch = torch

    def open(self) -> None:
        """fp32 is float32: TensorFloat-32 is a dtype of its own (set by the step that wants it)."""
        if not self.torch.cuda.is_available():
            raise Unavailable("torch sees no CUDA device")
        self.meter = self.meter or Nvml()
        self.torch.cuda.init()
        self.torch.zeros(1, device=self.device)
        self.synchronize()

    def synchronize(self) -> None:
        self.torch.cuda.synchronize()

    def capture(self, step):
        """Warm-up on a stream of its own, as torch.cuda.graph asks for, then one capture."""
        cuda = self.torch.cuda
        stream = cuda.Stream()
        stream.wait_stream(cuda.current_stream())
        with cuda.stream(stream):
            for _ in range(CAPTURE_WARM_UP):
                step()
        cuda.current_stream().wait_stream(stream)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            step()
        return graph.replay

    def time_runs(self, step, count):
        """Events before and after every run; the host waits once, at the end, so that launches overlap as in use."""
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        self.synchronize()
        events[0].record()
        for event in events[1:]:
            step()
            event.record()
        self.synchronize()
        return [a.elapsed_time(b) for a, b in zip(events, events[1:])]

    def reset_peak(self) -> None:
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()

    def peak_memory(self, step) -> PeakMemory:
        return PeakMemory(self.torch.cuda.max_memory_allocated() / MIB, self.torch.cuda.max_memory_reserved() / MIB)

    def energy_j(self) -> float | None:
        return self.meter.energy_j()

    def versions(self) -> Versions:
        return Versions(driver=self.meter.driver(), cuda=self.torch.version.cuda, torch=self.torch.__version__)


class CudaSensors(Sensors):
    unexplained_mib = 512.0

    def __init__(self, nvml: Nvml | None = None):
        self.nvml = nvml or Nvml()
        self.host, self.mig = self.nvml.name(), self.nvml.mig()
        self.before_mib = self.nvml.used_mib()

    def process_starts(self) -> None:
        """Others' memory, and the driver's own: what lies above it is the process's."""
        self.before_mib = self.nvml.used_mib()

    def sample(self, pid: int) -> Sample:
        used = self.nvml.used_mib()
        return Sample(power_w=self.nvml.power_w(), clock_mhz=self.nvml.clock_mhz("SM"),
                      memory_clock_mhz=self.nvml.clock_mhz("MEM"), temperature_c=self.nvml.temperature_c(),
                      throttle=self.nvml.throttle(),
                      memory_mib=None if used is None or self.before_mib is None else max(0.0, used - self.before_mib))
