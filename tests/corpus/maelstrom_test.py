#!/usr/bin/env python3
"""The TensorFlow models of the MAELSTROM look-alikes, every export of each, at batch 1 and 8.

usage: maelstrom_test.py

AP1 (a U-Net on 512×512×17), AP3 (LSTMs and GRUs over 60 levels) and AP5 (a U-Net on 96×120×10) of
../shared/frameworks/models.tar.xz, also those that were exported with a fixed batch: no operator of
unknown cost, the parameters of Keras, and work in proportion to the batch.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import support  # noqa: E402
import tf_test  # noqa: E402

MODELS = ("ap1_unet", "ap3_bilstm", "ap3_gru", "ap5_unet")
BATCHES = (1, 8)


def predict(path: pathlib.Path, batch: int) -> tuple[dict | None, str]:
    """The prediction; --opaque=refuse makes an operator of unknown cost an error."""
    run = subprocess.run([support.PERFC, "predict", "--json", "--opaque", "refuse", "--batch", str(batch), path], capture_output=True, text=True)
    return (json.loads(run.stdout)["predictions"][0], run.stderr) if run.returncode == 0 else (None, run.stderr)


def check(path: pathlib.Path, params: int) -> list[str]:
    problems, found = [], {}
    for batch in BATCHES:
        prediction, messages = predict(path, batch)
        if prediction is None or "opaque" in messages:
            return [f"batch {batch}: {messages.strip().splitlines()[0]}"]
        found[batch] = prediction
        if prediction["batch"] != batch:
            problems.append(f"asked for batch {batch}, predicted for {prediction['batch']}")
        if prediction["static"]["params"] != params:
            problems.append(f"batch {batch}: {prediction['static']['params']:.0f} parameters, Keras counts {params}")
    one, many = found[BATCHES[0]], found[BATCHES[-1]]
    ratio = BATCHES[-1] / BATCHES[0]
    if many["static"]["macs"] != ratio * one["static"]["macs"]:
        problems.append(f"{many['static']['macs']:.0f} MACs at batch {BATCHES[-1]} are not {ratio:g} times {one['static']['macs']:.0f}")
    if not one["memory_mib"] < many["memory_mib"] or not one["latency_ms"] <= many["latency_ms"]:
        problems.append(f"batch {BATCHES[-1]} is predicted to need less than batch {BATCHES[0]}")
    return problems


def main() -> int:
    frameworks = support.shared("frameworks")
    unpacked = support.unpack_frameworks()
    rows = tf_test.manifest(frameworks / "MANIFEST.tsv")
    files = {row["file"]: int(row["params"]) for row in rows if row["model"] in MODELS and row["file"].split("/")[0] in tf_test.FOLDERS}
    problems = [f"{name}: {p}" for name, params in files.items() for p in check(unpacked / name, params)]
    missing = [m for m in MODELS if not any(f"/{m}." in name for name in files)]
    problems += [f"{m}: no export of it is here" for m in missing]
    print(f"MAELSTROM look-alikes: {len(files)} TensorFlow exports at batches {', '.join(map(str, BATCHES))}; {len(problems)} problems")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
