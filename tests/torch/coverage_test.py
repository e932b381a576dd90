#!/usr/bin/env python3
"""Which PyTorch operators `perfc ops` tells of: those of TVM's converter (tvm_operators.txt)
and every one in the TorchScript and .pt2 files of ../shared, if that is here.

An in-place form (`relu_`, `__iand__`) is read where the plain form is.
"""
import json
import lzma
import pathlib
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import PERFC, shared_folder, skip_part  # noqa: E402

# Read, but their cost is not known: one reason each.
WITHOUT_COST = {"aten::inverse": "a factorisation; LAPACK's work depends on the library"}
MIN_TVM = 266


def rows() -> dict[str, str]:
    out = subprocess.run([PERFC, "ops", "--json"], capture_output=True, text=True, check=True).stdout
    return {row["op"]: row["becomes"] for row in json.loads(out)["frontends"]["torch"]}


def plain(name: str) -> str:
    """The operator whose row an in-place form shares."""
    space, _, base = name.partition("::")
    if base.startswith("__i") and base.endswith("__"):
        return f"{space}::__{base[3:]}"
    return name[:-1] if base.endswith("_") and not base.endswith("__") else name


def operators(nodes) -> set[str]:
    found = set()
    for node in nodes:
        found.add(node["op"])
        for block in node.get("blocks", ()):
            found |= operators(block["nodes"])
    return found


def in_shared() -> set[str]:
    """Operators of the TorchScript JSON files of ../shared/frameworks."""
    archive = shared_folder() / "frameworks" / "models.tar.xz"
    found = set()
    if not archive.exists():
        skip_part(f"{archive} is not here; only the list is checked")
        return found
    with tarfile.open(archive) as tar:
        for member in tar:
            if "torchscript/" in member.name and member.name.endswith(".json.xz"):
                found |= operators(json.loads(lzma.decompress(tar.extractfile(member).read()))["nodes"])
    return found


def main() -> int:
    known = rows()
    lines = (HERE / "tvm_operators.txt").read_text().splitlines()
    tvm = [name for line in lines if not line.startswith("#") for name in line.split()]
    problems = [f"{name} stands twice in tvm_operators.txt" for name in set(tvm) if tvm.count(name) > 1]
    if len(tvm) < MIN_TVM:
        problems.append(f"{len(tvm)} operators in tvm_operators.txt, {MIN_TVM} are to be accounted for")
    used = in_shared()
    for name in sorted(set(tvm) | used):
        becomes = known.get(name, known.get(plain(name)))
        if becomes is None:
            problems.append(f"{name} is not read")
        elif "opaque" in becomes.split() and name not in WITHOUT_COST:
            problems.append(f"{name} is opaque and has no reason")
    print(f"{len(known)} operators are read; {len(tvm)} of TVM's, {len(used)} in ../shared/frameworks")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
