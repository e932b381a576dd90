#!/usr/bin/env python3
"""Memory stays as good as docs/accuracy.md says: MIGProfiler, GPUMemNet, DIPPM's points.

With the software stacks that they ran (data/stacks.json). A sixteenth of GPUMemNet's architectures, all of the others.
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "studies")]
from support import PERFC, shared, skip, timm_torchscript  # noqa: E402

shared("data", "mig")
try:
    import fit_memory
except ImportError as e:
    skip(str(e))

graphs = timm_torchscript()
problems = []


def hold(what, value, bound):
    print(f"{what}: {value:.4g} (at most {bound:g})")
    if not value <= bound:
        problems.append(f"{what}: {value:.4g} is more than {bound:g}")


with tempfile.TemporaryDirectory() as folder:
    rows = fit_memory.mig_rows(str(PERFC), graphs, pathlib.Path(folder))
    for part in {r["set"] for r in rows}:
        members = [r for r in rows if r["set"] == part]
        contexts = {}
        for r in members:
            key = (r["device"], r["convolves"])
            if key not in contexts:
                contexts[key] = fit_memory.predict(
                    str(PERFC), [*r["command"], "--device", r["device"], "--stack", fit_memory.STACKS[part]]
                )["memory_breakdown_mib"]["context"]
        hold(f"{part} as shipped, MAPE",
             fit_memory.scores([(r["rest"] + contexts[r["device"], r["convolves"]], r["mib"]) for r in members])[0],
             0.03)
mape, mae = fit_memory.mig_table(rows)[1]
hold("MIGProfiler, leave-model-out, MAPE", mape, 0.04)
hold("MIGProfiler, leave-model-out, MAE in MiB", mae, 90)

train = fit_memory.train_table(fit_memory.train_rows(str(PERFC), graphs, 16))[1]
for what, mape, below in (("need", 0.08, 0.04), ("shown", 0.13, 0.03)):
    hold(f"GPUMemNet, {what}, leave-family-out, MAPE", train[what][0], mape)
    hold(f"GPUMemNet, {what}, more than 20 % below the truth", train[what][2], below)

errors, right = fit_memory.dippm_table(str(PERFC), graphs)[1]
hold("DIPPM's points, largest error", max(map(abs, errors)), 0.15)
hold("DIPPM's points, wrong profiles", 6 - right, 0)

sys.exit("\n".join(problems) if problems else 0)
