"""What the tests share: the program that the package is held against, and models."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ("examples/resnet50.onnx", "tests/robustness/seeds/control_flow.onnxtxt", "tests/maelstrom/ap4_unet.json",
          "examples/ci/models/net.pir")


@pytest.fixture(scope="session")
def cli():
    """Runs perfc; its standard output."""

    def run(*words, code: int = 0) -> str:
        done = subprocess.run([os.environ["PERFC"], *map(str, words)], capture_output=True, cwd=ROOT, check=False)
        assert done.returncode == code, done.stderr.decode()
        return done.stdout.decode()

    return run


@pytest.fixture
def cli_json(cli):
    return lambda *words: json.loads(cli(*words, "--json"))
