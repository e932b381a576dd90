#!/usr/bin/env python3
"""CHANGELOG.md's newest version is that of CMakeLists.txt, of the Python package, and what `perfc --version` prints.

usage: changelog_test.py [PERFC]
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d\d-\d\d)$")


def problems(changelog: str, cmake: str, python: str, printed: str | None) -> list[str]:
    lines = enumerate(changelog.splitlines(), 1)
    heads = [(n, line, VERSION.match(line)) for n, line in lines if line.startswith("## ")]
    out = [f"CHANGELOG.md:{n}: not \"## [1.2.3] - unreleased\" or \"- 2026-11-22\": {line}"
           for n, line, m in heads if not m]
    versions = [(m[1], m[2]) for _, _, m in heads if m]
    if not versions:
        return [*out, "CHANGELOG.md names no version"]
    order = [tuple(map(int, v.split("."))) for v, _ in versions]
    if order != sorted(set(order), reverse=True):
        out.append("CHANGELOG.md: versions are not newest first")
    out += [f"CHANGELOG.md: {v} is unreleased, but not the newest" for v, date in versions[1:] if date == "unreleased"]
    newest = versions[0][0]
    project = re.search(r"^project\(perfc VERSION (\S+)", cmake, re.M)
    package = re.search(r'^version = "([^"]+)"', python, re.M)
    said = {"CMakeLists.txt": project and project[1], "pyproject.toml": package and package[1]}
    if printed is not None:
        said["perfc --version"] = printed.strip().removeprefix("perfc ")
    out += [f"{what} says {v}, CHANGELOG.md {newest}" for what, v in said.items() if v != newest]
    return out


def self_test() -> None:
    good = "## [0.2.0] - unreleased\n## [0.1.0] - 2026-01-01\n"
    cmake, python = "project(perfc VERSION 0.2.0 LANGUAGES CXX\n", 'version = "0.2.0"\n'
    assert problems(good, cmake, python, "perfc 0.2.0\n") == []
    assert len(problems(good, cmake, python, "perfc 0.1.0\n")) == 1
    assert len(problems(good.replace("0.2.0", "0.0.2"), cmake, python, None)) == 3
    assert len(problems(good + "## next\n", cmake, python, None)) == 1


def main() -> int:
    self_test()
    printed = None
    if len(sys.argv) > 1:
        printed = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout
    bad = problems((ROOT / "CHANGELOG.md").read_text(), (ROOT / "CMakeLists.txt").read_text(),
                   (ROOT / "pyproject.toml").read_text(), printed)
    print("\n".join(bad) if bad else "one version everywhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
