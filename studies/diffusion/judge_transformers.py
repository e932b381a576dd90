#!/usr/bin/env python3
"""perfc on diffusion transformers on H100 and B200, times and energies, which nothing in it was fitted to
(docs/judged.md).

    python3 studies/diffusion/judge_transformers.py --models MODELS [--perfc build/release/perfc] [--cells]

Rows: ../shared/data/energy, ML.ENERGY v3 (Apache-2.0). MODELS is the folder that
`PYTHONPATH=python:studies/diffusion python -m perfc.export --format pt2 --device meta --out MODELS --list
studies/diffusion/transformers.txt` writes (torch, diffusers). A run is the transformer's forward passes; what encodes
the text and decodes the images is in the rows alone.
"""
import argparse
import collections
import csv
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402

ROWS = HERE.parent.parent.parent / "shared/data/energy/ml_energy_v3_leaderboard.csv.gz"
DEVICES = {"H100": "h100-sxm", "B200": "b200"}
# File, rows of its batch for an image or video (2: with and without the prompt), forward passes of a step.
MODELS = {
    "black-forest-labs/FLUX.1-dev": ("flux_dev", 1, 1),
    "stabilityai/stable-diffusion-3.5-large": ("sd35_large", 2, 1),
    "stabilityai/stable-diffusion-3.5-medium": ("sd35_medium", 2, 1),
    "PixArt-alpha/PixArt-Sigma-XL-2-1024-MS": ("pixart_sigma", 2, 1),
    "Efficient-Large-Model/SANA1.5_1.6B_1024px_diffusers": ("sana15_1_6b", 2, 1),
    "Efficient-Large-Model/SANA1.5_4.8B_1024px_diffusers": ("sana15_4_8b", 2, 1),
    "Tencent-Hunyuan/HunyuanDiT-v1.2-Diffusers": ("hunyuan_dit", 2, 1),
    "Wan-AI/Wan2.1-T2V-1.3B-Diffusers": ("wan_1_3b", 1, 2),
    "Wan-AI/Wan2.1-T2V-14B-Diffusers": ("wan_14b", 1, 2),
    "tencent/HunyuanVideo": ("hunyuan_video", 1, 1),
    "zai-org/CogVideoX-2b": ("cogvideox_2b", 2, 1),
    "zai-org/CogVideoX1.5-5B": ("cogvideox15_5b", 2, 1),
}


MASKED = "hunyuan_video"  # as exported, but not as xDiT runs it


def all_last(item):
    return item[0][0].startswith("all"), item[0]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=pathlib.Path, required=True)
    p.add_argument("--perfc", default="build/release/perfc")
    p.add_argument("--stack", default="pytorch-2", help="as perfc's; xDiT took FlashAttention-2: pytorch-2.10")
    p.add_argument("--cells", action="store_true", help="print each")
    args = p.parse_args()
    with gzip.open(ROWS, "rt", newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["model_id"] in MODELS and r["num_gpus"] == "1"]
    times, energies = collections.defaultdict(list), judging.Energies()
    for r in rows:
        name, per_image, passes = MODELS[r["model_id"]]
        device, batch = DEVICES[r["gpu_model"]], int(float(r["batch_size"]))
        runs = int(float(r["inference_steps"])) * passes
        ms = 1e3 * float(r["batch_latency_s"]) / runs
        joules = float(r["energy_per_image_joules"] or r["energy_per_video_joules"]) * batch / runs
        said = judging.predicted(args.perfc, args.models / f"{name}.pt2", "--batch", str(batch * per_image), "--device",
                                 device, "--dtype", "bf16", "--stack", args.stack, "--pacing", "queued")
        keys = [(name, device), *([("all but it", device)] if name != MASKED else [])]
        for key in keys:
            times[key].append(judging.beside(said, ms))
        watts, said_w = energies.add(keys, said, ms, joules)
        if args.cells:
            print(f"{name:15} {device:9} batch {batch:3} {ms:9.1f} ms a pass, perfc {said['latency_ms']:9.1f}, device "
                  f"{said['device_ms']:9.1f}; {watts:5.0f} W, perfc {said_w:5.0f}")
    print("\ntime\n")
    judging.print_table(["model", "device"], sorted(times.items(), key=all_last))
    energies.print(["model", "device"], all_last)


if __name__ == "__main__":
    main()
