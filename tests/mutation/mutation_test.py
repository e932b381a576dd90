#!/usr/bin/env python3
"""Puts each bug of mutants.py into a copy of the tree, builds it, and says whether the tests catch it.

usage: mutation_test.py [NAME …]              all mutants, or those named; fails when one is missed
       mutation_test.py --quick               two of them
       mutation_test.py --applies PROGRAM     builds nothing: every bug still applies to the sources, and the tests that
                                              are to catch it are there (PROGRAM: the unit tests)

The copy and its build stay in build/mutation. The first build takes as long as one of perfc, or a minute where ccache
has it; a mutant a minute or two. First the tests that a mutant names run, and all unit tests and goldens only where
those pass.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from history import tracked  # noqa: E402
from mutants import MUTANTS  # noqa: E402

WORK = ROOT / "build/mutation"
TREE = WORK / "tree"
BUILD = TREE / "build/release"  # as deep as the original's, for ccache
QUICK = ("serial-step-doubled", "interval-of-half")
TIMEOUT_S = 1800


def mutated(mutant, text):
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.name}: its text stands {text.count(mutant.old)} times in {mutant.file}, not once:\n"
                         f"{mutant.old}\nWrite the bug anew in tests/mutation/mutants.py")
    return text.replace(mutant.old, mutant.new)


def applies(unit_tests):
    missing = 0
    for m in MUTANTS:
        mutated(m, (ROOT / m.file).read_text())
        if m.caught_by.startswith("golden/"):
            there = (ROOT / "tests" / m.caught_by).is_file()
        else:
            listed = subprocess.check_output([unit_tests, "--gtest_list_tests", f"--gtest_filter={m.caught_by}"],
                                             text=True)
            there = any(line.startswith("  ") for line in listed.splitlines())
        if not there:
            missing += 1
            print(f"{m.name}: there is no test {m.caught_by}")
    print(f"{len(MUTANTS)} mutants apply")
    return 1 if missing else 0


def write_changed(path, content):
    """Leaves files as they are that would not change, for the build's sake."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy_tree():
    wanted = {f for f in tracked() if (ROOT / f).is_file()}
    for f in wanted:
        write_changed(TREE / f, (ROOT / f).read_bytes())
        os.chmod(TREE / f, (ROOT / f).stat().st_mode)
    for path in [p for p in TREE.rglob("*") if p.is_file() and not p.is_relative_to(TREE / "build")]:
        if str(path.relative_to(TREE)) not in wanted:
            path.unlink()


def run(command, **how):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=TIMEOUT_S, **how)


def build():
    if not (BUILD / "CMakeCache.txt").exists():
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        done = run(["cmake", "--preset", "release", "-DPERFC_TESTS=ON", "-DPERFC_BENCH=OFF",
                    f"-DPERFC_FIXTURES_OF={ROOT}", *launcher], cwd=TREE)
        if done.returncode:
            raise SystemExit(done.stdout[-4000:])
    return run(["cmake", "--build", BUILD, "--target", "perfc_cli", "perfc_unit_tests"])


def unit_tests(which):
    """The first test that fails; None: none does."""
    done = run([BUILD / "tests/perfc_unit_tests", f"--gtest_filter={which}", "--gtest_fail_fast", "--gtest_brief=1"])
    failed = [line.split("] ")[1].split()[0].rstrip(",") for line in done.stdout.splitlines()
              if line.startswith("[  FAILED  ] ")]
    return failed[0] if failed else f"exit code {done.returncode}" if done.returncode else None


def golden(files):
    done = run([sys.executable, TREE / "tests/golden/run.py", "--perfc", BUILD / "perfc", *files])
    return "a golden" if done.returncode else None


def caught_by(mutant):
    if mutant.caught_by.startswith("golden/"):
        by = mutant.caught_by if golden([TREE / "tests" / mutant.caught_by]) else None
    else:
        by = unit_tests(mutant.caught_by)
    if by:
        return by
    goldens = sorted(p for p in (TREE / "tests/golden").glob("*/*") if p.suffix in (".pir", ".txt"))
    return unit_tests("*") or golden(goldens)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--applies"]:
        return applies(arguments[1])
    names = QUICK if arguments == ["--quick"] else arguments or [m.name for m in MUTANTS]
    known = {m.name: m for m in MUTANTS}
    if unknown := [n for n in names if n not in known]:
        raise SystemExit(f"no mutant is called {', '.join(unknown)}; there are {', '.join(known)}")
    copy_tree()
    if (done := build()).returncode:
        raise SystemExit(f"without a mutant: {done.stdout[-4000:]}")
    if failed := unit_tests(":".join(known[n].caught_by for n in names if "/" not in known[n].caught_by)):
        raise SystemExit(f"without a mutant, {failed} fails")
    missed = []
    for name in names:
        m, begin = known[name], time.time()
        path = TREE / m.file
        original = path.read_text()
        path.write_text(mutated(m, original))
        done = build()
        by = None if done.returncode else caught_by(m)
        path.write_text(original)
        if done.returncode:
            raise SystemExit(f"{name} does not compile, so that it tests nothing:\n{done.stdout[-4000:]}")
        missed += [] if by else [name]
        print(f"{name:28} {'caught by ' + by if by else 'MISSED: ' + m.why} ({time.time() - begin:.0f} s)", flush=True)
    print(f"{len(names) - len(missed)} of {len(names)} mutants caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
