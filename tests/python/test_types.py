"""Type checkers see what the package is: mypy --strict on the package and on a user's program."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "python" / "perfc"
CHECKED = ("__init__", "_api", "_html", "_models", "_options", "budgets", "callbacks", "diffs", "errors", "ir",
           "pytest_plugin", "results", "sweeps")
PROGRAM = '''
from typing import assert_type

import perfc

one = perfc.predict("net.onnx", device="l4", batch=8)
assert_type(one, perfc.Prediction)
assert_type(one.latency_ms_interval.lo, float)
assert_type(perfc.predict("net.onnx", device=["l4", "t4"]), perfc.Predictions)
assert_type(perfc.load("net.onnx", batch=8)[0], perfc.Node)
one.latency_ms = 3.0
perfc.load("net.onnx", bach=8)
'''


def mypy(folder: pathlib.Path, *words: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "mypy", "--config-file", HERE / "mypy.ini", "--cache-dir",
                           folder / "cache", *words], capture_output=True, text=True, cwd=folder)


def test_package(tmp_path):
    done = mypy(tmp_path, *(SOURCES / f"{name}.py" for name in CHECKED))
    assert done.returncode == 0, done.stdout


def test_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    lines = mypy(tmp_path, program).stdout.splitlines()
    assert [line for line in lines if ": error:" in line] == lines[:2], lines
    assert 'program.py:11: error: Property "latency_ms" defined in "Prediction" is read-only' in lines[0]
    assert "program.py:12: error: Unexpected keyword argument \"bach\"" in lines[1]


def test_stub(tmp_path):
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "perfc._perfc", "--ignore-missing-stub"],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
