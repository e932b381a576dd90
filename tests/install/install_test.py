#!/usr/bin/env python3
"""Installs into an empty prefix, builds a consumer against it, and runs both.

The consumer must get from perfc::predict what the installed program prints, and
neither may need the checkout."""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import RELEASE, ROOT  # noqa: E402


def run(*command, **kwargs) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    work = RELEASE / "install-test"
    shutil.rmtree(work, ignore_errors=True)
    prefix = work / "prefix"
    run("cmake", "--install", RELEASE, "--prefix", prefix)
    for header in ("pipeline/pipeline.h", "ir/graph.h", "ir/ops/rules.h"):
        assert (prefix / "include/perfc" / header).exists(), f"{header} is not installed"
    assert not (prefix / "include/perfc/cli").exists(), "headers of the program are installed"

    model = work / "model.onnx"
    shutil.copy(ROOT / "examples" / "resnet50.onnx", model)
    report = json.loads(run(prefix / "bin/perfc", model, "--batch", "32", "--device", "a100-40gb",
                            "--dtype", "fp32", "--json", cwd=work))
    ours = report["predictions"][0]
    run("cmake", "-S", HERE, "-B", work / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", work / "build")
    latency, _, macs, _ = run(work / "build/consumer", model, cwd=work).split()
    assert abs(float(latency) - ours["latency_ms"]) < 1e-3 * ours["latency_ms"], (latency, ours["latency_ms"])
    assert float(macs) == ours["static"]["macs"], (macs, ours["static"]["macs"])
    print(f"installed program and consumer agree: {latency} ms, {macs} MACs")


if __name__ == "__main__":
    main()
