"""What a device is called, and a device file for a CPU that perfc does not know."""
from __future__ import annotations

import os
import pathlib
import re
import time

from .cpu import _numbers, cpu_name, host_threads

COPY_MIB = 256
COPY_SHARE = 0.7   # of the peak that a copy reaches: `bandwidth` of data/devices.json's CPU defaults
#: Floating-point operations of one core and clock in float32: two FMA units of the width (Intel and AMD optimisation
#: manuals).
FLOPS_PER_CLOCK = (("avx512f", 64), ("avx2", 32), ("avx", 16), ("asimd", 16))
TDP_W_PER_CORE = 6


def device_name(host: str) -> str:
    """"AMD EPYC 7763 64-Core Processor" -> "amd-epyc-7763-64-core-processor"; GPUs' titles are names to perfc
    already."""
    if host.startswith(("NVIDIA", "Tesla", "Quadro", "GeForce")):
        return host
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", host.lower())).strip("-") or "cpu"


def memory_limit_mib() -> float | None:
    """80 % of what is free."""
    try:
        for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / 1024 * 0.8
    except (OSError, ValueError):
        pass
    return None


def flops_per_clock(flags: set[str], cpu: str = "") -> int:
    """`cpu`: the name. AMD's Zen 4 (EPYC 9004, Ryzen 7000) makes one operation of 512 bits of two halves."""
    if "avx512f" in flags and "AMD" in cpu and "avx512_vp2intersect" not in flags:
        flags = flags - {"avx512f"}
    return next((flops for flag, flops in FLOPS_PER_CLOCK if flag in flags), 8)


def copy_gb_s(mib: int = COPY_MIB) -> float:
    """Bytes that a copy reads and writes per second, the best of five."""
    source, target = bytearray(mib * 2**20), bytearray(mib * 2**20)
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        target[:] = source
        best = max(best, 2 * len(source) / (time.perf_counter() - start))
    return best / 1e9


def cache_mib(root: pathlib.Path = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")) -> float:
    """The largest cache, which is what `l2_mib` means of a CPU."""
    sizes = [file.read_text().strip() for file in root.glob("index*/size")]
    return max((int(s[:-1]) / {"K": 1024, "M": 1}[s[-1]] for s in sizes if re.fullmatch(r"\d+[KM]", s)), default=1.0)


def cpu_device(name: str | None = None) -> dict:
    """A starting point that `perfc devices calibrate` corrects: peak rates from what the system says of the CPU, its
    bandwidth from a copy, its power a guess (TDP_W_PER_CORE) where nobody says."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    flags = set(
        next((line.partition(":")[2].split() for line in text.splitlines() if line.startswith(("flags", "Features"))),
             []))
    clocks = [k / 1e3 for k in _numbers("devices/system/cpu/cpu*/cpufreq/cpuinfo_max_freq")]
    mhz = max(clocks or [float(line.partition(":")[2]) for line in text.splitlines() if line.startswith("cpu MHz")],
              default=2000.0)
    cores, host = host_threads(), cpu_name()
    memory_kib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024
    limits = [uw / 1e6 for uw in _numbers("class/powercap/intel-rapl:?/constraint_0_power_limit_uw")]
    tflops = cores * mhz * 1e6 * flops_per_clock(flags, host) / 1e12
    return {
        "name": name or device_name(host), "title": host, "kind": "cpu", "vector_tflops": {"float32": round(
            tflops, 4)}, "bandwidth_gb_s": round(copy_gb_s() / COPY_SHARE, 2), "l2_mib": cache_mib(), "sms": cores,
        "boost_clock_mhz": round(mhz), "memory_mib": round(memory_kib / 1024), "tdp_w": round(
            sum(limits) or TDP_W_PER_CORE * cores, 1), "idle_w": 1.0, "source": "python -m perfc.measure --describe"
    }
