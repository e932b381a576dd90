#!/usr/bin/env python3
"""Every overload that torch has of an ATen operator that perfc knows is taken by a row, by the names of its schema, as
.pt2 files have them.

usage: overloads_test.py

overloads.tsv: overloads that are refused, and why. A row whose overload is taken is a problem, too.
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402
from arguments_test import signatures, texts_of_rows  # noqa: E402

MIN_OVERLOADS = 550
# Overloads that take tensors and write none of them: names, arguments without a default.
LIST = """
import json, torch
print(json.dumps([[s.name.removeprefix("aten::"), s.overload_name,
                   [a.name for a in s.arguments if not a.has_default_value()]]
                  for s in torch._C._jit_get_all_schemas()
                  if s.name.startswith("aten::") and "Tensor" in str(s).partition("->")[0]
                  and not any(a.is_out for a in s.arguments) and "Dimname" not in str(s)]))
"""


def names_of(signature):
    """Of the arguments, in the schema's words: `-ignored`, `[optional]`, `schema=ours`."""
    return [word.strip("-[]?*").split("=")[0] for word in signature.replace(",", " ").split()]


def by_position():
    """Operators of the IR's rows without a signature, which take operands alone."""
    for text in texts_of_rows():
        yield from re.sub(r"\([^)]*\)", "", text).split()


def taken(row, required):
    # In-place and vector forms call their first argument by another name (find_row).
    same = required[1:] if required[:1] in (["self"], ["input"]) else required
    return all(name in row for name in same)


def main() -> int:
    rows, refused = {}, {overload: False for overload, _ in support.read_table(HERE / "overloads.tsv", 2)}
    for name, signature in signatures():
        rows.setdefault(name, []).append(names_of(signature))
    positional = set(by_position())
    overloads = json.loads(subprocess.check_output([support.torch_python(), "-c", LIST], text=True))
    problems, known = [], 0
    for name, overload, required in overloads:
        if name not in rows:
            continue
        known += 1
        full = f"{name}.{overload}" if overload else name
        if name in positional or any(taken(row, required) for row in rows[name]):
            continue
        if full in refused:
            refused[full] = True
        else:
            problems.append(f"{full} ({' '.join(required)}): no row takes it, and overloads.tsv does not say why")
    problems += [f"overloads.tsv: {overload} is taken, or torch has no such overload"
                 for overload, used in refused.items() if not used]
    if known < MIN_OVERLOADS:
        problems.append(f"only {known} overloads were looked at, fewer than {MIN_OVERLOADS}")
    print(f"{known} overloads, {len(refused)} refused, {len(problems)} problems")
    for problem in problems:
        print("  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
