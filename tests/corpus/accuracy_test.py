#!/usr/bin/env python3
"""Latency on MIG slices, average power and the training step stay as good as docs/accuracy.md says.

With the constants that are shipped, on a sample of the runs behind each section; the bounds are what was
measured when the section was written plus a fifth to a third. MAPE in %.
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import PERFC, ROOT, shared, skip, timm_torchscript  # noqa: E402

BOUNDS = {"fit_mig.py": 3.6, "fit_power.py": 10.3, "timm_training.py": 10.5}

shared("data", "mig")
try:
    import numpy  # noqa: F401
except ImportError as e:
    skip(str(e))

graphs = timm_torchscript()
failed = []
for script, bound in BOUNDS.items():
    command = [sys.executable, ROOT / "studies" / script, "--perfc", PERFC, "--graphs", graphs, "--check", str(bound)]
    if subprocess.run(command).returncode:
        failed.append(script)
sys.exit(f"worse than it was: {', '.join(failed)}" if failed else 0)
