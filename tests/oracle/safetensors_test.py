#!/usr/bin/env python3
"""Python's safetensors package and perfc read each other's checkpoints.

usage: safetensors_test.py PERFC        77: skipped where the package cannot be installed
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import support  # noqa: E402

MODEL = '''#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 4), float32]) -> (y: Tensor[(2, 4), float32]) {
  %1 = nn.relu(%x) : Tensor[(2, 4), float32];
  (%1)
}
'''
REWRITE = '''
import sys, numpy
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open(sys.argv[1], "np") as f:
    meta = f.metadata()
    tensors = {name: f.get_tensor(name) for name in f.keys()}
assert meta["perfc.model"] == "pmgns-mlp", meta
assert tensors["fc_1.weight"].shape == (512, 5) and tensors["fc_1.bias"].shape == (512,), {n: t.shape for n, t in
tensors.items()}
assert all(t.dtype == numpy.float32 and numpy.isfinite(t).all() for t in tensors.values())
tensors["predictor.weight"] = tensors["predictor.weight"] * 0
tensors["predictor.bias"] = tensors["predictor.bias"] * 0 - 3
save_file(tensors, sys.argv[2], metadata=meta)
'''


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    perfc, python = sys.argv[1], support.reference_python()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "net.pir").write_text(MODEL)
        labels = folder / "labels.csv"
        labels.write_text("model,device,latency_ms\nnet.pir,rtx4090,0.003\n")
        split = folder / "split.csv"
        split.write_text("architecture,split\nnet,training\n")
        ours, theirs = folder / "ours.safetensors", folder / "theirs.safetensors"
        run(perfc, "train", "--data", labels, "--split", split, "--model", "pmgns-mlp", "--epochs", "1", "--out", ours,
            "--quiet")
        run(python, "-c", REWRITE, ours, theirs)
        # All weights of the last layer are 0 and its bias is -3: ln(1 + e^3) in µs.
        row = run(perfc, "eval", theirs, "--data", labels, "--split", split).splitlines()[1].split()
        expected = 100 * (0.0030485873515737420 / 0.003 - 1)
        assert row[:3] == ["latency", "all", "1"] and abs(float(row[3]) - expected) < 0.05, row
    print("safetensors reads perfc's checkpoint, perfc reads safetensors'")


if __name__ == "__main__":
    main()
