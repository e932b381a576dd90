#!/usr/bin/env python3
"""parse(print(g)) == g for every file of the corpus that imports, the example and a
spread of the timm graphs (all of them with --all)."""
import argparse
import concurrent.futures
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from corpus_test import files_and_root  # noqa: E402
from support import RELEASE, ROOT  # noqa: E402
from timm_test import SPREAD, unpack  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    corpus, _ = files_and_root()
    timm = sorted(str(p) for p in unpack().rglob("*.onnx"))
    files = [str(ROOT / "examples" / "resnet50.onnx"), *corpus, *timm[::1 if args.all else max(len(timm) // SPREAD, 1)]]

    def run(part):
        return subprocess.run([RELEASE / "tests" / "perfc_roundtrip"], input="\n".join(part), text=True,
                              capture_output=True)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = list(pool.map(run, [files[0::2], files[1::2]]))
    for part in done:
        print(part.stdout.strip())
    return 1 if any(part.returncode for part in done) else 0


if __name__ == "__main__":
    sys.exit(main())
