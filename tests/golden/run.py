#!/usr/bin/env python3
"""Golden tests: a command, its input and all of its output in one file.

usage: run.py --perfc PROGRAM FILE…            runs each, shows how the output differs
       run.py --perfc PROGRAM --update FILE…   rewrites the expected output

A file starts with `// RUN: perfc …`, where %s is the file itself (run in its
folder, so that messages hold no path), and names that begin with %t are of files
that its commands write and read (%t.onnx). After the input come the expected
output, each line behind `// `, and the exit code; where there are several
RUN lines, such a block for each, headed by its command. Of tables a line `// COLUMNS: a,b` keeps some columns (what is
launched, not how long it takes: times change with every kernel that is measured); of reports a line `// WORDS ONLY`
keeps the words, with a # for every number and one space between two words; of pages a line `// ELEMENT: main` keeps
that element, which is there once:

    // ---- stdout
    // …
    // ---- stderr
    // …
    // ---- exit 0
"""
import argparse
import csv
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TIMEOUT_S = 600  # hangs only
RUN = re.compile(r"^// RUN: perfc (.*)$", re.MULTILINE)
WORDS_ONLY = re.compile(r"^// WORDS ONLY$", re.MULTILINE)
NUMBER = re.compile(r"(?<![A-Za-z0-9.])\d+(\.\d+)?(e[+-]?\d+)?[KMGTP]?(?![A-LN-Za-z0-9-])")
ELEMENT = re.compile(r"^// ELEMENT: (\w+)$", re.MULTILINE)
COLUMNS = re.compile(r"^// COLUMNS: (.*)$", re.MULTILINE)
EXPECTED = re.compile(r"^// ---- ", re.MULTILINE)


def commented(text: str) -> str:
    """Every line as a comment; shows when the last one does not end."""
    if text and not text.endswith("\n"):
        text += "\\ no newline at the end\n"
    return "".join(f"// {line}\n" if line else "//\n" for line in text.splitlines())


def only(columns: str, table: str) -> str:
    """Of a table in CSV some columns, one space apart."""
    return "".join(" ".join(row[c] for c in columns.split(",")) + "\n" for row in csv.DictReader(table.splitlines()))


def words(text: str) -> str:
    """Without what changes with every kernel that is measured."""
    return re.sub(r"(?<=\S) +", " ", NUMBER.sub("#", text))


def element(tag: str, page: str) -> str:
    """An element of a page, without what is around it."""
    _, begin, rest = page.partition(f"<{tag}>")
    inside, end, after = rest.partition(f"</{tag}>")
    assert begin and end and end not in after, f"{tag} is not there once"
    return f"{begin}{inside}{end}\n"


def block(program: pathlib.Path, file: pathlib.Path, command: str, columns: str, tag: str, words_only: bool,
          made: str) -> str:
    """What a command prints and returns."""
    arguments = [file.name if a == "%s" else f"{made}/{a[1:]}" if a.startswith("%t") else a
                 for a in shlex.split(command)]
    done = subprocess.run([program, *arguments], cwd=file.parent, capture_output=True, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
    texts = [stream.decode(errors="backslashreplace").replace(f"{made}/t", "%t")
             for stream in (done.stdout, done.stderr)]
    if columns:
        texts[0] = only(columns, texts[0])
    if tag:
        texts[0] = element(tag, texts[0])
    if words_only:
        texts = [words(text) for text in texts]
    out, err = (commented(text) for text in texts)
    return f"// ---- stdout\n{out}// ---- stderr\n{err}// ---- exit {done.returncode}\n"


def actual(program: pathlib.Path, file: pathlib.Path, given: str) -> str:
    """The blocks of expected output as this build would have them."""
    runs = RUN.findall(given)
    if not runs:
        sys.exit(f"{file}: a line `// RUN: perfc …` expected")
    columns, tag = "".join(COLUMNS.findall(given)), "".join(ELEMENT.findall(given))
    words_only = bool(WORDS_ONLY.search(given))
    with tempfile.TemporaryDirectory(prefix="golden") as made:
        blocks = [block(program, file, command, columns, tag, words_only, made) for command in runs]
    if len(runs) == 1:
        return blocks[0]
    return "".join(f"// ---- perfc {command}\n{text}" for command, text in zip(runs, blocks))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--perfc", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    program = options.perfc.resolve()
    failed = 0
    for file in options.files:
        text = file.read_text()
        start = EXPECTED.search(text)
        given, expected = (text[:start.start()], text[start.start():]) if start else (text, "")
        got = actual(program, file, given)
        if got == expected:
            continue
        if options.update:
            file.write_text(given + got)
            print(f"updated {file}")
            continue
        failed += 1
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), got.splitlines(True),
                                                   f"{file}: expected", f"{file}: got"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
