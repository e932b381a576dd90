#!/usr/bin/env python3
"""PyTorch programs: TorchScript JSON of timm, whole models and .pt2 archives, TorchScript archives.

usage: torch_test.py [--all]      a spread of 60 of ../shared/graphs/timm_torchscript.tar.xz, or all 1623

Every timm program imports fully static and without a warning, which means that
every type torch recorded while tracing is the one perfc infers; its MACs are
those of its ONNX twin in ../shared/graphs/timm.tar.xz, to the last one. The
models of ../shared/frameworks have the MACs and parameters counted in PyTorch
itself. Archives without a readable program say how to convert them.
torch_explained.tsv lists the files for which this does not hold, and why.
"""
import argparse
import csv
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import dump  # noqa: E402
import timm_test  # noqa: E402
import support  # noqa: E402
from support import read_table, shared  # noqa: E402

SPREAD = 60
EXPLAINED = HERE / "torch_explained.tsv"
# Scripted modules say no shapes, and an exported program may leave dims open: the inputs of
# ../shared/frameworks/MANIFEST, given as a user gives them.
GIVEN = {"resnet18.script.json": "x.1=1,3,224,224", "resnet18.trace_frozen.json": "x.1=1,3,224,224",
         "ts_scripted_loop.script.json": "x.1=4,16", "ts_scripted_loop.script_frozen.json": "x.1=4,16",
         "gpt2.dyn.pt2": "a=1,128"}


def models() -> tuple[list[str], dict[str, dict]]:
    """Files of torch's own exports, and what the MANIFEST among them says of each."""
    folder = support.unpack_frameworks()
    with open(folder / "MANIFEST.tsv", newline="") as f:
        rows = {pathlib.PurePosixPath(r["file"]).name.removesuffix(".xz"): r for r in csv.DictReader(f, delimiter="\t")}
    return sorted(str(p) for kind in ("torchscript", "pt2") for p in (folder / kind).iterdir()), rows


def flaws(result) -> list[str]:
    if result["status"] != "ok":
        return [f"{result['status']}: {' '.join(result['errors'])}"]
    out = [f"warning: {w}" for w in result["warnings"] if ": note: " not in w]
    if result["dataflow_static"] != result["dataflow"]:
        out.append(f"{result['dataflow'] - result['dataflow_static']} values are not static")
    return out + [f"verifier: {v}" for v in result["verify"]] + [f"opaque: {o}" for o in result["opaque"]]


def unexported(result) -> list[str]:
    """TorchScript archives hold Python text: they are refused, with a word on what to do."""
    text = " ".join(result["errors"])
    advice = "a TorchScript archive, whose code is Python text; convert it with `python -m perfc.export"
    if result["status"] == "refused" and advice in text:
        return []
    return [f"is to be refused with a word on the exporter: {result['status']}: {text}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    explained = {name: diagnostic for name, diagnostic, _ in read_table(EXPLAINED, 3)}
    problems, judged = [], set()

    def judge(name, found):
        judged.add(name)
        row = explained.get(name)
        if row is None:
            problems.extend(f"{name}: {f}" for f in found)
        elif not any(row in f for f in found):
            problems.append(f"{name}: {EXPLAINED.name} expects: {row}")

    timm = sorted(
        str(p) for p in support.unpack("graphs", "timm_torchscript.tar.xz", into="timm_torchscript").rglob("*.json"))
    if not args.all:
        timm = timm[:: max(len(timm) // SPREAD, 1)]
    results = dump.run(timm)
    twins = {p.stem: str(p) for p in timm_test.unpack().rglob("*.onnx")}
    wanted = [twins[pathlib.Path(f).stem] for f in timm if pathlib.Path(f).stem in twins]
    twin_macs = {pathlib.Path(r["file"]).stem: r["macs"] for r in dump.run(wanted) if r["status"] == "ok"}
    equal = 0
    for r in results:
        name, found = pathlib.Path(r["file"]), flaws(r)
        if r["status"] == "ok" and name.stem in twin_macs:
            if r["macs"] == twin_macs[name.stem]:
                equal += 1
            else:
                found.append(f"{r['macs']:.0f} MACs, its ONNX twin has {twin_macs[name.stem]:.0f}")
        judge(name.name, found)
    print(f"{len(results)} timm programs, {equal} of {len(twin_macs)} with an ONNX twin have its MACs")

    files, rows = models()
    counted = archives = 0
    results = dump.run([f for f in files if pathlib.Path(f).name not in GIVEN])
    for f in files:
        if pathlib.Path(f).name in GIVEN:
            results += dump.run([f], "--shape", GIVEN[pathlib.Path(f).name])
    for r in results:
        name = pathlib.Path(r["file"]).name
        if name.endswith(".pt"):
            archives += 1
            judge(name, unexported(r))
            continue
        found, row = flaws(r), rows.get(name)
        if r["status"] == "ok" and row and row["macs"]:
            if r["macs"] != float(row["macs"]):
                found.append(f"{r['macs']:.0f} MACs, {row['macs']} were counted in PyTorch")
            counted += 1
        judge(name, found)
    print(f"{len(files)} whole models, {counted} with MACs counted in PyTorch, {archives} TorchScript archives")

    corpus = [
        str(p) for kind in ("torchscript", "pt2") for p in sorted(shared("corpus", kind).rglob("*")) if p.is_file()
    ]
    archives = 0
    for r in dump.run(corpus):
        name = str(pathlib.Path(r["file"]).relative_to(shared("corpus")))
        if name.startswith("torchscript/"):
            archives += 1
            judge(name, unexported(r))
        else:
            judge(name, flaws(r))
    print(f"{len(corpus)} files of the corpus, {archives} TorchScript archives")
    for name in sorted(explained.keys() - judged):
        problems.append(f"{EXPLAINED.name} names {name}, which is not there")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
