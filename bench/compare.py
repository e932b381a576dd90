"""Whole-process time and memory of perfc beside `onnx.load + infer_shapes`, in the
same run, as ratios (machines are noisy; ratios hold). Needs the `onnx` package.

    build/venv/bin/python bench/compare.py [--perfc build/release/perfc] [--strict]

Prints one line per bound, `pass` or `MISS`: 20 ms and 48 MiB for resnet50 and vgg16,
100k nodes within 0.8 s, and at most 11.5 times the 10k graph. --strict exits 1 on a miss.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

REFERENCE = """
import sys, onnx
model = onnx.load(sys.argv[1])
onnx.shape_inference.infer_shapes(model, data_prop=True)
"""


def run(command):
    """(seconds, peak MiB) of one process; stops on a non-zero exit."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def best(command, repeats):
    runs = [run(command) for _ in range(repeats)]
    return min(r[0] for r in runs), max(r[1] for r in runs)


class Bound:
    """A measured value, and the most that it may be."""

    def __init__(self, what, value, limit, unit, digits):
        self.what, self.value, self.limit, self.unit, self.digits = what, value, limit, unit, digits

    def holds(self):
        return self.value <= self.limit

    def __str__(self):
        return (f"{'pass' if self.holds() else 'MISS'}  {self.what:<30} {self.value:>8.{self.digits}f} {self.unit:<5}"
                f" (at most {self.limit:g})")


def bounds(measured):
    """The bounds of the main job, on (seconds, MiB) by model."""
    found = []
    for name in ("resnet50", "vgg16"):
        seconds, mib = measured[name]
        found.append(Bound(f"{name}, time", seconds * 1e3, 20, "ms", 1))
        found.append(Bound(f"{name}, memory", mib, 48, "MiB", 1))
    small, large = measured["chain10k"][0], measured["chain100k"][0]
    found.append(Bound("100k nodes, time", large, 0.8, "s", 2))
    found.append(Bound("100k / 10k nodes (linear: 10)", large / small, 11.5, "times", 2))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    parser.add_argument("--models", default=str(ROOT / "build/bench-models"))
    parser.add_argument("--strict", action="store_true")
    args = parser.parse_args()
    # In a process of its own: a child's peak memory starts at that of its parent (execve keeps
    # ru_maxrss), so this one must stay small.
    written = subprocess.run([sys.executable, ROOT / "bench" / "models.py", args.models], check=True,
                             capture_output=True, text=True).stdout
    paths = {pathlib.Path(line.split()[0]).stem: line.split()[0] for line in written.splitlines()}
    print(
        f"{'model':<10} {'perfc ms':>9} {'MiB':>6}   {'onnx ms':>9} {'MiB':>6}   {'time ratio':>10} "
        f"{'memory ratio':>12}"
    )
    measured = {}
    for name, path in paths.items():
        ours = best([args.perfc, path, "--batch", "32", "--json"], 9)
        theirs = best([sys.executable, "-c", REFERENCE, path], 1 if name in ("vgg16", "chain100k") else 3)
        measured[name] = ours
        print(f"{name:<10} {ours[0]*1e3:9.1f} {ours[1]:6.0f}   {theirs[0]*1e3:9.1f} {theirs[1]:6.0f}   "
              f"{theirs[0]/ours[0]:9.1f}x {theirs[1]/ours[1]:11.1f}x")
    checked = bounds(measured)
    print()
    for bound in checked:
        print(bound)
    return 1 if args.strict and not all(bound.holds() for bound in checked) else 0


if __name__ == "__main__":
    sys.exit(main())
