#!/usr/bin/env python3
"""How long the first build takes at two commits, in the same run, as a ratio (machines are noisy; ratios hold).

    bench/build.py [BASE_COMMIT] [HEAD] [--target perfc_cli] [--jobs N] [--rounds N] [--max-ratio R]

BASE_COMMIT: by default where HEAD left main; HEAD: by default the checkout's. Both are checked out from a bare clone
into empty folders and built without ccache, as after `git clone`; the rounds take turns, and each commit's fastest
counts. With --max-ratio it exits with 1 when HEAD takes more than R times BASE_COMMIT's time. Not committed, not built.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from history import base_commit, git  # noqa: E402


def run(*command, **kwargs) -> str:
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **kwargs)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def first_build(bare: pathlib.Path, commit: str, folder: pathlib.Path, target: str, jobs: int) -> tuple[float, float]:
    """Seconds to configure and to build, from an empty folder."""
    run("git", "--git-dir", bare, "worktree", "add", "--detach", folder, commit)
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    begin = time.perf_counter()
    run("cmake", "--preset", "release", "--log-level=NOTICE", "-DPERFC_TESTS=OFF", "-DPERFC_BENCH=OFF", cwd=folder,
        env=environment)
    configured = time.perf_counter()
    run("cmake", "--build", "build/release", "--target", target, "--parallel", jobs, cwd=folder, env=environment)
    built = time.perf_counter()
    run("git", "--git-dir", bare, "worktree", "remove", "--force", folder)
    return configured - begin, built - configured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?")
    parser.add_argument("head", nargs="?", default="HEAD")
    parser.add_argument("--target", default="perfc_cli")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--max-ratio", type=float)
    args = parser.parse_args()

    commits = {}
    for what, name in (("base", args.base or base_commit()), ("head", args.head)):
        found = git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") if name else None
        if not found:
            sys.exit(f"no such commit: {name or 'none where HEAD left main; name one'}")
        commits[what] = found.strip()

    fastest = {}
    with tempfile.TemporaryDirectory(prefix="perfc-build-") as folder:
        bare = pathlib.Path(folder) / "bare.git"
        run("git", "clone", "--quiet", "--bare", "--shared", ROOT, bare)
        for number in range(args.rounds):
            for what, commit in commits.items():
                configure, build = first_build(bare, commit, pathlib.Path(folder) / f"{what}{number}", args.target,
                                               args.jobs)
                fastest[what] = min(fastest.get(what, build), build)
                print(f"{what} {commit[:12]} {args.target}: {build:.1f} s ({args.jobs} jobs; configured in "
                      f"{configure:.1f} s)", flush=True)
    ratio = fastest["head"] / fastest["base"]
    print(f"head / base: {ratio:.2f}")
    return 1 if args.max_ratio and ratio > args.max_ratio else 0


if __name__ == "__main__":
    sys.exit(main())
