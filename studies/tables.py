"""Sections of docs/accuracy.md, each written by its own script.

A section stands between `<!-- NAME: written by SCRIPT -->` and `<!-- end NAME -->`;
what comes before the first of them is studies/accuracy.py's.
"""
import csv
import itertools
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from perfc import files  # noqa: E402

COLUMNS = 120
ACCURACY = pathlib.Path(__file__).resolve().parent.parent / "docs/accuracy.md"


def sections(text):
    """(what comes before the sections, the sections)"""
    start = re.search(r"^<!-- \S+: written by", text, re.M)
    return (text[:start.start()], text[start.start():]) if start else (text, "")


def write_head(text, path=ACCURACY):
    old = path.read_text() if path.exists() else ""
    rest = sections(old)[1]
    files.write_text(path, text.rstrip("\n") + "\n" + ("\n" + rest if rest else ""))


def wrapped(lines):
    """Prose in COLUMNS columns, paragraph by paragraph; headings, tables and comments as they are."""
    for is_prose, group in itertools.groupby(lines, lambda line: line != "" and line[0] not in "|#<-"):
        yield from (textwrap.wrap(" ".join(group), COLUMNS, break_long_words=False, break_on_hyphens=False)
                    if is_prose else group)


def write_section(name, script, lines, path=ACCURACY):
    body = "\n".join([f"<!-- {name}: written by {script} -->", *wrapped(lines), f"<!-- end {name} -->"]) + "\n"
    text = path.read_text()
    old = re.compile(rf"^<!-- {re.escape(name)}: written by .*?^<!-- end {re.escape(name)} -->\n", re.M | re.S)
    files.write_text(path, old.sub(lambda _: body, text) if old.search(text) else text.rstrip("\n") + "\n\n" + body)


def write_csv(path, rows):
    """`rows`: dicts with the same keys."""
    with files.writing(path, newline="") as f:
        out = csv.DictWriter(f, rows[0].keys())
        out.writeheader()
        out.writerows(rows)


def percent(x):
    return f"{100 * x:.1f}"
