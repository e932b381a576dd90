#!/usr/bin/env python3
"""Includes must run downhill: a module's files may include headers of their own
module and of those that its perfc_module line in CMakeLists.txt names as DEPS.
And one qualified name is one type: two headers that each define a type of the
same name break the one-definition rule of C++ as soon as one program holds both.

usage: layering_test.py [ROOT]      prints FILE:LINE of every violation
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]')
MODULE = re.compile(r"^perfc_(?:module|extension)\((\w+)([^)]*)\)", re.M)
KEYWORDS = {"DEPS", "LIBS", "PROGRAM_SOURCES"}
# May be included by everyone: Result, Diagnostics, SourceLoc.
COMMON = "ir/support/"
# Serialisation stays inside readers and writers, so that no header drags it along.
PRIVATE = {"nlohmann/": "JSON", "tinyxml2.h": "XML", "CLI/": "command line", "google/protobuf": "protobuf",
           "boost/spirit": "parser"}
# Takes seconds to compile, hence once.
ONLY_IN = {"CLI/": "cli/command_line.cpp"}
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
# A definition outside of every other type stands in the first column.
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?|union) (\w+)[^;]*$")


def modules(cmake: str) -> dict[str, set[str]]:
    """Module name → names of the modules it may include."""
    out = {}
    for name, rest in MODULE.findall(cmake):
        deps, keyword = set(), None
        for word in rest.split():
            if word in KEYWORDS:
                keyword = word
            elif keyword == "DEPS":
                deps.add(word)
        out[name] = deps
    return out


def violations(root: pathlib.Path) -> list[str]:
    cmake = (root / "CMakeLists.txt").read_text()
    allowed = modules(cmake)
    found = []
    for name, deps in allowed.items():
        unknown = deps - allowed.keys()
        found += [f"CMakeLists.txt: perfc_module({name}) depends on {u}, which is no module" for u in sorted(unknown)]
        for path in sorted((root / name).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                where, header = f"{path.relative_to(root)}:{number}", match.group(1)
                target = header.split("/")[0]
                if header.startswith(COMMON):
                    continue
                found += [f"{where}: {prefix} is included by {only} alone" for prefix, only in ONLY_IN.items()
                          if header.startswith(prefix) and path != root / only]
                if target in allowed and "/" in header:
                    if target != name and target not in deps:
                        found.append(f"{where}: {name} includes {header}, but its DEPS are: "
                                     f"{' '.join(sorted(deps)) or 'none'}")
                    elif not (root / header).exists():
                        found.append(f"{where}: {header} does not exist")
                elif (path.parent / header).exists() and '"' in line:
                    found.append(f"{where}: write the path from the root, not {header}")
                elif path.suffix == ".h":
                    for prefix, what in PRIVATE.items():
                        if header.startswith(prefix):
                            found.append(f"{where}: {what} headers belong in sources, not in headers")
    return found


def types_defined_twice(root: pathlib.Path) -> list[str]:
    first, found = {}, []
    for module in sorted(modules((root / "CMakeLists.txt").read_text())):
        for path in sorted((root / module).rglob("*.h")):
            namespace, after = "", ""
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if opened := NAMESPACE.match(line):
                    namespace = opened.group(1)
                # A specialisation of a template is no second definition.
                if (defined := TYPE.match(line)) and not after.startswith("template <>"):
                    name, where = f"{namespace}::{defined.group(1)}", f"{path.relative_to(root)}:{number}"
                    if first.setdefault(name, where) != where:
                        found.append(f"{where}: {name} is also defined at {first[name]}")
                after = line
    return found


def self_test() -> None:
    """The rules themselves, on text made for the purpose."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "CMakeLists.txt").write_text("perfc_module(ir LIBS fmt::fmt)\nperfc_module(top DEPS ir LIBS a::b)\n")
        for path, text in {
                "ir/a.h": "namespace perfc {\nstruct A {\n", "ir/b.cpp": '#include "top/t.h"\n',
                "ir/c.h": "#include <nlohmann/json.hpp>\n",
                "top/t.h": '#include "ir/a.h"\nstruct A;\nnamespace perfc {\nclass A final {\n',
                "top/u.cpp": '\n#include "ir/none.h"\n#include <CLI/App.hpp>\n'
        }.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        expected = ["ir/b.cpp:1: ir includes top/t.h, but its DEPS are: none",
                    "ir/c.h:1: JSON headers belong in sources, not in headers",
                    "top/u.cpp:2: ir/none.h does not exist",
                    "top/u.cpp:3: CLI/ is included by cli/command_line.cpp alone"]
        got = violations(root)
        assert got == expected, got
        got = types_defined_twice(root)
        assert got == ["top/t.h:4: perfc::A is also defined at ir/a.h:2"], got


def main() -> int:
    self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = violations(root) + types_defined_twice(root)
    print("\n".join(found) if found else "includes run downhill, and every type is defined once")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
