#!/usr/bin/env python3
"""Names of operators in the sources: each stands in the table, and nobody lists several of one kind.

usage: names_test.py

`op("…")` is a hash, so that a new row rebuilds one file; a misspelt name would compile. This test finds it. And what
holds of several operators is a column of their rows (ir/op_table.h): chains such as `n.is(op("a")) || n.is(op("b"))`
and arrays of names are refused.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = [
    "ir", "frontends", "backends", "passes", "devices", "whitebox", "features", "gnn", "counters", "mig", "pipeline",
    "learning", "compare", "cli", "tests/unit", "tests/tools", "bench"
]
NAME = re.compile(r'\bop\("([^"]*)"\)')
FAMILY = re.compile(r'\bfamily\("([^"]*)"\)')
ROW = re.compile(r'\{\.name = "([^"]+)"')
LIST = re.compile(r'op\("[^"]*"\)\)?\s*(?:\|\|[^;|&]*?op\("|,\s*op\("[^"]*"\)\s*[,}])|'
                  r'(?:==|!=) op\("[^"]*"\)\s*(?:\|\||&&)[^;]*?(?:==|!=) op\("')


def rows() -> set[str]:
    return {name for file in (ROOT / "ir/ops/table").glob("*.cpp") for name in ROW.findall(file.read_text())}


def main() -> int:
    known, bad, listing = rows(), [], {}
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h"):
                continue
            text = path.read_text()
            where = str(path.relative_to(ROOT))
            named = [(m.start(), m.group(1)) for m in NAME.finditer(text)]
            named += [(m.start(), m.group(1).replace("?", dims)) for m in FAMILY.finditer(text) for dims in "123"]
            for at, name in named:
                if name not in known:
                    bad.append(f'{where}:{text.count(chr(10), 0, at) + 1}: op("{name}") is no row of ir/ops/table/')
            if not folder.startswith(("tests", "bench")) and path.parent != ROOT / "ir/ops/table":
                found = [text.count("\n", 0, m.start()) + 1 for m in LIST.finditer(text)]
                if found:
                    listing[where] = found
    for where, lines in listing.items():
        bad += [
            f"{where}:{line}: a list of operators: make it a column of their rows (ir/op_table.h)" for line in lines
        ]
    print("\n".join(bad) if bad else f"{len(known)} operators, every name in the sources is one of them")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
