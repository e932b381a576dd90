#!/usr/bin/env python3
"""Damaged and hostile files: a diagnostic and exit code 1, within time and memory.

usage: robustness_test.py [--flips N] [--seed S]    ($PERFC_BUILD: another build tree)

- truncation of real files at every 1/50: refused wherever the graph is cut
- random byte flips, seeded: imports or is refused, and what imports verifies
- hostile.py, hostile_ir.py, hostile_tf.py, hostile_torch.py: cycles, zip bombs, self-referential functions, a million
  nested regions, absurd repeats …: refused with the right words
Limits (CPU seconds, memory) are those of perfc_import_dump.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "corpus")]
import dump  # noqa: E402
import hostile  # noqa: E402
import hostile_ir  # noqa: E402
import hostile_tf  # noqa: E402
import hostile_torch  # noqa: E402
from support import IMPORT_DUMP, PERFC, RELEASE, ROOT, shared_folder, skip, skip_part  # noqa: E402
from wire import graph_end  # noqa: E402

BROKEN = ("crashed", "timeout", "memory")
STEPS = 50
CORPUS_SEEDS = 25
TF_SEEDS = 12
TORCH_SEEDS = 12


def seeds() -> dict[str, bytes]:
    """The example, a text model, and where ../shared is here a spread of its corpus."""
    paths = [ROOT / "examples" / "resnet50.onnx", *sorted((HERE / "seeds").iterdir())]
    for folder, pattern, seeds in (("onnx", "*.onnx*", CORPUS_SEEDS), ("tf_bin", "*.pb", TF_SEEDS),
                                   ("tf_text", "*.pbtxt", TF_SEEDS)):
        small = sorted(p for p in (shared_folder() / "corpus" / folder).rglob(pattern) if p.stat().st_size < 20_000)
        paths += small[:: max(len(small) // seeds, 1)]
    files = {f"{i}-{p.name}": p.read_bytes() for i, p in enumerate(paths)}
    operators = (ROOT / "tests" / "torch" / "operators.jsonl").read_bytes().splitlines()
    files |= {f"{i}-operator.json": line for i, line in enumerate(operators[:: len(operators) // TORCH_SEEDS])}
    return files | {
        "exported.pt2": hostile_torch.packed(hostile_torch.exported()), "small.xml": hostile_ir.small_xml().encode(),
        "small.keras": hostile_ir.packed(hostile_ir.small_config())
    }


def truncated(files):
    for name, data in files.items():
        end = graph_end(data) if name.endswith(".onnx") else len(data)
        for step in range(1, STEPS):
            cut = len(data) * step // STEPS
            expected = "" if cut < end and name.endswith(".onnx") else None
            yield f"cut-{step:02d}-{name}", data[:cut], expected


def flipped(files, count, random_):
    for i in range(count):
        name, data = random_.choice(sorted(files.items()))
        damaged = bytearray(data)
        for _ in range(random_.choice([1, 1, 2, 8, 64])):
            damaged[random_.randrange(len(damaged))] = random_.randrange(256)
        yield f"flip-{i:04d}-{name}", bytes(damaged), None


def flipped_programs(count, random_):
    """Whole archives around a damaged program: damage to an archive hardly ever gets past its checksums."""
    program, config = (json.dumps(p).encode() for p in (hostile_torch.exported(), hostile_ir.small_config()))
    for i in range(count):
        for suffix, whole, pack in (("pt2", program, hostile_torch.packed), ("keras", config, hostile_ir.packed)):
            damaged = bytearray(whole)
            for _ in range(random_.choice([1, 1, 2, 8])):
                damaged[random_.randrange(len(damaged))] = random_.randrange(256)
            yield f"flip-{i:04d}-program.{suffix}", pack(bytes(damaged)), None


def judge(result, expected) -> str | None:
    if result["status"] in BROKEN:
        return f"{result['status']}: {' '.join(result['errors'])}"
    if result["status"] == "ok":
        if expected is not None:
            return "imports; it must be refused"
        return f"the verifier says: {result['verify'][0]}" if result["verify"] else None
    if expected and not any(expected in e for e in result["errors"]):
        return f"{result['errors'][0]}\n    should say: {expected}"
    return None if all("error: " in e for e in result["errors"]) else "a diagnostic without 'error: '"


def whole_program(paths) -> list[str]:
    """perfc itself: exit code 1, nothing on stdout, a message on stderr."""
    problems = []
    for path in paths:
        done = subprocess.run([PERFC, path], capture_output=True, timeout=1200)
        if done.returncode != 1 or done.stdout or b"error: " not in done.stderr:
            problems.append(f"perfc {path.name}: exit {done.returncode}, {len(done.stdout)} bytes on stdout, "
                            f"stderr {done.stderr[:200]!r}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    if not IMPORT_DUMP.exists():
        if RELEASE.name == "fuzz" and not shutil.which("clang++"):
            skip("clang++ is not installed")
        sys.exit(f"{IMPORT_DUMP} is not built")
    folder = RELEASE / "robustness"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    if not (shared_folder() / "corpus").exists():
        skip_part(f"{shared_folder() / 'corpus'} is not here; only the repository's files are damaged")
    files = seeds()
    cases = [*truncated(files), *flipped(files, args.flips, random.Random(args.seed)),
             *flipped_programs(args.flips // 10, random.Random(args.seed)),
             *((f"{n}.onnx", data, says) for n, (data, says) in hostile.BINARY.items()),
             *((f"{n}.onnxtxt", text.encode(), says) for n, (text, says) in hostile.TEXT.items()),
             *((f"{n}.pbtxt", text.encode("latin-1"), says) for n, (text, says) in hostile_tf.TEXT.items()),
             *((f"{n}.json", text.encode("latin-1"), says) for n, (text, says) in hostile_torch.SCRIPTS.items()),
             *((f"{n}.pt2", data, says) for n, (data, says) in hostile_torch.ARCHIVES.items()),
             *((f"{n}.xml", text.encode(), says) for n, (text, says) in hostile_ir.NETS.items()),
             *((f"{n}.mlir", text.encode(), says) for n, (text, says) in hostile_ir.MLIR.items()),
             *((f"{n}.keras", data, says) for n, (data, says) in hostile_ir.KERAS.items())]
    expected = {}
    for name, data, says in cases:
        (folder / name).write_bytes(data)
        expected[str(folder / name)] = says
    results = dump.run(list(expected))
    problems = [f"{pathlib.Path(r['file']).name}: {bad}" for r in results if (bad := judge(r, expected[r["file"]]))]
    if PERFC.exists():
        problems += whole_program(pathlib.Path(p) for p, says in expected.items()
                                  if says is not None and not pathlib.Path(p).name.startswith(("cut", "flip")))
    refused = sum(r["status"] == "refused" for r in results)
    print(f"{len(results)} files: {refused} refused, {len(results) - refused} import; at most "
          f"{max(r['rss_mib'] for r in results):.0f} MiB, {max(r['cpu_ms'] for r in results):.0f} ms")
    for p in problems:
        print("PROBLEM", p)
    if not problems:
        shutil.rmtree(folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
