#!/usr/bin/env python3
"""Networks of jax, flax and equinox as StableHLO: every file predicts, without an opaque node, and does jax's work.

usage: stablehlo_test.py [PERFC]

models.tar.xz and expected.tsv come from make_models.py. Held to:
- each imports and predicts as it is and, except FIXED, at another batch;
- multiply-accumulates are those counted on the jaxpr, parameters the elements of the weights' tree, except EXPLAINED;
- ALIKE: networks that tests/exports/models.tar.xz or twins.tar.xz (make_twins.py) hold as PyTorch exports them (.pt2)
  cost the same within 2 %, eagerly and compiled.
"""
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

EXPORTS = HERE.parent / "exports" / "models.tar.xz"
SETTINGS = ["--device", "a100-40gb", "--predictor", "whitebox", "--json", "--top", "0", "--quiet"]
BATCHES = {"vit_symbolic": 4}  #: files with an open batch, and that which their work was counted for
TWICE = 2                      #: the other batch, as a multiple of the file's
WITHIN, MACS = 0.02, 1e-3
ALIKE = {"resnet50": "tv_resnet50.static.pt2", "resnet18": "timm_resnet18.static.pt2",
         "vit_b16": "vit_b16.pt2", "bert_base": "bert_base.pt2"}
#: (model, "parameters"): a weight that several bodies of control flow read is held, and counted, by each
EXPLAINED = {("control", "parameters")}
#: no batch that can be changed: nodes of a graph, rows that are scattered to, one loop's state
FIXED = {"graph_network", "indexing", "control"}


def predict(perfc, path, *options):
    """(prediction, None) or (None, the first error)."""
    done = subprocess.run([perfc, "predict", str(path), *SETTINGS, *options], capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line] or [f"exit {done.returncode}"]
        return None, errors[0].replace(str(path.parent) + "/", "")
    return json.loads(done.stdout)["predictions"][0], None


def check_work(perfc, path, macs, parameters):
    name = path.stem
    batch = ["--batch", str(BATCHES[name])] if name in BATCHES else []
    found, error = predict(perfc, path, *batch)
    if error:
        yield f"{name}: {error}"
        return
    static = found["static"]
    if abs(static["macs"] - macs) > MACS * macs:
        yield f"{name}: {static['macs']:.0f} MACs, jax counts {macs}"
    if (static["params"] != parameters) != ((name, "parameters") in EXPLAINED):
        yield f"{name}: {static['params']:.0f} parameters, the tree has {parameters}"
    if name in FIXED:
        return
    larger, error = predict(perfc, path, "--batch", str(TWICE * found["batch"]))
    if error:
        yield f"{name} at twice its batch: {error}"
    elif abs(larger["static"]["macs"] - TWICE * macs) > MACS * TWICE * macs:
        yield f"{name} at twice its batch: {larger['static']['macs']:.0f} MACs, not {TWICE * macs}"


def check_twin(perfc, path, twin):
    for mode in ("eager", "compiled"):
        ours, error = predict(perfc, path, "--mode", mode)
        theirs, other = (None, error) if error else predict(perfc, twin, "--mode", mode, "--batch", str(ours["batch"]))
        if error or other:
            yield f"{path.stem}: {error or other}"
        elif abs(ours["latency_ms"] / theirs["latency_ms"] - 1) > WITHIN:
            yield f"{path.stem}, {mode}: {ours['latency_ms']:.4f} ms, as {twin.name} {theirs['latency_ms']:.4f} ms"


def main() -> int:
    perfc = sys.argv[1] if len(sys.argv) > 1 else str(support.PERFC)
    failures = []
    rows = [line.split("\t") for line in (HERE / "expected.tsv").read_text().splitlines()[1:]]
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HERE / "models.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        for twins in (EXPORTS, HERE / "twins.tar.xz"):
            with tarfile.open(twins) as archive:
                members = [m for m in archive.getmembers() if m.name in ALIKE.values()]
                archive.extractall(folder, members=members, filter="data")
        for name, macs, parameters in rows:
            failures += check_work(perfc, pathlib.Path(folder, f"{name}.mlir"), int(macs), int(parameters))
        for name, twin in ALIKE.items():
            failures += check_twin(perfc, pathlib.Path(folder, f"{name}.mlir"), pathlib.Path(folder, twin))
    for failure in failures:
        print(failure)
    print(f"{len(rows)} models, {len(ALIKE)} twins, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
