#!/usr/bin/env python3
"""How well --runtime onnxruntime-cpu does on whole models that were measured on this machine (models.csv).

usage: judge.py --shared ../shared [--judge] [--device epyc-9004-2core] [--perfc build/release/perfc]

docs/judged.md has the rule: families whose CRC-32 is even may be looked at, the others judge. Fails where these have a
mean absolute error above 15 %.
"""
import argparse
import collections
import csv
import math
import pathlib
import statistics
import sys
import tarfile
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402

ROOT = HERE.parents[1]
MOST_PERCENT = 15


def judges(family: str) -> bool:
    return zlib.crc32(family.encode()) % 2 == 1


def unpack(shared: pathlib.Path, folder: pathlib.Path, wanted: set[str]) -> None:
    for archive in (shared / "graphs" / "timm.tar.xz", shared / "frameworks" / "models.tar.xz", HERE / "models.tar.xz"):
        with tarfile.open(archive) as tar:
            for member in tar:
                if pathlib.Path(member.name).name in wanted:
                    member.name = pathlib.Path(member.name).name
                    tar.extract(member, folder, filter="data")


def predicted(perfc: str, file: pathlib.Path, device: str, row: dict) -> dict:
    return judging.predicted(perfc, file, "--batch", row["batch"], "--runtime", "onnxruntime-cpu", "--device",
                             f"{device}:{row['threads']}t", "--top", "0")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--judge", action="store_true", help="the families that judge, not those that may be looked at")
    parser.add_argument("--device", default="epyc-9004-2core")
    parser.add_argument("--perfc", default=str(ROOT / "build" / "release" / "perfc"))
    args = parser.parse_args()
    with open(HERE / "models.csv", newline="") as f:
        rows = [r for r in csv.DictReader(f) if judges(r["family"]) == args.judge]
    by_threads, by_model = collections.defaultdict(list), collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        unpack(args.shared, folder, {r["file"] for r in rows})
        for r in rows:
            p, ms = predicted(args.perfc, folder / r["file"], args.device, r), float(r["latency_ms"])
            ratio, inside = judging.beside(p, ms)
            by_threads[r["threads"]].append((ratio, inside))
            by_model[r["model"], r["family"]].append((r["batch"], r["threads"], ms, ratio))
    for (model, family), found in sorted(by_model.items()):
        print(f"{model:34} {family:20}"
              + "  ".join(f"b{b} {t}t {ms:8.2f} ms {ratio:4.2f}" for b, t, ms, ratio in found))
    print("\n| threads | runs | MAPE | median predicted / measured | 90 % of errors within | inside the interval |")
    print("|---|---|---|---|---|---|")
    everything = [x for ratios in by_threads.values() for x in ratios]
    for threads, ratios in [*sorted(by_threads.items()), ("all", everything)]:
        mape = 100 * statistics.mean(abs(r - 1) for r, _ in ratios)
        errors = sorted(abs(math.log(r)) for r, _ in ratios)
        print(f"| {threads} | {len(ratios)} | {mape:.1f} % | {statistics.median(r for r, _ in ratios):.2f} | "
              f"× {math.exp(errors[math.ceil(0.9 * len(errors)) - 1]):.2f} | "
              f"{100 * statistics.mean(i for _, i in ratios):.0f} % |")
    if args.judge and mape > MOST_PERCENT:
        print(f"PROBLEM more than {MOST_PERCENT} %")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
