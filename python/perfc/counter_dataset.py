"""Writes the counter datasets of docs/counters.md as CSV files, one row per workload:

    PYTHONPATH=python python3 -m perfc.counter_dataset --shared ../shared --out build/counters

Columns: `workload`, `application`, `suite` (what applications belong to), `region` (what a
profiler calls the kernel), `counter:NAME` (what a profiler counts; empty: missing), `work:NAME`
(amounts of work: a machine's time is about a sum of costs times these; empty or 0: none),
`time:MACHINE` (seconds, median of the repetitions; empty: not measured).

aiwc      104 OpenCL kernels x 15 devices, AIWC's architecture-independent features. MIT.
rajaperf  RAJA Performance Suite: Quartz (one row per kernel, compiler and level, 8M elements,
          top-down counters) and Lassen (V100, block_256, 8M elements). MIT.
gpuperf   9 CUDA applications; counters by nvprof on the Tesla K20, times on it and others. CC-BY-4.0.
"""
import argparse
import collections
import csv
import gzip
import io
import math
import pathlib
import re
import statistics
import sys
import tarfile

from perfc import files


def number(text):
    """None for what is no number, or not finite."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_gzip(path):
    with gzip.open(path, "rt", newline="") as f:
        yield from csv.DictReader(f)


def medians(rows, columns):
    values = {c: [v for v in (number(r[c]) for r in rows) if v is not None] for c in columns}
    return {c: statistics.median(v) for c, v in values.items() if v}


def write(path, rows):
    columns = list(dict.fromkeys(c for r in rows for c in r))
    order = [
        c for kind in ("workload", "application", "suite", "region", "counter:", "work:", "time:") for c in columns
        if c.startswith(kind)
    ]
    with files.writing(path, newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(order)
        for r in rows:
            out.writerow([f"{v:.7g}" if isinstance(v, float) else v for v in (r.get(c, "") for c in order)])
    print(f"{path}: {len(rows)} workloads")


def aiwc(shared):
    groups = collections.defaultdict(list)
    for r in read_gzip(shared / "data/counters/aiwc/aiwc.csv.gz"):
        groups[r["application"], r["size"], r["kernel"]].append(r)
    not_counters = ("application", "size", "kernel", "invocation", "device", "total_time", "kernel_time", "run")
    for (application, size, kernel), rows in sorted(groups.items()):
        c = medians(rows, [k for k in rows[0] if k not in not_counters])
        instructions, items = c["total_instruction_count"], max(c["workitems"], 1.0)
        out = {"workload": f"{application}/{size}/{kernel}", "application": application, "region": kernel}
        out |= {f"counter:{k}": v for k, v in c.items()}
        out |= {
            "work:launch": 1.0,
            "work:instructions": instructions,
            "work:instructions_per_item": instructions / items,
            "work:items": items,
            "work:footprint": c["total_memory_footprint"],
            "work:scattered": instructions * c["local_memory_address_entropy_10"],
            "work:branches": instructions * c["branch_entropy_average_linear"],
        }
        devices = collections.defaultdict(list)
        for r in rows:
            devices[r["device"]].append(float(r["kernel_time"]))
        out |= {f"time:{d}": statistics.median(t) / 1e6 for d, t in sorted(devices.items())}
        yield out


# Lines of the suite's call tree that sum kernels up.
RAJA_GROUPS = {"Algorithm", "Apps", "Basic", "Lcals", "Polybench", "RAJAPerf", "Stream"}
# GPU threads in flight that saturate a V100: 80 multiprocessors x 2048 threads, half full.
SATURATING_THREADS = 1e5
# Of a location that is updated atomically: a double, read and written.
LOCATION_BYTES = 16


def words(name):
    """Of names in capitals with underscores, as counters/data/name_words.h reads them."""
    return set(re.findall("[a-z]+", name.lower()))


def serial_atomics(kernel, iterations, bytes_):
    """Updates of one address, which wait for each other: all, by the locations that so many bytes have room for."""
    return iterations / max(bytes_ / LOCATION_BYTES, 1.0) if "atomic" in words(kernel) else 0.0


def rajaperf(shared):
    quartz, lassen = collections.defaultdict(list), collections.defaultdict(list)
    for r in read_gzip(shared / "data/counters/rajaperf/rajaperf_quartz_lassen.csv.gz"):
        if r["kernel"] in RAJA_GROUPS or "_" not in r["kernel"] or number(r["problem_size_param"]) != 8388608:
            continue
        r["seconds"] = str(float(r["time_s"]) / float(r["reps"]))
        if r["machine"] == "quartz" and r["topdown_retiring"]:
            quartz[r["kernel"], r["compiler"], r["opt_level"]].append(r)
        elif r["machine"] == "lassen" and r["tuning"] == "block_256":
            lassen[r["kernel"]].append(r)
    for (kernel, compiler, level), rows in sorted(quartz.items()):
        if kernel not in lassen:
            continue
        c = medians(rows, [k for k in rows[0] if k.startswith("topdown_")])
        w = medians(
            rows,
            ["bytes_per_rep", "flops_per_rep", "iterations_per_rep", "kernels_per_rep", "problem_size", "seconds"])
        seconds, kernels = w["seconds"], max(w["kernels_per_rep"], 1.0)
        parallel = w["iterations_per_rep"] / kernels
        starved = min(max(SATURATING_THREADS / max(parallel, 1.0), 0.0), 100.0)
        out = {"workload": f"{kernel}/{compiler}/{level}", "application": kernel, "suite": kernel.split("_")[0],
               "region": kernel}
        out |= {f"counter:{k}": v for k, v in c.items()}
        out |= {
            "work:launch": kernels,
            "work:bytes": w["bytes_per_rep"],
            "work:flops": w["flops_per_rep"],
            "work:iterations": w["iterations_per_rep"],
            "work:starved_bytes": w["bytes_per_rep"] * starved,
            "work:seconds": seconds,
            "work:starved_seconds": seconds * starved,
            "work:core_bound_seconds": seconds * min(max(c.get("topdown_core_bound", 0.0), 0.0), 1.0),
            "work:retiring_seconds": seconds * min(max(c.get("topdown_retiring", 0.0), 0.0), 1.0),
            "work:l1_bound_seconds": seconds * min(max(c.get("topdown_l1_bound", 0.0), 0.0), 1.0),
            "work:serial_atomics": serial_atomics(kernel, w["iterations_per_rep"], w["bytes_per_rep"]),
        }
        out |= {"time:quartz": seconds, "time:lassen": medians(lassen[kernel], ["seconds"])["seconds"]}
        yield out


GPUPERF_SOURCE = "Tesla-K20"
# Columns that say what ran, or on what, or how long it took: no counters.
GPUPERF_NOT_COUNTERS = {
    "", "compute_version", "gpu_id", "gpu_name", "l1_cache_used", "max_clock_rate", "num_of_cores", "L2", "bus",
    "memory_clock", "bandwith", "AppName", "AppId", "Device", "Context", "Stream", "Kernel", "Start", "Duration"
}


def gpuperf(shared):
    runs = collections.defaultdict(dict)
    with tarfile.open(shared / "data/counters/gpuperf/apps_gpus.tar.xz") as tar:
        for member in sorted(tar, key=lambda m: m.name):
            if not member.name.endswith(".csv"):
                continue
            for r in csv.DictReader(io.TextIOWrapper(tar.extractfile(member), newline="")):
                key = (r["AppName"], r["Input.Size"], *(r[f"{a}.{b}"] for a in ("Grid", "Block") for b in "XYZ"))
                runs[key].setdefault(r["gpu_name"], r)
    for key, by_gpu in sorted(runs.items()):
        source = by_gpu.get(GPUPERF_SOURCE)
        if source is None:
            continue
        c = {
            k: v for k, v in ((k, number(v)) for k, v in source.items() if k not in GPUPERF_NOT_COUNTERS)
            if v is not None
        }
        block = math.prod(c[f"Block.{a}"] for a in "XYZ")
        grid = math.prod(c[f"Grid.{a}"] for a in "XYZ")
        duration = float(source["Duration"])
        out = {"workload": "/".join(key), "application": key[0], "region": key[0]}
        out |= {f"counter:{k}": v for k, v in c.items()}
        out |= {
            "work:launch": 1.0,
            "work:seconds": duration,
            "work:instructions": c.get("Instructions.Executed", 0.0),
            "work:flops": c.get("Floating.Point.Operations.Single.Precision.", 0.0),
            "work:dram": c.get("Device.Memory.Read.Transactions", 0.0) + c.get("Device.Memory.Write.Transactions", 0.0),
            "work:l2": c.get("L2.Read.Transactions", 0.0) + c.get("L2.Write.Transactions", 0.0),
            "work:loads": c.get("Global.Load.Transactions", 0.0) + c.get("Global.Store.Transactions", 0.0),
            "work:shared": c.get("Shared.Load.Transactions", 0.0) + c.get("Shared.Store.Transactions", 0.0),
            "work:blocks": grid,
            "work:seconds_per_thread": duration / (grid * block),
        }
        out |= {f"time:{gpu}": float(r["Duration"]) for gpu, r in sorted(by_gpu.items())}
        yield out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/counters"))
    args = p.parse_args()
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        for name, rows in (("aiwc", aiwc), ("rajaperf", rajaperf), ("gpuperf", gpuperf)):
            write(args.out / f"{name}.csv", list(rows(args.shared)))
    except BrokenPipeError:
        raise
    except OSError as e:
        sys.exit(f"perfc.counter_dataset: error: {e}")


if __name__ == "__main__":
    files.exit_with(main)
