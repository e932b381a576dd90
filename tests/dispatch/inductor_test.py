#!/usr/bin/env python3
"""perfc's compiled kernels beside those that TorchInductor generates and the library calls that it makes, in number.

usage: inductor_test.py [PERFC] [--verbose]

inductor.tsv and inductor-bf16.tsv say what TorchInductor's programs for whole models launch on an A100
(tests/oracle/inductor.py), in float32 and bfloat16 at the batch of models.tar.xz, which holds the models in float32. A
kernel of perfc's is a library's if it is a product, a convolution or attention. Calls of libraries are to be equal but
for the models of `REASONS`; kernels, which follow from dozens of heuristics, as near as `MOST`, all models together,
and as many models equal as `EQUAL` says.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

COMPILED = [
    "--emit=kernels", "--mode", "compiled", "--predictor", "whitebox", "--device", "a100-40gb", "--opaque=warn",
    "--quiet"
]
TABLES = {"fp32": "inductor.tsv", "bf16": "inductor-bf16.tsv"}
LIBRARIES = ("convolution", "matmul", "depthwise")
MOST, EQUAL, LEAST_MODELS = 0.08, 0.23, 160
REASONS = {
    "cuDNN's call of a recurrent layer is a product and its steps in perfc's list; TorchInductor writes cells out":
        "recurrent_bilstm recurrent_cells recurrent_gru recurrent_lstm recurrent_rnn timm_sequencer2d_s",
    "a library call that is no product: embedding bags, Fourier transforms, the choice of experts":
        "dlrm hf_fnet hf_mixtral hf_olmoe hf_qwen2_moe",
    "a mask of positions alone, which the module does not make, keeps the program's attention from being fused":
        "hf_albert hf_bart hf_bert hf_conformer hf_dinov2 hf_distilbert hf_electra hf_esm hf_hubert hf_marian "
        "hf_modernbert hf_pegasus hf_roberta hf_sew hf_vit hf_wav2vec2",
}
OTHER_LIBRARIES = {name for names in REASONS.values() for name in names.split()}
#: Otherwise than in float32: there or here TorchInductor computes a product of one column by a kernel of its own, which
#: perfc does not know.
IN_16_BITS = {"graph_gcn", "hf_convbert", "hf_siglip_vision"}


def kernels_of(perfc, path, dtype) -> tuple[int, int]:
    run = subprocess.run([perfc, str(path), *COMPILED, "--dtype", dtype], capture_output=True, text=True, check=True)
    kinds = [row["kind"] for row in csv.DictReader(run.stdout.splitlines())]
    libraries = sum(kind in LIBRARIES for kind in kinds)
    return len(kinds) - libraries, libraries


def compare(dtype, perfc, folder, verbose) -> list[str]:
    """What is wrong."""
    rows = []
    for name, generated, libraries in support.read_table(HERE / TABLES[dtype], 3):
        path = next((p for p in folder.iterdir() if p.stem == name), None)
        if path:
            rows.append((name, int(generated), int(libraries), *kernels_of(perfc, path, dtype)))
    for name, generated, libraries, ours, our_libraries in sorted(rows, key=lambda r: abs(r[3] - r[1]), reverse=True):
        if verbose:
            print(f"{name:36} {generated:5} / {ours:5}  libraries {libraries:5} / {our_libraries:5}")
    off = sum(abs(ours - generated) for _, generated, _, ours, _ in rows) / sum(r[1] + r[2] for r in rows)
    equal = sum(generated == ours for _, generated, _, ours, _ in rows) / len(rows)
    print(f"{dtype}: {len(rows)} models, generated kernels equal in {equal:.0%}, off by {off:.1%} of all kernels")
    others = OTHER_LIBRARIES ^ IN_16_BITS if dtype == "bf16" else OTHER_LIBRARIES
    problems = [f"{dtype}: {name}: {ours} calls of libraries, TorchInductor's program makes {theirs}"
                for name, _, theirs, _, ours in rows if ours != theirs and name not in others]
    problems += [f"{dtype}: {name}: calls as many libraries as TorchInductor now, remove it from the reasons"
                 for name, _, theirs, _, ours in rows if ours == theirs and name in others]
    if off > MOST or equal < EQUAL or len(rows) < LEAST_MODELS:
        problems.append(f"{dtype}: off by at most {MOST:.0%} and equal in {EQUAL:.0%} of {LEAST_MODELS} models: not so")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfc", nargs="?", default=support.PERFC)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as name, tarfile.open(HERE / "models.tar.xz") as tar:
        folder = pathlib.Path(name)
        for member in tar:
            (folder / member.name).write_bytes(tar.extractfile(member).read())
        for dtype in TABLES:
            problems += compare(dtype, args.perfc, folder, args.verbose)
    for problem in problems:
        print("PROBLEM", problem)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
