#!/usr/bin/env python3
"""clang-tidy with .clang-tidy's checks finds nothing in the C++ sources that changed.

usage: tidy_test.py [--all | FILE…]   --all: every source (an hour); FILE…: these

Changed: not as at the commit where this branch left main, or on main not as at the commit before. Of more than
`MOST` changed sources it takes the smallest and says how many it left out: a file takes 2 to 20 seconds.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from history import changed, tracked  # noqa: E402
from support import skip, skip_part  # noqa: E402

MOST = 24
# Sources are built in bundles (UNITY_BUILD), so that the build's compile_commands.json does not list them.
FLAGS = ["-std=c++20", f"-I{ROOT}", "-isystem", "/usr/include/eigen3", "-isystem", sysconfig.get_path("include"),
         f'-DPERFC_SOURCE_DIR="{ROOT}"', '-DPERFC_VERSION="0"', '-DPERFC_DEFAULT_WEIGHTS="/dev/null"',
         '-DPERFC_COUNTER_MODELS="/dev/null"', '-DPERFC_PAGE_ASSETS="/dev"', '-DPERFC_D3="/dev/null"',
         '-DPERFC_D3_LICENCE="/dev/null"', '-DPERFC_KERNEL_MODELS="/dev"', '-DPERFC_ATTENTION_TREES="/dev/null"']
# Need flags of their own (instruction sets) or take minutes (the grammar), or a library that may not be there (MPI).
# Or include what the build generates (ONNX's messages).
LEFT_OUT = ("gnn/gemm_", "ir/text/grammar.cpp", "cli/ranks_mpi.cpp", "fuzz/", "tests/install/", "tests/oracle/",
            "backends/onnx/")


def tidied(path: str) -> str:
    """What clang-tidy says of a source; empty when it is clean."""
    done = subprocess.run(["clang-tidy", "--quiet", path, "--", *FLAGS], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return done.stdout.strip() or f"{path}: clang-tidy: exit {done.returncode}: {done.stderr.strip()[-500:]}"


def main() -> int:
    if not shutil.which("clang-tidy"):
        skip("clang-tidy is not there (Debian package clang-tidy)")
    paths = sys.argv[1:] or changed()
    if paths == ["--all"]:
        paths = tracked()
    if paths is None:
        skip("no git history here: which sources changed is not known")
    sources = [p for p in paths if p.endswith(".cpp") and not p.startswith(LEFT_OUT) and (ROOT / p).exists()]
    if not sys.argv[1:] and len(sources) > MOST:
        skip_part(f"clang-tidy: {len(sources) - MOST} of {len(sources)} changed sources are left out")
        sources = sorted(sources, key=lambda p: (ROOT / p).stat().st_size)[:MOST]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = [f for f in pool.map(tidied, sources) if f]
    print("\n".join(findings) if findings else f"{len(sources)} changed sources: clang-tidy finds nothing")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
