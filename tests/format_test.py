#!/usr/bin/env python3
"""Sources are as clang-format lays them out, and lines have 120 columns at most.

usage: format_test.py [FILE…]    of these files only (pre-commit)
       format_test.py --update   drops from tests/format_baseline.txt what no longer applies
       format_test.py --record   writes tests/format_baseline.txt anew, whatever it says now

A file that tests/format_baseline.txt does not list must be clean. One that it lists may stay as it is: with as many
long lines as the list says, or fewer, and laid out by hand where the list says so. The list shrinks: a row that no
longer applies fails the test (--update drops it), and neither its rows nor their sum may exceed those of the commit
that this one stems from.

Not counted as long: rows of Markdown tables, which cannot be wrapped; lines of one word, such as a link or a path;
docs/ops.md, which a program writes; recorded data (.json, .tsv, tests/golden, tests/fixtures).
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from history import base_commit, changed, git, tracked  # noqa: E402

COLUMNS = 120
CLANG_FORMAT = "14"  # Debian 12's; others lay some lines out differently
BASELINE = ROOT / "tests/format_baseline.txt"
HEAD = """\
# Files that are not yet as tests/format_test.py wants them; this list only shrinks.
# layout: by-hand = clang-format would change it. long: lines of more than 120 columns.
# layout long file
"""
CPP = {".cpp", ".h"}
TEXT = CPP | {".py", ".md", ".cmake", ".sh", ".js", ".css", ".html"}
NAMES = {"check", "perfc", "CMakeLists.txt", ".clang-format", ".clang-tidy"}
NOT_OURS = re.compile(r"^(docs/ops\.md$|tests/golden/.*/|tests/fixtures/)")
TABLE_ROW = re.compile(r"^\s*\|")


def is_ours(path: str) -> bool:
    p = pathlib.PurePath(path)
    return (p.suffix in TEXT or p.name in NAMES) and not NOT_OURS.match(path)


def long_lines(path: str, text: str) -> list[int]:
    """Numbers of the lines that are too long."""
    markdown = path.endswith(".md")
    return [number for number, line in enumerate(text.splitlines(), 1)
            if len(line) > COLUMNS and not (markdown and TABLE_ROW.match(line)) and len(line.split()) > 1]


def formatter() -> str | None:
    """The program, or None: said so."""
    for name in (f"clang-format-{CLANG_FORMAT}", "clang-format"):
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {CLANG_FORMAT}\.", version):
                return program
    print(f"SKIP: clang-format {CLANG_FORMAT} is not there (Debian package clang-format): layout is not checked")
    return None


def by_hand(program: str, paths: list[str]) -> set[str]:
    """Those that clang-format would change."""
    def changed(path: str) -> bool:
        done = subprocess.run([program, "--style=file", path], cwd=ROOT, capture_output=True)
        if done.returncode:
            sys.exit(f"clang-format {path}: {done.stderr.decode()}")
        return done.stdout != (ROOT / path).read_bytes()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {path for path, is_changed in zip(paths, pool.map(changed, paths)) if is_changed}


def parse(text: str) -> dict[str, tuple[bool, int]]:
    """File → whether it is laid out by hand, long lines."""
    rows = (line.split(maxsplit=2) for line in text.splitlines() if line and not line.startswith("#"))
    return {path: (layout == "by-hand", int(count)) for layout, count, path in rows}


def write(rows: dict[str, tuple[bool, int]]) -> None:
    lines = [f"{'by-hand' if hand else 'clean':7} {count:4} {path}\n" for path, (hand, count) in sorted(rows.items())]
    BASELINE.write_text(HEAD + "".join(lines))


def sums(rows: dict[str, tuple[bool, int]]) -> tuple[int, int]:
    return sum(hand for hand, _ in rows.values()), sum(count for _, count in rows.values())


def growth(allowed: dict[str, tuple[bool, int]]) -> list[str]:
    """Whether the list is longer than at the commit that this one stems from."""
    base = base_commit()
    if base is None:
        print("SKIP: no history here: whether tests/format_baseline.txt shrinks is not checked")
        return []
    before = git("show", f"{base}:tests/format_baseline.txt")
    if before is None:  # its first commit
        return []
    then, now = sums(parse(before)), sums(allowed)
    return [f"tests/format_baseline.txt has more {what} than at {base[:12]}: {b}, were {a}"
            for what, a, b in zip(("files laid out by hand", "long lines"), then, now) if b > a]


def problems(found: dict[str, tuple[bool, int]], allowed: dict[str, tuple[bool, int]], longs: dict[str, list[int]],
             has_formatter: bool) -> list[str]:
    out = []
    for path, (hand, count) in sorted(found.items()):
        may_hand, may_count = allowed.get(path, (False, 0))
        if hand and not may_hand:
            out.append(f"{path}: not as clang-format lays it out: clang-format -i {path}")
        if count > may_count:
            out += [f"{path}:{number}: more than {COLUMNS} columns" for number in longs[path][:5]]
            out.append(f"{path}: {count} lines of more than {COLUMNS} columns, {may_count} are allowed")
        if (may_hand and not hand and has_formatter) or count < may_count:
            out.append(f"{path}: better than tests/format_baseline.txt says: tests/format_test.py --update")
    return out


def self_test() -> None:
    long = "word " * 30
    assert long_lines("a.md", f"| {long}|\n{long}\nhttps://{'x' * 130}\n") == [2]
    assert long_lines("a.cpp", f"// | {long}\n") == [1]
    rows = {"a.cpp": (True, 3), "b.md": (False, 1)}
    assert parse("# head\nby-hand    3 a.cpp\nclean      1 b.md\n") == rows and sums(rows) == (1, 4)
    assert problems(rows, rows, {}, True) == []
    assert len(problems({"a.cpp": (True, 2)}, {}, {"a.cpp": [4, 7]}, True)) == 4
    assert len(problems({"a.cpp": (False, 0)}, {"a.cpp": (True, 0)}, {}, True)) == 1
    assert problems({"a.cpp": (False, 0)}, {"a.cpp": (True, 0)}, {}, False) == []


def main() -> int:
    self_test()
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    chosen = [a for a in sys.argv[1:] if not a.startswith("--")]
    paths = [p for p in (chosen or tracked()) if is_ours(p) and (ROOT / p).is_file()]
    longs = {p: long_lines(p, (ROOT / p).read_text()) for p in paths}
    program = formatter()
    sources = [p for p in paths if pathlib.PurePath(p).suffix in CPP]
    allowed = parse(BASELINE.read_text()) if BASELINE.exists() else {}
    # Of those that are laid out by hand only what changed is looked at again: it takes half a minute for all.
    new = set(sources if chosen or options else changed() or [])
    again = [p for p in sources if p in new or not allowed.get(p, (False, 0))[0]]
    hand = (by_hand(program, again) | (set(sources) - set(again))) if program else set()
    found = {p: (p in hand, len(longs[p])) for p in paths}
    if options and not program:
        sys.exit("without clang-format the list cannot be written")
    if "--record" in options:
        write({p: row for p, row in found.items() if row != (False, 0)})
        return 0
    if "--update" in options:
        better = {p: (may[0] and found[p][0], min(may[1], found[p][1])) for p, may in allowed.items() if p in found}
        write({p: row for p, row in better.items() if row != (False, 0)})
        return 0
    bad = problems(found, allowed, longs, program is not None)
    if not chosen:
        bad += [f"{p}: in tests/format_baseline.txt, but not in the tree: tests/format_test.py --update"
                for p in sorted(allowed.keys() - found.keys())]
        bad += growth(allowed)
    print("\n".join(bad) if bad else
          f"{len(sources) - len(hand)} of {len(sources)} C++ files are as clang-format lays them out; "
          f"{sum(map(len, longs.values()))} lines of {len(paths)} files have more than {COLUMNS} columns")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
