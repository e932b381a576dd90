"""Energy of Intel's and AMD's packages through Linux' powercap interface, where it may be read
(Documentation/power/powercap/powercap.rst in the kernel's sources)."""
from __future__ import annotations

import pathlib

ROOT = pathlib.Path("/sys/class/powercap")


class Rapl:
    """A counter of joules over all packages; wraps of the hardware's counters are made up for."""

    def __init__(self, root: pathlib.Path = ROOT):
        self.zones = []   # [file, range in µJ, last reading]
        self.total_uj = 0
        for zone in sorted(root.glob("intel-rapl:*")) if root.exists() else []:
            if zone.name.count(":") != 1:
                continue  # a part of a package
            try:
                reading = int((zone / "energy_uj").read_text())
                self.zones.append([zone / "energy_uj", int((zone / "max_energy_range_uj").read_text()), reading])
            except (OSError, ValueError):
                self.zones = []   # part of the energy is no energy
                break

    def energy_j(self) -> float | None:
        if not self.zones:
            return None
        for zone in self.zones:
            file, span, last = zone
            now = int(file.read_text())
            self.total_uj += now - last if now >= last else now + span - last
            zone[2] = now
        return self.total_uj / 1e6
