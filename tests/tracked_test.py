#!/usr/bin/env python3
"""Git holds what people need and nothing that fell into the folder: packages, archives of packages, builds.

No file is larger than LARGEST, which the networks' weights may be, all stay below TOTAL, and the top
level is as listed below.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from history import tracked  # noqa: E402

LARGEST, TOTAL = 4 << 20, 32 << 20  # bytes
FOLDERS = """.ci backends bench cli cmake compare counters data devices docs examples features frontends fuzz gnn html
ir learning mig options packaging passes pipeline python studies sweep tests web whitebox""".split()
FILES = """.clang-format .clang-tidy .dockerignore .editorconfig .gitignore .pre-commit-config.yaml
.pre-commit-hooks.yaml CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md Containerfile LICENSE README.md
action.yml check mkdocs.yml perfc pyproject.toml""".split()


def main() -> int:
    sizes = {path: (ROOT / path).stat().st_size for path in tracked() if (ROOT / path).is_file()}
    wrong = [f"{path}: {size / (1 << 20):.1f} MiB, more than {LARGEST >> 20}" for path, size in sizes.items()
             if size > LARGEST]
    for path in sizes:
        top, _, rest = path.partition("/")
        if top not in (FOLDERS if rest else FILES):
            wrong.append(f"{path}: not a name of the top level (tests/tracked_test.py lists them)")
    if sum(sizes.values()) > TOTAL:
        wrong.append(f"all files: {sum(sizes.values()) >> 20} MiB, more than {TOTAL >> 20}")
    print("\n".join(wrong) or f"{len(sizes)} files, {sum(sizes.values()) / (1 << 20):.1f} MiB")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
