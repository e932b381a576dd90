#!/usr/bin/env python3
"""Every argument of an ATen operator that perfc does not look at has a reason.

usage: arguments_test.py

A row's signature marks them with a minus (frontends/torch/aten_table.h); what a signature does not name at all is
refused when a program gives it. ignored_arguments.tsv says of each why it changes neither shape, nor type, nor work;
rows of it that no signature needs are a problem, too.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from support import read_table  # noqa: E402

MIN_IGNORED = 250


def texts_of_rows():
    """What the IR's rows say of ATen operators: "maximum fmax sum(self, dtype)"."""
    for path in sorted((ROOT / "ir/ops/table").glob("*.cpp")):
        for text in re.findall(r'\.aten =\s*((?:"[^"]*"\s*)+)', path.read_text()):
            yield "".join(re.findall(r'"([^"]*)"', text))


def signatures():
    """(operator, signature) of the front end's rows and of those of the IR's operators."""
    table = (ROOT / "frontends/torch/aten_table.cpp").read_text()
    for name, text in re.findall(r'\{"([\w:.]+)",\s*((?:"[^"]*"\s*)+),', table):
        yield name, "".join(re.findall(r'"([^"]*)"', text))
    for text in texts_of_rows():
        yield from re.findall(r"([\w:.]+)\(([^)]*)\)", text)


def main() -> int:
    reasons = {}
    for arguments, operators, _ in read_table(HERE / "ignored_arguments.tsv", 3):
        reasons |= {(a, o): False for a in arguments.split() for o in operators.split()}
    problems, ignored = [], 0
    for name, signature in signatures():
        for argument in re.findall(r"(?<!\S)-(\w+)", signature):
            ignored += 1
            key = next((k for k in ((argument, name), (argument, "*")) if k in reasons), None)
            if key:
                reasons[key] = True
            else:
                problems.append(f"{name}: '{argument}' is not looked at, and ignored_arguments.tsv does not say why")
    for argument in sorted({a for a, _ in reasons} - {a for (a, _), used in reasons.items() if used}):
        problems.append(f"ignored_arguments.tsv: '{argument}' is ignored nowhere")
    for (argument, operator), used in sorted(reasons.items()):
        if operator != "*" and not used and not any(name == operator for name, _ in signatures()):
            problems.append(f"ignored_arguments.tsv: '{argument}': there is no operator '{operator}'")
    if ignored < MIN_IGNORED:
        problems.append(f"only {ignored} ignored arguments were found, fewer than {MIN_IGNORED}")
    print(f"{ignored} ignored arguments, {len(problems)} problems")
    for problem in problems:
        print("  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
