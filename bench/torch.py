#!/usr/bin/env python3
"""How fast PyTorch programs are read, beside Python's own readers, in one run.

usage: torch.py [FILE…]      default: the largest of ../shared/frameworks, and 10 MB of JSON made of one

Megabytes of JSON text per second, the best of several rounds each: Python's json.load
(of .pt2: zipfile and json.load), perfc's document (simdjson), and perfc's
program, which is what the lowering starts from. `import` is the whole way to a typed graph.
"""
import copy
import io
import json
import lzma
import pathlib
import subprocess
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from support import BUILD, RELEASE, shared  # noqa: E402

ROUNDS = 5
TARGET_MB_S = 100
REAL = ("torchscript/maxvit_t.trace.json.xz", "torchscript/llama_1b.trace.json.xz", "pt2/llama_1b.pt2",
        "pt2/convnext_tiny.pt2")


def lengthened(program: dict, size: int) -> dict:
    """The program, repeated until it has `size` bytes: every copy computes beside the others."""
    copies = size // len(json.dumps(program)) + 1
    nodes, inner = [], {v["name"] for n in program["nodes"] for v in n["outputs"]}
    for i in range(copies):
        for node in copy.deepcopy(program["nodes"]):
            node["inputs"] = [f"{name}/{i}" if name in inner else name for name in node["inputs"]]
            for value in node["outputs"]:
                value["name"] += f"/{i}"
            nodes.append(node)
    ends = [o if isinstance(o, str) else o["name"] for o in program["outputs"]]
    return {**program, "nodes": nodes, "outputs": [f"{name}/{i}" for name in ends for i in range(copies)]}


def files() -> list[str]:
    folder = BUILD / "bench-models"
    folder.mkdir(parents=True, exist_ok=True)
    out = []
    with tarfile.open(shared("frameworks", "models.tar.xz")) as tar:
        for member in tar:
            name = "/".join(pathlib.PurePosixPath(member.name).parts[-2:])
            if name not in REAL:
                continue
            data = tar.extractfile(member).read()
            path = folder / pathlib.Path(name).name.removesuffix(".xz")
            path.write_bytes(lzma.decompress(data) if name.endswith(".xz") else data)
            out.append(str(path))
            if name == REAL[0]:
                long = folder / "maxvit_10mb.json"
                long.write_text(json.dumps(lengthened(json.loads(path.read_text()), 10_000_000)))
                out.append(str(long))
    return out


def python_reads(path: str) -> tuple[int, float]:
    """Bytes of JSON, and seconds of the fastest round."""
    raw = pathlib.Path(path).read_bytes()
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        if raw.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                text = archive.read(next(n for n in archive.namelist() if "/models/" in n and n.endswith(".json")))
        else:
            text = raw
        json.load(io.BytesIO(text))
        best = min(best, time.perf_counter() - start)
    return len(text), best


def main() -> int:
    chosen = sys.argv[1:] or files()
    done = subprocess.run([RELEASE / "perfc_torch_bench", *chosen], capture_output=True, text=True)
    if done.returncode:
        print(f"perfc_torch_bench: exit {done.returncode}: {done.stderr}", file=sys.stderr)
        return 1
    print(f"{'file':28} {'MB':>6} {'json.load':>10} {'document':>9} {'program':>8} {'import':>10}")
    slow = 0
    for line in done.stdout.splitlines():
        row = json.loads(line)
        size, seconds = python_reads(row["file"])
        slow += row["program"] < TARGET_MB_S
        print(f"{pathlib.Path(row['file']).name:28} {size / 1e6:6.2f} {size / 1e6 / seconds:10.0f} {row['text']:9.0f} "
              f"{row['program']:8.0f} {row['import_ms']:7.2f} ms")
    print(f"{slow} files below {TARGET_MB_S} MB/s")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
