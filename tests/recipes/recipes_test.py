#!/usr/bin/env python3
"""The recipes of CONTRIBUTING.md, carried out on a copy of the tree.

usage: recipes_test.py

Reads the document as a newcomer does: "New file `a`:" and "Into `a`, behind `line`:" are followed by a block of code,
"In `a`, `old` becomes `new`." stands alone, and a block of `sh` at the end of a recipe is run; its comments say what
must be printed (`# says: text`, `# lines: number`). All recipes are applied at once, configured once and built once,
in build/recipes, which the next run uses again; only what differs is built then.

Besides: an operator's row without a column is refused by the name of row and column, and a new row rebuilds fewer
than MOST_REBUILT objects.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from history import tracked  # noqa: E402

WORK = ROOT / "build/recipes"
TREE, BUILD = WORK / "tree", WORK / "build"
MOST_REBUILT = 15
OPERATOR_TABLE = "ir/ops/table/elementwise.cpp"
OPERATOR_TEST = "tests/unit/op_table_test.cpp"
# Of tests/, what recipes run.
TESTS_THAT_RUN = {
    OPERATOR_TEST, "tests/operators/spellings_test.py", "tests/operators/spellings.tsv", "tests/support.py"
}
FIRST_ROW = "// ---- Elementwise, one operand"
# As in the recipe, without the column `takes`.
INCOMPLETE_ROW = """\
  {.name = "incomplete", .category = Category::Elementwise, .operands = {1, 1}, .infer = same_type,
   .eval = no_contents, .cost = per_element_cost, .runs = pointwise(Keeps::Result)},
"""
INCOMPLETE_SAYS = 'operator "incomplete" (ir/ops/table/): column takes is left out'

HEADING = re.compile(r"^## (.+)$")
NEW = re.compile(r"^New file `([^`]+)`:$")
INTO = re.compile(r"^Into `([^`]+)`, behind `([^`]+)`:$")
REPLACE = re.compile(r"^In `([^`]+)`, `([^`]+)` becomes `([^`]+)`\.$")


class Problem(Exception):
    pass


@dataclasses.dataclass
class Recipe:
    name: str
    edits: list  # (function of text or None) → text, by file
    commands: list  # (command, [says], lines or None)


def insert(text: str, anchor: str, block: str) -> str:
    """`block` below the one line that holds `anchor`."""
    lines = text.splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if anchor in line]
    if len(at) != 1:
        raise Problem(f"`{anchor}` stands in {len(at)} lines")
    return "".join(lines[:at[0] + 1]) + block + "".join(lines[at[0] + 1:])


def replace(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise Problem(f"`{old}` stands there {text.count(old)} times")
    return text.replace(old, new)


def commands_of(block: str) -> list:
    out = []
    for line in block.splitlines():
        if line.startswith("# says: "):
            out[-1][1].append(line.removeprefix("# says: "))
        elif line.startswith("# lines: "):
            out[-1][2] = int(line.removeprefix("# lines: "))
        elif line:
            out.append([line, [], None])
    return out


def parse(text: str) -> list[Recipe]:
    """The recipes: sections of the document that say what to do."""
    recipes, what = [], None
    lines = iter(text.splitlines())
    for line in lines:
        if match := HEADING.match(line):
            recipes.append(Recipe(match[1], [], []))
        elif match := NEW.match(line):
            what = lambda block, path=match[1]: (path, lambda _: block)  # noqa: E731
        elif match := INTO.match(line):
            what = lambda block, m=match: (m[1], lambda old: insert(old, m[2], block))  # noqa: E731
        elif match := REPLACE.match(line):
            recipes[-1].edits.append((match[1], lambda old, m=match: replace(old, m[2], m[3])))
        elif line.startswith(("New file", "Into `", "In `")):
            raise Problem(f"CONTRIBUTING.md: not as a recipe writes it: {line}")
        elif line.startswith("```"):
            block = ""
            for inner in lines:
                if inner == "```":
                    break
                block += inner + "\n"
            if what:
                recipes[-1].edits.append(what(block))
            elif line == "```sh" and recipes:
                recipes[-1].commands += commands_of(block)
            what = None
    return [r for r in recipes if r.edits]


def edited(recipes: list[Recipe]) -> dict[str, str]:
    """File → its text with every recipe applied."""
    out = {}
    for recipe in recipes:
        for path, edit in recipe.edits:
            old = out.get(path)
            if old is None and (ROOT / path).exists():
                old = (ROOT / path).read_text()
            try:
                out[path] = edit(old)
            except Problem as problem:
                raise Problem(f"recipe \"{recipe.name}\": {path}: {problem}") from None
    return out


def put(path: pathlib.Path, data: bytes) -> None:
    """Writes what differs: the build goes by times."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_tree(changes: dict[str, str]) -> None:
    """The checkout's files, with `changes`, and no others."""
    skipped = ("docs/", "bench/", "python/", "studies/", "fuzz/", "tests/")
    wanted = {f for f in tracked() if not f.startswith(skipped) and (ROOT / f).is_file()}
    wanted |= TESTS_THAT_RUN
    for path in sorted(wanted - changes.keys()):
        put(TREE / path, (ROOT / path).read_bytes())
        os.chmod(TREE / path, (ROOT / path).stat().st_mode)
    for path, text in changes.items():
        put(TREE / path, text.encode())
    for path in [p for p in TREE.rglob("*") if p.is_file()]:
        if str(path.relative_to(TREE)) not in wanted | changes.keys():
            path.unlink()


def run(*command, may_fail=False, **kwargs) -> str:
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    if done.returncode and not may_fail:
        raise Problem(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def build(*targets) -> None:
    environment = {**os.environ, "CCACHE_BASEDIR": str(WORK), "CCACHE_NOHASHDIR": "1"}
    run("cmake", "--build", BUILD, "--target", *targets, env=environment)


def configure() -> None:
    # Without optimisation: it is about what is built, not how fast it runs.
    if not (BUILD / "CMakeCache.txt").exists():
        shutil.rmtree(BUILD, ignore_errors=True)
        run("cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0 -g0",
            "-DPERFC_TESTS=OFF", "-DPERFC_BENCH=OFF")


def incomplete_row() -> list[str]:
    """The unit test of the table, with a row that lacks a column: what is wrong with what it says."""
    whole = (TREE / OPERATOR_TABLE).read_text()
    put(TREE / OPERATOR_TABLE, insert(whole, FIRST_ROW, INCOMPLETE_ROW).encode())
    try:
        build("perfc_ir")
        program = WORK / "op_table_test"
        run("g++", "-std=c++20", "-O0", "-I", TREE, TREE / OPERATOR_TEST, BUILD / "libperfc_ir.a", "-lgtest_main",
            "-lgtest", "-lfmt", "-lsimdjson", "-lpthread", "-o", program)
        said = run(program, "--gtest_filter=OpTable.RowsAreComplete", may_fail=True)
    finally:
        put(TREE / OPERATOR_TABLE, whole.encode())
    return [] if INCOMPLETE_SAYS in said else [f"a row without `takes`: expected \"{INCOMPLETE_SAYS}\", got:\n{said}"]


def rebuilt_by_a_row() -> int:
    """Objects that ninja would compile for perfc after a change of the operator table's rows."""
    # Under another name, for of its own manifest a dry run plans to make it anew, and no more.
    shutil.copy(BUILD / "build.ninja", BUILD / "plan.ninja")
    path = TREE / OPERATOR_TABLE
    before = path.stat()
    path.touch()
    try:
        plan = run("ninja", "-C", BUILD, "-f", "plan.ninja", "-n", "-v", "perfc_cli")
    finally:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return len(re.findall(r" -c \S+\.(?:cpp|cxx)\b", plan))


def checked(recipe: Recipe) -> list[str]:
    """What the commands at the end of the recipe do not print."""
    bad = []
    for command, says, lines in recipe.commands:
        if command.startswith("./perfc "):
            command = f"{BUILD}/{command.removeprefix('./')}"
        elif command not in TESTS_THAT_RUN:
            raise Problem(f"recipe \"{recipe.name}\": neither ./perfc nor a test that may run: {command}")
        printed = run("bash", "-c", command, cwd=TREE, may_fail=True, env={**os.environ, "PERFC_BUILD": str(BUILD)})
        bad += [f"recipe \"{recipe.name}\": {command}: no \"{text}\" in\n{printed}"
                for text in says if text not in printed]
        if lines is not None and len(printed.splitlines()) != lines:
            bad.append(f"recipe \"{recipe.name}\": {command}: expected {lines} lines\n{printed}")
    return bad


def self_test() -> None:
    document = "```sh\n./check\n```\n## A\nInto `x`, behind `two`:\n\n```cpp\nnew\n```\n\n" \
               "```sh\n./perfc a\n# says: b\n```\nIn `x`, `one` becomes `1`.\n## B\nnothing\n"
    recipes = parse(document)
    assert [(r.name, r.commands) for r in recipes] == [("A", [["./perfc a", ["b"], None]])]
    text = "one\ntwo\nthree\n"
    for _, edit in recipes[0].edits:
        text = edit(text)
    assert text == "1\ntwo\nnew\nthree\n", text


def main() -> int:
    self_test()
    recipes = parse((ROOT / "CONTRIBUTING.md").read_text())
    expected = {"Operator", "Pass", "Device", "Predictor", "Front end", "Profiler's format"}
    bad = [f"CONTRIBUTING.md has no recipe \"{name}\"" for name in sorted(expected - {r.name for r in recipes})]
    try:
        copy_tree(edited(recipes))
        configure()
        bad += incomplete_row()
        build("perfc_cli")
        rebuilt = rebuilt_by_a_row()
        print(f"a new row of the operator table rebuilds {rebuilt} objects")
        if not 0 < rebuilt < MOST_REBUILT:
            bad.append(f"a new row rebuilds {rebuilt} objects; fewer than {MOST_REBUILT} are allowed")
        for recipe in recipes:
            bad += checked(recipe)
    except Problem as problem:
        bad.append(str(problem))
    print("\n".join(bad) if bad else f"{len(recipes)} recipes work as written")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
