#!/usr/bin/env python3
"""Every profile of ../shared through `perfc counters show`, held against readings of our own.

- ../shared/formats: HPCToolkit databases against sums made here with struct, perf and Nsight
  Compute files against what stands in them
- ../shared/data/counters: every table; whole-run values of (the first rows of) RAJAPerf and AIWC
  against the csv module
- the same files cut and with bytes changed at random, seeded: read or refused with a diagnostic,
  exit code 0 or 1, within 10 s of CPU time and 1 GiB
"""
import csv
import gzip
import io
import json
import math
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support import PERFC, shared, unpack  # noqa: E402

CPU_S, MEMORY = 10, 1 << 30
DAMAGED = 6            # per file
MAX_ROWS = 4000        # of a table that is compared value by value


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def show(path: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([PERFC, "counters", "show", "--json", path], capture_output=True, preexec_fn=limits)


def read(path: pathlib.Path) -> dict:
    done = show(path)
    assert done.returncode == 0, f"{path}: exit {done.returncode}: {done.stderr.decode()[:300]}"
    return json.loads(done.stdout)


def totals(profile: dict) -> dict[str, float]:
    return {c["name"]: c["value"] for c in profile["counters"]}


def known(profile: dict) -> dict[str, float]:
    return {name: column["value"] for name, column in profile["record"].items() if column["value"] is not None}


def close(a, b, what: str, tolerance: float = 1e-9) -> None:
    assert a is not None and b is not None and math.isclose(a, b, rel_tol=tolerance,
                                                            abs_tol=1e-12), f"{what}: {a}, but {b} was expected"


def metric_db_sum(folder: pathlib.Path) -> float:
    """The first metric at the first node, over all threads."""
    return sum(struct.unpack_from(">d", p.read_bytes(), 32)[0] for p in folder.glob("*.metric-db"))


def summary_of_whole_run(folder: pathlib.Path) -> dict[str, float]:
    """profile.db: the summary's values of context 0, by the names that meta.db gives the sums over the execution."""
    meta, prof = (folder / "meta.db").read_bytes(), (folder / "profile.db").read_bytes()
    text = lambda at: meta[at:meta.index(b"\0", at)].decode()
    head, = struct.unpack_from("<Q", meta, 0x38)
    first, count, stride, _, summary_stride = struct.unpack_from("<QIBBB", meta, head)
    names = {}
    for at in range(first, first + count * stride, stride):
        name, _, summaries, _, many = struct.unpack_from("<QQQHH", meta, at)
        for s in range(summaries, summaries + many * summary_stride, summary_stride):
            scope, formula, combine, number = struct.unpack_from("<QQBxH", meta, s)
            if text(struct.unpack_from("<Q", meta, scope)[0]) == "execution" and text(formula) == "$$" and combine == 0:
                names[number] = text(name)
    profiles, = struct.unpack_from("<Q", prof, struct.unpack_from("<Q", prof, 0x18)[0])
    _, values, contexts, indices = struct.unpack_from("<QQI4xQ", prof, profiles)
    rows = [struct.unpack_from("<IQ", prof, indices + 12 * i) for i in range(contexts)]
    assert rows[0][0] == 0
    pairs = [struct.unpack_from("<Hd", prof, values + 10 * i) for i in range(rows[0][1], rows[1][1])]
    return {names[m]: v for m, v in pairs if m in names}


def check_formats(formats: pathlib.Path) -> None:
    xml = formats / "hpctoolkit" / "hpctoolkit-cpi-database"
    p = read(xml)
    assert (p["format"], len(p["regions"])) == ("hpctoolkit-xml", 59)
    close(totals(p)["CPUTIME (usec) (I)"], metric_db_sum(xml), "metric-db files")
    close(totals(p)["CPUTIME (usec):Sum (I)"], 3.99824e6, "experiment.xml")
    assert known(p) == {"threads": 4}

    for name, regions, threads in (("hatchet_cpi_v4_database", 205, 16), ("hpctoolkit-saxpy-mpi-cuda-database", 27, 8)):
        folder = formats / "hpctoolkit" / name
        p, expected = read(folder), summary_of_whole_run(folder)
        assert (p["format"], len(p["regions"])) == ("hpctoolkit-db", regions), len(p["regions"])
        assert expected
        for metric, value in expected.items():
            close(totals(p)[metric], value, f"{name}: {metric}")
        assert known(p)["threads"] == threads
        with tempfile.TemporaryDirectory() as scratch:      # without its summary, values come from cct.db
            for base in ("meta.db", "cct.db"):
                shutil.copyfile(folder / base, pathlib.Path(scratch) / base)
            q = totals(read(pathlib.Path(scratch)))
            for metric, value in expected.items():
                close(q[metric], value, f"{name}/cct.db: {metric}")
    copied = expected["GXCOPY:H2D (B)"] / expected["GXCOPY (sec)"]
    close(known(p)["cpu_to_gpu_bandwidth"], copied, "bandwidth of saxpy")
    close(known(p)["warp_blocks"], expected["GKER:BLKS_ACUMU"], "blocks of saxpy")

    p = read(next((formats / "perf_stat").glob("*.csv")))
    assert (p["format"], known(p)) == ("perf-stat-csv", {"instructions": 5171496})
    assert [u["name"] for u in p["unmeasured"]] == ["stalled-cycles-backend:u", "ref-cycles:u"]
    p = read(next((formats / "perf_stat").glob("*.jsonl")))
    assert (p["format"], totals(p)["armv8_pmuv3_1/branch-misses/"]) == ("perf-stat-json", 3112)
    p = read(next((formats / "ncu").glob("*.csv")))
    assert (p["format"], known(p)) == ("ncu-csv", {"threads": 1, "warp_blocks": 506})


def check_table(path: pathlib.Path, sums: list[str], means: list[str]) -> None:
    lines = path.read_text().splitlines(keepends=True)
    if len(lines) > MAX_ROWS:          # the whole table reads; a part of it is compared
        assert subprocess.run([PERFC, "counters", "show", path], capture_output=True,
                              preexec_fn=limits).returncode == 0, path
        path.write_text("".join(lines[:MAX_ROWS]))
    rows = list(csv.DictReader(io.StringIO("".join(lines[:MAX_ROWS]))))
    p = read(path)
    assert (p["format"], len(p["regions"])) == ("csv", len(rows))
    for columns, combine in ((sums, math.fsum), (means, lambda v: math.fsum(v) / len(v))):
        for column in columns:
            numbers = [float(r[column]) for r in rows if r[column] not in ("", "nan")]
            close(totals(p)[column], combine(numbers), f"{path.name}: {column}")


def unzipped(path: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    out = folder / path.stem
    out.write_bytes(gzip.decompress(path.read_bytes()))
    return out


def check_data(data: pathlib.Path, scratch: pathlib.Path) -> int:
    check_table(unzipped(data / "rajaperf" / "rajaperf_quartz_lassen.csv.gz", scratch), ["time_s", "reps"],
                ["topdown_retiring", "topdown_l1_bound"])
    check_table(unzipped(data / "aiwc" / "aiwc.csv.gz", scratch), ["total_instruction_count", "kernel_time"],
                ["mean_simd_width", "branch_entropy_yokota"])
    check_table(data / "rajaperf" / "rajaperf_lassen_ncu.csv", ["smsp__inst_executed.sum", "dram__sectors_read.sum"],
                [])
    check_table(data / "gpuperf" / "deviceInfo.csv", ["num_of_cores"], [])
    applications = sorted(unpack("data", "counters", "gpuperf", "apps_gpus.tar.xz", into="gpuperf").glob("*.csv"))
    assert len(applications) == 81, len(applications)
    for path in applications:
        p = read(path)
        ratios = [known(p)[f"{kind}_ratio"] for kind in ("integer", "float", "memory", "control")]
        assert p["format"] == "nvprof-csv" and all(
            0 <= r <= 1 for r in ratios) and sum(ratios) <= 1, f"{path.name}: {ratios}"
    return 4 + len(applications)


def damaged(files: list[pathlib.Path], scratch: pathlib.Path) -> int:
    """Copies a profile, damages one of its files, reads it."""
    rng, count = random.Random(1), 0
    for source in files:
        folder = source.parent if source.suffix in (".db", ".xml", ".metric-db") else None
        whole = source.read_bytes()
        for n in range(DAMAGED):
            copy = scratch / "damaged"
            shutil.rmtree(copy, ignore_errors=True)
            if folder:
                shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("metrics", "FORMATS.md"),
                                copy_function=shutil.copyfile)
            else:
                copy.mkdir()
            data = bytearray(whole)
            if n % 3 == 0:
                del data[rng.randrange(len(data)):]
            for _ in range(rng.choice([1, 2, 8, 64]) if n % 3 else 0):
                data[rng.randrange(len(data))] = rng.randrange(256)
            (copy / source.name).write_bytes(data)
            done = show(copy if folder else copy / source.name)
            fine = done.returncode == 0 or (done.returncode == 1 and b"error: " in done.stderr and not done.stdout)
            assert fine, f"{source.name}, damaged {n}: exit {done.returncode}, {done.stderr[:300]!r}"
            count += 1
    return count


def main() -> int:
    formats, data = shared("formats"), shared("data", "counters")
    check_formats(formats)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        tables = check_data(data, scratch)
        files = [p for folder in ("hpctoolkit", "perf_stat", "ncu") for p in sorted((formats / folder).rglob("*"))
                 if p.is_file() and p.name != "FORMATS.md" and p.parent.name != "metrics"]
        count = damaged([*files, data / "gpuperf" / "deviceInfo.csv"], scratch)
    print(f"6 profiles and {tables} tables agree; {count} damaged files read or refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
