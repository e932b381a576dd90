#!/usr/bin/env python3
"""perfc on the UNet of Stable Diffusion on five GPUs, which nothing in it was fitted to (docs/judged.md).

    python3 studies/diffusion/judge.py [--perfc build/release/perfc] [--verbose]

measured.tsv has what was published, unet.pir.xz the graph (make_unet.py).
"""
import argparse
import collections
import csv
import lzma
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402

RUNTIMES = {"eager": "pytorch", "compiled": "torch-compile"}
LARGE = 4  # images from which no host waits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    with open(HERE / "measured.tsv", newline="") as f:
        rows = list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))
    found = collections.defaultdict(list)
    with tempfile.NamedTemporaryFile(suffix=".pir") as model:
        model.write(lzma.decompress((HERE / "unet.pir.xz").read_bytes()))
        model.flush()
        for row in rows:
            for mode, runtime in RUNTIMES.items():
                images, measured_ms = int(row["images"]), 1e3 / float(row[mode])
                p = judging.predicted(args.perfc, model.name, "--batch", str(2 * images), "--device", row["device"],
                                      "--dtype", "fp16", "--layout", "nhwc", "--runtime", runtime, "--pacing", "queued")
                ratio, inside = judging.beside(p, measured_ms)
                size = f"{LARGE} images and more" if images >= LARGE else "one image"
                found[row["device"], size].append((ratio, inside))
                if args.verbose:
                    print(f"{row['device']:10} {images:2} images {mode:8} measured {measured_ms:7.1f} ms, "
                          f"predicted / measured {ratio:.2f}, {'inside' if inside else 'outside'} the interval")
    judging.print_table(["device", "images"], found.items())


if __name__ == "__main__":
    main()
