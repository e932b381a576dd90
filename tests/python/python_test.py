#!/usr/bin/env python3
"""The Python package: its wheel is made, looked at, installed and used.

usage: python_test.py PERFC EXTENSION     the program, and the compiled part that the wheel packs

The wheel goes into build/venv-python, where pytest runs the tests of this folder, and into an environment of its own,
where one call is timed; test_torch.py runs with torch, where there is one.
"""
import glob
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
import venv
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import RELEASE, ROOT, installed_python, skip_part, torch_python  # noqa: E402

# Libraries that every Linux with glibc has; the others are in the wheel, under names of its own (PEP 600).
SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1", "libpthread.so.0", "libdl.so.2",
          "ld-linux-x86-64.so.2"}
FIRST_PREDICTION_S = 0.3
ONE_CALL = """
import perfc
assert perfc.predict("examples/resnet50.onnx", batch=8, device="l4", alternatives=False).latency_ms > 0
"""


def run(*command, **kwargs) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_wheel(python: str, extension: str, work: pathlib.Path) -> pathlib.Path:
    """The wheel, with the libraries that it needs."""
    scripts = pathlib.Path(python).parent
    environment = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "PERFC_PYTHON_EXTENSION": extension}
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", work / "plain", ROOT,
        env=environment)
    plain, = (work / "plain").glob("*.whl")
    assert "-cp39-abi3-" in plain.name, f"{plain.name} is not for every Python from 3.9 on"
    run(python, "-m", "auditwheel", "repair", "-w", work, plain, env=environment)
    wheel, = work.glob("*.whl")
    return wheel


def look_at(wheel: pathlib.Path, work: pathlib.Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("perfc/__init__.py", "perfc/_perfc.pyi", "perfc/py.typed", "perfc/measure/__main__.py"):
        assert name in names, f"{wheel.name} lacks {name}"
    assert not [n for n in names if "__pycache__" in n or n.endswith((".cpp", ".h"))], names
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "unpacked")
    objects = [pathlib.Path(p) for p in glob.glob(f"{work}/unpacked/**/*.so*", recursive=True)]
    inside = {o.name for o in objects}
    for o in objects:
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", o)))
        assert needed <= SYSTEM | inside, f"{o.name} needs {needed - SYSTEM - inside}"
    extension, = [o for o in objects if o.name == "_perfc.abi3.so"]
    exported = set(run("nm", "-D", "--defined-only", "--format=posix", extension).split("\n"))
    functions = [line.split()[0] for line in exported if " T " in line]
    assert functions == ["PyInit__perfc"], functions
    tag = re.search(r"manylinux_2_(\d+)", wheel.name)
    assert tag and int(tag[1]) <= 36, f"{wheel.name} asks for a newer system than Debian 12"


def time_first_prediction(wheel: pathlib.Path, work: pathlib.Path) -> float:
    """CPU time of a whole process in an environment that has the wheel and what it depends on, the best of seven."""
    fresh = work / "fresh"
    venv.create(fresh, with_pip=True)
    python = fresh / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    times = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(python, "-c", ONE_CALL, cwd=ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> int:
    perfc, extension = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:])
    python = installed_python("venv-python", "requirements-python.txt", "what the Python package's tests need",
                              seconds=900)
    work = RELEASE / "python-test"
    shutil.rmtree(work, ignore_errors=True)
    begin = time.monotonic()
    wheel = make_wheel(python, extension, work)
    look_at(wheel, work)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, made in {time.monotonic() - begin:.0f} s", flush=True)
    first = time_first_prediction(wheel, work)
    print(f"import to first prediction: {first:.3f} s of CPU time, the whole process", flush=True)
    assert first < FIRST_PREDICTION_S, first
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall",
        wheel)
    environment = {**os.environ, "PERFC": perfc, "PYTHONDONTWRITEBYTECODE": "1"}
    tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytester"]
    code = subprocess.run([*tests, HERE, f"--ignore={HERE}/test_torch.py"], cwd=ROOT, env=environment).returncode
    try:
        with_torch = torch_python()
    except SystemExit:  # it said why
        return code
    libraries = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    if run(with_torch, "-c", "import sys; print(sys.version_info[:2])") != f"{sys.version_info[:2]}\n":
        skip_part("python with torch: another version of Python than the tests'")
        return code
    environment["PYTHONPATH"] = libraries
    return code or subprocess.run([with_torch, *tests[1:], HERE / "test_torch.py"], cwd=ROOT,
                                  env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
