#!/usr/bin/env python3
"""Networks of jax, flax, equinox and torch_xla as StableHLO: every file predicts, without an opaque node, and does the
framework's work.

usage: stablehlo_test.py [PERFC]

models.tar.xz and expected.tsv come from make_models.py, xla.tar.xz and xla.tsv from make_xla.py. Held to:
- each imports and predicts as it is and, except FIXED, at another batch;
- multiply-accumulates are those counted on the jaxpr or by torch's FlopCounter, parameters the elements of the weights'
  tree, except EXPLAINED;
- ALIKE: networks that tests/exports/models.tar.xz or twins.tar.xz (make_twins.py) hold as PyTorch exports them (.pt2)
  cost the same within 2 %, eagerly and compiled, or APART times that.
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
BATCHES = {"jax/vit_symbolic": 4}  #: files with an open batch, and that which their work was counted for
TWICE = 2                      #: the other batch, as a multiple of the file's
WITHIN, MACS = 0.02, 1e-3
ALIKE = {"jax/resnet50": "tv_resnet50.static.pt2", "jax/resnet18": "timm_resnet18.static.pt2",
         "jax/vit_b16": "vit_b16.pt2", "jax/bert_base": "bert_base.pt2", "jax/llama": "llama.pt2",
         "xla/resnet18": "timm_resnet18.static.pt2", "xla/vit_b16": "vit_b16.pt2", "xla/bert_base": "bert_base.pt2",
         "xla/llama": "llama.pt2", "xla/mlp": "mlp.pt2", "xla/group_norms": "group_norms.pt2"}
#: What torch_xla computes once and the program in every layer: of BERT the mask as bools and as numbers, of Llama the
#: angles of the positions. Its graph of lazy tensors holds equal calls once.
APART = {("xla/bert_base", "eager"): 0.933, ("xla/llama", "eager"): 0.904}
#: control: a weight that several bodies of control flow read is held, and counted, by each. xla/resnet18: the tree
#: leaves out the running statistics of its norms. xla/llama: positions and rates are constants of the program.
EXPLAINED = {("jax/control", "parameters"), ("xla/resnet18", "parameters"), ("xla/llama", "parameters")}
#: no batch that can be changed: nodes of a graph, rows that are scattered to, one loop's state, a dim of one sample
#: that torch_xla squeezes, a first state of zeros
FIXED = {"jax/graph_network", "jax/indexing", "jax/control", "xla/llama", "xla/lstm"}


def predict(perfc, path, *options):
    """(prediction, None) or (None, the first error)."""
    done = subprocess.run([perfc, "predict", str(path), *SETTINGS, *options], capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line] or [f"exit {done.returncode}"]
        return None, errors[0].replace(str(path.parent) + "/", "")
    return json.loads(done.stdout)["predictions"][0], None


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


def check_work(perfc, path, macs, parameters):
    name = name_of(path)
    batch = ["--batch", str(BATCHES[name])] if name in BATCHES else []
    found, error = predict(perfc, path, *batch)
    if error:
        yield f"{name}: {error}"
        return
    static = found["static"]
    if abs(static["macs"] - macs) > MACS * macs:
        yield f"{name}: {static['macs']:.0f} MACs, the framework counts {macs}"
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
        name = name_of(path)
        if error or other:
            yield f"{name}: {error or other}"
        elif abs(ours["latency_ms"] / theirs["latency_ms"] / APART.get((name, mode), 1) - 1) > WITHIN:
            yield f"{name}, {mode}: {ours['latency_ms']:.4f} ms, as {twin.name} {theirs['latency_ms']:.4f} ms"


def main() -> int:
    perfc = sys.argv[1] if len(sys.argv) > 1 else str(support.PERFC)
    failures, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        for origin, archive_name, table in (("jax", "models.tar.xz", "expected.tsv"), ("xla", "xla.tar.xz", "xla.tsv")):
            with tarfile.open(HERE / archive_name) as archive:
                archive.extractall(pathlib.Path(folder, origin), filter="data")
            for line in (HERE / table).read_text().splitlines()[1:]:
                name, macs, parameters = line.split("\t")
                rows.append((pathlib.Path(folder, origin, f"{name}.mlir"), int(macs), int(parameters)))
        for twins in (EXPORTS, HERE / "twins.tar.xz"):
            with tarfile.open(twins) as archive:
                members = [m for m in archive.getmembers() if m.name in ALIKE.values()]
                archive.extractall(folder, members=members, filter="data")
        for row in rows:
            failures += check_work(perfc, *row)
        for name, twin in ALIKE.items():
            failures += check_twin(perfc, pathlib.Path(folder, f"{name}.mlir"), pathlib.Path(folder, twin))
    for failure in failures:
        print(failure)
    print(f"{len(rows)} models, {len(ALIKE)} twins, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
