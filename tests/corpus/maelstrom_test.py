#!/usr/bin/env python3
"""The MAELSTROM look-alikes at batch 1 and 8.

usage: maelstrom_test.py tensorflow|torch

tensorflow: every export of AP1 (a U-Net on 512×512×17), AP3 (LSTMs and GRUs over 60 levels) and AP5 (a
U-Net on 96×120×10) of ../shared/frameworks/models.tar.xz, also those exported with a fixed batch.
torch: AP4 (a CNN on 14×361×720) and the DeBERTa of AP2, tests/maelstrom/*.json.
Held to: every value typed, no operator of unknown cost, the parameters that the framework counts, and
work in proportion to the batch.
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import dump  # noqa: E402
import support  # noqa: E402
import tf_test  # noqa: E402

# file → parameters and running statistics in PyTorch, and MACs that do not depend on the batch: DeBERTa
# projects its 512 relative positions to keys and queries in each of 6 layers.
TORCH = {"ap4_unet.json": (471_010 + 1_280, 0), "ap2_deberta.json": (141_896_450, 6 * 2 * 512 * 768 * 768)}
MODELS = ("ap1_unet", "ap3_bilstm", "ap3_gru", "ap5_unet")
BATCHES = (1, 8)


def predict(path: pathlib.Path, batch: int) -> tuple[dict | None, str]:
    """The prediction; --opaque=refuse makes an operator of unknown cost an error."""
    run = subprocess.run([support.PERFC, "predict", "--json", "--opaque", "refuse", "--batch",
                          str(batch), path], capture_output=True, text=True)
    return (json.loads(run.stdout)["predictions"][0], run.stderr) if run.returncode == 0 else (None, run.stderr)


def check(path: pathlib.Path, params: int, fixed_macs: int = 0) -> list[str]:
    problems, found = [], {}
    imported = dump.run([str(path)])[0]
    if imported["status"] != "ok" or imported["typed"] != imported["values"] or imported["opaque"]:
        problems.append(
            f"{imported.get('typed')} of {imported.get('values')} values are typed; opaque: {imported.get('opaque')}; "
            f"{imported['errors']}"
        )
    for batch in BATCHES:
        prediction, messages = predict(path, batch)
        if prediction is None or "opaque" in messages:
            return [f"batch {batch}: {messages.strip().splitlines()[0]}"]
        found[batch] = prediction
        if prediction["batch"] != batch:
            problems.append(f"asked for batch {batch}, predicted for {prediction['batch']}")
        if prediction["static"]["params"] != params:
            problems.append(
                f"batch {batch}: {prediction['static']['params']:.0f} parameters, the framework counts {params}")
    one, many = found[BATCHES[0]], found[BATCHES[-1]]
    ratio = BATCHES[-1] / BATCHES[0]
    macs, macs_of_many = one["static"]["macs"] - fixed_macs, many["static"]["macs"] - fixed_macs
    if macs_of_many != ratio * macs:
        problems.append(f"{macs_of_many:.0f} MACs at batch {BATCHES[-1]} are not {ratio:g} times {macs:.0f}")
    # The allocator reserves whole segments: equal is possible where the activations are small.
    if not one["memory_mib"] <= many["memory_mib"] or not one["latency_ms"] <= many["latency_ms"]:
        problems.append(f"batch {BATCHES[-1]} is predicted to need less than batch {BATCHES[0]}")
    return problems


def tensorflow() -> tuple[int, list[str]]:
    frameworks = support.shared("frameworks")
    unpacked = support.unpack_frameworks()
    rows = tf_test.manifest(frameworks / "MANIFEST.tsv")
    files = {
        row["file"]: int(row["params"]) for row in rows
        if row["model"] in MODELS and row["file"].split("/")[0] in tf_test.FOLDERS
    }
    problems = [f"{name}: {p}" for name, params in files.items() for p in check(unpacked / name, params)]
    missing = [m for m in MODELS if not any(f"/{m}." in name for name in files)]
    return len(files), problems + [f"{m}: no export of it is here" for m in missing]


def torch() -> tuple[int, list[str]]:
    folder = HERE.parent / "maelstrom"
    return len(TORCH), [
        f"{name}: {p}" for name, (params, fixed) in TORCH.items() for p in check(folder / name, params, fixed)
    ]


def main() -> int:
    frameworks = {"tensorflow": tensorflow, "torch": torch}
    if len(sys.argv) != 2 or sys.argv[1] not in frameworks:
        sys.exit(f"usage: maelstrom_test.py {'|'.join(frameworks)}")
    files, problems = frameworks[sys.argv[1]]()
    print(
        f"MAELSTROM look-alikes: {files} {sys.argv[1]} exports at batches {', '.join(map(str, BATCHES))}; "
        f"{len(problems)} problems"
    )
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
