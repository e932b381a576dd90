#!/usr/bin/env python3
"""Paths that documents write exist: in code spans, in code blocks and in links.

usage: docs_paths_test.py

A word counts as a path of this tree when it begins with one of its folders (`ir/graph.h`, `learning/corrected.*`) or
ends like a source (`importer.cpp`); the first must exist as it stands, the second may also be a name or
the end of a path. Words below `build/` are made by builds, those below `../` are somebody else's.
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from history import tracked  # noqa: E402

GENERATED = {"docs/ops.md", "CHANGELOG.md"}  # a history names what is gone
PATH = re.compile(r"^[\w.*/+-]+$")
SOURCE = re.compile(r"\w\.(cpp|h|py|cmake)$")
BRACES = re.compile(r"^(.*)\{([^{}]*)\}(.*)$")
NEW_FILE = re.compile(r"^New file `([^`]+)`", re.M)  # of a recipe (CONTRIBUTING.md)
FOREIGN = ("build/", "../", "/", "aten/", "torch/", "tools/autograd/")


def words(text: str):
    """(line number, word) of code spans, code blocks and links."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        code = [line] if fenced else re.findall(r"`([^`]+)`", line)
        for part in code:
            yield from ((number, w) for w in part.split())
        if not fenced:
            prose = re.sub(r"`[^`]*`", "", line)
            yield from ((number, "\0" + link) for link in re.findall(r"\]\(([\w./-]+)\)", prose))


def expanded(word: str) -> list[str]:
    """`a/{b,c}` → a/b, a/c."""
    match = BRACES.match(word)
    return [match[1] + part + match[3] for part in match[2].split(",")] if match else [word]


def missing(document: str, text: str, files: list[str]) -> list[str]:
    files = files + NEW_FILE.findall(text)
    known = set(files)
    folders = {str(parent) for path in files for parent in pathlib.PurePath(path).parents} - {"."}
    top = {f for f in folders if "/" not in f}
    names = {pathlib.PurePath(path).name for path in files}
    home = pathlib.PurePath(document).parent

    def exists(path: str) -> bool:
        path = path.rstrip("/")
        if path in known or path in folders or str(home / path) in known:
            return True
        return "*" in path and any(fnmatch.fnmatch(file, path) for file in known)

    out = []
    for number, raw in words(text):
        if raw.startswith("\0"):
            target = (ROOT / home / raw[1:]).resolve()
            if not target.exists():
                out.append(f"{document}:{number}: a link to {raw[1:]}, which does not exist")
            continue
        for word in expanded(raw.strip(".,;:()\"'").removeprefix("./")):
            if not PATH.match(word) or word.startswith(FOREIGN):
                continue
            is_here = "/" in word and word.split("/")[0] in top
            if is_here and not exists(word):
                out.append(f"{document}:{number}: {word} does not exist")
            elif not is_here and SOURCE.search(word) and "*" not in word and word not in names and \
                    not exists(word) and not any(file.endswith("/" + word) for file in files):
                out.append(f"{document}:{number}: {word} does not exist")
    return out


def self_test() -> None:
    files = ["ir/graph.h", "ir/ops/a.cpp", "docs/x.md", "learning/train.py"]
    text = "`ir/graph.h` `ir/{graph.h,none.h}` `ops/*`\n`ir/ops/*` `gone.cpp` `a.cpp` build/x.cpp\n" \
           "```sh\npython3 learning/none.py build/y.py\n```\n`mpi/ranks.cpp` `GB/s`\n"
    assert missing("docs/x.md", text, files) == [
        "docs/x.md:1: ir/none.h does not exist", "docs/x.md:2: gone.cpp does not exist",
        "docs/x.md:4: learning/none.py does not exist", "docs/x.md:6: mpi/ranks.cpp does not exist"]


def main() -> int:
    self_test()
    files = tracked()
    documents = [f for f in files if f.endswith(".md") and f not in GENERATED]
    bad = [line for d in documents for line in missing(d, (ROOT / d).read_text(), files)]
    print("\n".join(bad) if bad else f"every path in {len(documents)} documents exists")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
