#!/usr/bin/env python3
"""What Python adds to a prediction: a process with its first prediction beside the program's, and many on all cores.

usage: python.py PYTHON [PERFC]      PYTHON: an interpreter with perfc installed

Prints the CPU time of whole processes, the best of ten: the interpreter alone, with perfc's first prediction, and the
program with the same; then predictions per second by threads, whose results must be equal.
"""
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = "examples/resnet50.onnx"
FIRST = f"import perfc; perfc.predict({MODEL!r}, device='l4', batch=8)"
MANY = f"""
import time, perfc
models = [{MODEL!r}] * 200
perfc.predict(models[0], device="l4")
results = []
for workers in (1, None):
    begin = time.perf_counter()
    results.append(perfc.predict_many(models, workers=workers, device="l4", batch=8))
    print(f"predict_many, {{workers or 'all'}} threads: {{len(models) / (time.perf_counter() - begin):.0f}} per second")
assert results[0] == results[1]
"""


def cpu_s(*command: str) -> float:
    times = []
    for _ in range(10):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    python = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "build/release/perfc")
    alone, first = cpu_s(python, "-c", "pass"), cpu_s(python, "-c", FIRST)
    cli = cpu_s(program, MODEL, "--device", "l4", "--batch", "8", "--json")
    print(f"python alone {alone:.3f} s, to its first prediction {first:.3f} s; the program {cli:.3f} s "
          f"({first / cli:.2f} of it)")
    print(subprocess.run([python, "-c", MANY], cwd=ROOT, check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    main()
