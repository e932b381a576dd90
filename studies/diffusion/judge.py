#!/usr/bin/env python3
"""perfc on the UNet of Stable Diffusion on five GPUs, which nothing in it was fitted to (docs/judged.md).

    python3 studies/diffusion/judge.py [--perfc build/release/perfc] [--verbose]

measured.tsv has what was published, unet.pir.xz the graph (make_unet.py).
"""
import argparse
import csv
import json
import lzma
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUNTIMES = {"eager": "pytorch", "compiled": "torch-compile"}
LARGE = 4  # images from which no host waits


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    with open(HERE / "measured.tsv", newline="") as f:
        rows = list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))
    found = {}
    with tempfile.NamedTemporaryFile(suffix=".pir") as model:
        model.write(lzma.decompress((HERE / "unet.pir.xz").read_bytes()))
        model.flush()
        for row in rows:
            for mode, runtime in RUNTIMES.items():
                images, measured_ms = int(row["images"]), 1e3 / float(row[mode])
                text = subprocess.check_output(
                    [args.perfc, model.name, "--batch", str(2 * images), "--device", row["device"], "--dtype", "fp16",
                     "--layout", "nhwc", "--runtime", runtime, "--json", "--quiet"], text=True)
                p = json.loads(text)["predictions"][0]
                low, high = p["latency_ms_interval"]
                ratio, inside = p["latency_ms"] / measured_ms, low <= measured_ms <= high
                size = f"{LARGE} images and more" if images >= LARGE else "one image"
                found.setdefault((row["device"], size), []).append((ratio, inside))
                if args.verbose:
                    print(f"{row['device']:10} {images:2} images {mode:8} measured {measured_ms:7.1f} ms, "
                          f"predicted / measured {ratio:.2f}, {'inside' if inside else 'outside'} the interval")
    print("| device | | runs | MAPE | median predicted ÷ measured | in the 90 % interval |\n|---|---|---|---|---|---|")
    for (device, size), runs in found.items():
        ratios = [ratio for ratio, _ in runs]
        print(f"| {device} | {size} | {len(runs)} | {100 * statistics.mean(abs(r - 1) for r in ratios):.1f} | "
              f"{statistics.median(ratios):.2f} | {sum(inside for _, inside in runs)} of {len(runs)} |")


if __name__ == "__main__":
    main()
