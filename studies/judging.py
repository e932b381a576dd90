"""Whole models as perfc predicts them, beside what others measured: for studies that judge."""
import argparse
import collections
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile

import shipped
import tables

PERFC = pathlib.Path(__file__).resolve().parent.parent / "build/release/perfc"


def parser(doc, what, host="of perfc's"):
    """Arguments of a study some of whose `what` may be looked at, while the others judge."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--perfc", type=pathlib.Path, default=PERFC)
    made.add_argument("--host", help=host)
    which = made.add_mutually_exclusive_group(required=True)
    which.add_argument("--look", action="store_true", help=f"{what} that may be looked at, one by one")
    which.add_argument("--judge", action="store_true", help=f"{what} that judge, as a table")
    return made


@contextlib.contextmanager
def unpacked(archive):
    """The folder, for as long as it is asked, of what a tar archive holds."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        yield pathlib.Path(folder)


def predicted(perfc, model, *options):
    """perfc's one prediction of a model, as its JSON has it."""
    done = subprocess.run([perfc, model, "--json", "--quiet", *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{model}: {done.stderr}")
    return json.loads(done.stdout)["predictions"][0]


def host(args):
    """Options for a study's own --host."""
    return ["--host", args.host] if args.host else []


def beside(prediction, measured_ms, more_ms=0):
    """(predicted ÷ measured, whether what was measured lies in the interval); `more_ms`: what a run holds beyond what
    perfc predicts."""
    low, high = prediction["latency_ms_interval"]
    ratio = (prediction["latency_ms"] + more_ms) / measured_ms
    return ratio, low + more_ms <= measured_ms <= high + more_ms


def is_host_bound(prediction):
    return prediction["host_ms"] > prediction["device_ms"]


def power_in(said, latency_ms):
    """Watts of a run that takes so long: what a prediction says of its work, held below the device's limit
    (whitebox/price/power.h)."""
    limit, sharpness = (shipped.constants()[name] for name in ("kPowerLimit", "kPowerSharpness"))
    idle = said["power_breakdown_w"]["idle"]
    demand = idle + (sum(said["power_breakdown_w"].values()) - idle) * said["latency_ms"] / latency_ms
    return (demand ** -sharpness + (limit * said["device_tdp_w"]) ** -sharpness) ** (-1 / sharpness)


class Energies:
    """Energies of runs as perfc predicts them, and their power in the time that a run took, which has energy's error
    without that of latency."""

    def __init__(self):
        self.energy, self.power = (collections.defaultdict(list) for _ in range(2))

    def add(self, keys, said, measured_ms, joules):
        """`keys`: of the tables' rows that the run counts in. Watts: measured, predicted."""
        watts, said_w = joules / measured_ms * 1e3, power_in(said, measured_ms)
        low, high = said["energy_j_interval"]
        interval = shipped.constants()["kPowerInterval"]
        for key in keys:
            self.energy[key].append((said["energy_j"] / joules, low <= joules <= high))
            self.power[key].append((said_w / watts, 1 / interval <= said_w / watts <= interval))
        return watts, said_w

    def print(self, heads, order=None):
        """`heads`, and of keys what sorts them: as print_table."""
        for what, found in (("energy", self.energy), ("power in the time that the run took", self.power)):
            print(f"\n{what}\n")
            print_table(heads, sorted(found.items(), key=order))


def cells(rows):
    """Cells of a table: how many rows, their MAPE, the median of predicted ÷ measured, how many lie in the interval.
    `rows`: what beside() says of each"""
    ratios = [ratio for ratio, _ in rows]
    error = tables.percent(statistics.mean(abs(r - 1) for r in ratios))
    inside = sum(inside for _, inside in rows)
    return f"{len(rows)} | {error} | {statistics.median(ratios):.2f} | {inside} of {len(rows)}"


def print_table(heads, groups):
    """`heads`: of the columns that say which rows; `groups`: (what stands in these, rows)"""
    heads = [*heads, "rows", "MAPE", "median predicted ÷ measured", "in the 90 % interval"]
    print(f"| {' | '.join(heads)} |")
    print("|" + "---|" * len(heads))
    for key, rows in groups:
        print(f"| {' | '.join(map(str, key))} | {cells(rows)} |")
