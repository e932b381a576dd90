#!/usr/bin/env python3
"""Whole models on an H200 as perfc predicts them, beside what they took there (README.md).

    python3 studies/hopper/judge.py --models MODELS [--group judge] [--host h200-2026] [--cells]

MODELS: the folder of `python -m perfc.export`. A cell is bound by the device where its kernels fill 80 % of its time.
"""
import argparse
import collections
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import judging  # noqa: E402
import profiles  # noqa: E402

DEVICE_BOUND = 0.8
HOST_WAITS = 1.4  # a run takes so many times its kernels: what it takes is the host's calls
#: The profiles of a group's cells; of those that ran alone nobody kept any.
TABLES = {"fit": ("fit", "fit-compiled"), "judge": ("judge", "judge-compiled"), "fit-training": ("fit-training",)}
GROUPS = ("fit", "judge", "judge-alone", "host", "fit-training", "judge-training", "strangers", "judge-third",
          "strangers-third")


def exported(folder):
    """target -> file of its graph."""
    folder = pathlib.Path(folder)
    with open(folder / "manifest.csv", newline="") as file:
        return {r["target"]: str(folder / r["file"]) for r in csv.DictReader(file) if r["status"] == "ok"}


def options(row):
    asked = [word for name in ("batch", "dtype", "mode", "layout", "task") for word in (f"--{name}", row[name])]
    return [*asked, "--pacing", "queued", "--device", "h200"]


def arguments(description, cells=True, host=False):
    """Of a study of labels; `cells`, `host`: whether it has these options."""
    p = argparse.ArgumentParser(description=description.splitlines()[0])
    p.add_argument("--models", required=True)
    p.add_argument("--group", default="judge", choices=GROUPS)
    p.add_argument("--perfc", default="build/release/perfc")
    if host:
        p.add_argument("--host", help="as perfc's [the device's]")
    if cells:
        p.add_argument("--cells", action="store_true", help="print each")
    return p.parse_args()


def main():
    args = arguments(__doc__, host=True)
    models = exported(args.models)
    device_ms = {cell: sum(r.us for r in kernels) / 1e3 for table in TABLES.get(args.group, ())
                 for cell, kernels in profiles.by_cell(table).items()}
    latency, device, calls = (collections.defaultdict(list) for _ in range(3))
    for row in profiles.labels(args.group):
        if row["target"] not in models:
            continue
        measured, kernels = float(row["latency_ms"]), device_ms.get(row["cell"])
        said = judging.predicted(args.perfc, models[row["target"]], *options(row), *judging.host(args))
        bound = "device" if (kernels or said["device_ms"]) > DEVICE_BOUND * measured else "host"
        key = (row["mode"], row["task"], bound)
        latency[key].append(judging.beside(said, measured))
        if measured > HOST_WAITS * said["device_ms"]:
            calls[row["mode"], row["task"]].append((said["host_ms"] / measured, False))
        if kernels:
            device[key].append((said["device_ms"] / kernels, False))
        if args.cells:
            print(f"{row['cell']:60} {measured:9.3f} ms, perfc {said['latency_ms']:9.3f}; kernels {kernels or 0:9.3f}, "
                  f"perfc {said['device_ms']:9.3f}; {bound}")
    judging.print_table(["mode", "task", "bound by"], sorted(latency.items()))
    for what, heads, found in (("kernels alone", ["mode", "task", "bound by"], device),
                               ("calls alone, where the device waits for them", ["mode", "task"], calls)):
        if found:
            print(f"\n{what} (the last column says nothing)\n")
            judging.print_table(heads, sorted(found.items()))


if __name__ == "__main__":
    main()
