#!/usr/bin/env python3
"""Measures the counter predictor's models and writes the table "Measured" of docs/counters.md.

    python3 studies/counters_tables.py [--shared ../shared] [--list]
    python3 studies/counters_tables.py --rows aiwc-random rajaperf --again

A row is one `perfc counters eval --markdown` of one model; its name is DATA-SPLIT-MODEL. What was printed is kept in
build/counters/rows/, so that an interrupted run goes on where it stopped; rows of other data or options are measured
anew, and with --again all that were picked: do so after a change of a model. Rows that were not measured here stay as
they are in the table. All take hours on one core; `--rows` with no name writes the table alone.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "build/counters"
DOCS = ROOT / "docs/counters.md"
SCRIPT = "studies/counters_tables.py"
NAMELESS = " without names"  # of a model that reads the names of regions
COLUMNS = ["R²", "ratio error", "order", "pairs", "AUC", "top-1", "regret"]  # of metric_table() that are shown


@dataclass(frozen=True)
class Block:
    """Rows that are measured on the same split."""
    name: str
    shown: str
    file: str
    options: tuple
    seeds: int
    models: tuple
    slow: tuple = ()      # models of one seed only: hours else
    grouped: tuple = ()   # models for which ten groups of applications are held back, not each alone: hours else
    ordered: bool = True  # False: two machines of which one nearly always wins: order says nothing

    def rows(self):
        return [Row(self, model) for model in self.models]


@dataclass(frozen=True)
class Row:
    block: Block
    model: str

    @property
    def seeds(self):
        return 1 if self.model in self.block.slow else self.block.seeds

    @property
    def name(self):
        return f"{self.block.name}-{self.model.replace(' ', '-')}"

    def options(self):
        groups = ("--folds", "10") if self.model in self.block.grouped else ()
        names = ("--without-names",) if self.model.endswith(NAMELESS) else ()
        model = self.model.removesuffix(NAMELESS)
        return [
            "--data",
            str(DATA / self.block.file), *self.block.options, *groups, *names, "--models", model, "--seeds",
            str(self.seeds)
        ]


AIWC = ("--machines", "i7-6700k,xeon_es-2697v2,gtx1080ti,fiji-furyx")
RAJA = ("--reference", "quartz", "--data-sheet", str(ROOT / "data/counters/machines.csv"))
# On Quartz this kernel's sequential build is PI_REDUCE's, with the same counters; on Lassen it is e^5 slower.
WITHOUT = ("--without", "Basic_PI_ATOMIC")
GPUS = ("--machines", "Tesla-K40,Titan,GTX-980,TitanX")
ALONE = ("--split", "application")
USUAL = ("mean", "forest", "vae-dnn", "costs", "perfc" + NAMELESS, "perfc")
BLOCKS = [
    Block("aiwc-random", "AIWC, 4 machines, random", "aiwc.csv", AIWC, 10, (*USUAL, "dnn")),
    Block("aiwc-application", "AIWC, 4 machines, application", "aiwc.csv", (*AIWC, *ALONE), 5, USUAL),
    Block("rajaperf-random", "RAJAPerf, Quartz → Lassen, random", "rajaperf.csv", RAJA, 10, USUAL, ordered=False),
    Block("rajaperf-application", "RAJAPerf, Quartz → Lassen, application (a kernel at a time)", "rajaperf.csv",
          (*RAJA, *ALONE), 3, USUAL, slow=("vae-dnn",), grouped=("vae-dnn",), ordered=False),
    Block("rajawithout-random", "RAJAPerf without PI_ATOMIC, random", "rajaperf.csv", (*RAJA, *WITHOUT), 10, USUAL,
          ordered=False),
    Block("rajawithout-application", "RAJAPerf without PI_ATOMIC, application", "rajaperf.csv",
          (*RAJA, *WITHOUT, *ALONE), 1, ("mean", "forest", "costs", "perfc"), ordered=False),
    Block("gpuperf-application", "gpuperf, 4 GPUs, application", "gpuperf.csv", (*GPUS, *ALONE), 3, USUAL,
          slow=("vae-dnn", "perfc", "perfc" + NAMELESS)),
]


def digest(row):
    """Of the options and all files that they name."""
    h = hashlib.sha256()
    for part in row.options():
        h.update(pathlib.Path(part).read_bytes() if part.endswith(".csv") else part.encode())
    return h.hexdigest()[:16]


def cache(row):
    return DATA / "rows" / f"{row.name}.md"


def measure(row, perfc, again):
    kept = cache(row)
    stamp = digest(row)
    if kept.exists() and kept.read_text().startswith(stamp) and not again:
        return
    print(f"{row.name} …", flush=True)
    command = [str(perfc), "counters", "eval", *row.options(), "--markdown"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    kept.parent.mkdir(exist_ok=True)
    tables.files.write_text(kept, stamp + "\n" + done.stdout)


def old_rows():
    """Of the table as it stands: cells by what is shown of the block and of the model."""
    old, block = {}, ""
    for line in DOCS.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if not line.startswith("|") or len(cells) != len(COLUMNS) + 3:
            continue
        block = cells[0] or block
        old[block, cells[2], cells[1]] = cells[3:]
    return old


def cells(row, old):
    if not cache(row).exists():
        return old or ["not measured"] + [""] * (len(COLUMNS) - 1)
    _, head, _, values = cache(row).read_text().splitlines()[:4]
    def split(line):
        return [cell.strip() for cell in line.strip("|").split("|")]

    found = dict(zip(split(head), split(values)))
    shown = {c: v.replace(" ± 0.000", "").replace(" ± 0.0 %", " %") if row.seeds == 1 else v for c, v in found.items()}
    return [shown[c] if row.block.ordered or c in ("R²", "ratio error") else "" for c in COLUMNS]


def table():
    out = ["| data, split | seeds | model | " + " | ".join(COLUMNS) + " |", "|---|" + "---|" * (len(COLUMNS) + 2)]
    old = old_rows()
    for block in BLOCKS:
        for i, row in enumerate(block.rows()):
            model = row.model + (" (ten groups)" if row.model in block.grouped else "")
            out.append("| " + " | ".join([
                block.shown if i == 0 else "",
                str(row.seeds), model, *cells(row, old.get((block.shown, model, str(row.seeds))))
            ]) + " |")
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", default=ROOT / "../shared", type=pathlib.Path)
    p.add_argument("--perfc", default=ROOT / "build/release/perfc", type=pathlib.Path)
    p.add_argument("--rows", nargs="*", default=[""], metavar="NAME", help="rows whose names begin so [all]")
    p.add_argument("--again", action="store_true", help="measure rows that have been measured, too")
    p.add_argument("--list", action="store_true", help="print the rows' names")
    args = p.parse_args()
    chosen = [row for block in BLOCKS for row in block.rows() if row.name.startswith(tuple(args.rows))]
    if args.list:
        print("\n".join(row.name for row in chosen))
        return
    if not all((DATA / block.file).exists() for block in BLOCKS):
        subprocess.run(
            [sys.executable, "-m", "perfc.counter_dataset", "--shared",
             str(args.shared), "--out",
             str(DATA)], check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    for row in chosen:
        measure(row, args.perfc, args.again)
    tables.write_section("measured", SCRIPT, table(), DOCS)


if __name__ == "__main__":
    main()
