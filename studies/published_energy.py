#!/usr/bin/env python3
"""Energy of inference as perfc predicts it, beside what ML.ENERGY measured on A100, A40, V100 and H100; prints, fits
nothing.

    python3 studies/published_energy.py [--perfc build/release/perfc] [--cells]

Rows (../shared/data/energy, Apache-2.0): openjourney-v4, whose UNet is Stable Diffusion 1.5's
(studies/diffusion/unet.pir.xz), 25 steps in float16 with guidance, so two of a batch an image; what comes before and
behind them (a text encoder, the decoder of images) is in the rows alone. And answers of chat models of Llama's
architecture, one at a time, in float16 by transformers: a step at half of the answer, eager.
"""
import argparse
import csv
import lzma
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judging  # noqa: E402
from language_model_pir import forward  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared/data/energy"
UNETS = {"NVIDIA A100-SXM4-40GB": "a100-40gb", "NVIDIA H100 80GB HBM3": "h100-sxm"}
UNET_STEPS = 25
CHAT_GPUS = {"A100": "a100-40gb", "A40": "a40", "V100": "v100-16gb"}
LLAMA_7B, LLAMA_13B = (32, 4096, 32, 32, 128, 11008, 32000), (40, 5120, 40, 40, 128, 13824, 32000)
CHAT = {  # their config.json; sizes in 16 bits
    "metaai/llama-7B": LLAMA_7B, "lmsys/vicuna-7B": LLAMA_7B, "tatsu-lab/alpaca-7B": LLAMA_7B,
    "BAIR/koala-7b": LLAMA_7B, "metaai/llama-13B": LLAMA_13B, "lmsys/vicuna-13B": LLAMA_13B,
    "BAIR/koala-13b": LLAMA_13B
}


def unets(perfc, folder):
    """(device, whether more than an image, prediction of a step, ms, J of one as measured)"""
    path = folder / "unet.pir"
    path.write_bytes(lzma.decompress((ROOT / "studies/diffusion/unet.pir.xz").read_bytes()))
    with open(DATA / "ml_energy_v2_leaderboard.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["Model"] != "prompthero/openjourney-v4":
                continue
            images, device = int(float(r["Batch size"])), UNETS[r["GPU"]]
            said = judging.predicted(perfc, path, "--batch", str(2 * images), "--device", device, "--dtype", "fp16")
            yield (device, "UNet, one image" if images == 1 else "UNet, 2 to 64 images", said,
                   1e3 * float(r["Batch latency (s)"]) / UNET_STEPS, float(r["Energy/image (J)"]) * images / UNET_STEPS)


def answers(perfc, folder):
    """The same of a token."""
    with open(DATA / "ml_energy_v1_legacy.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["model"] not in CHAT:
                continue
            tokens, device = float(r["response_length"]), CHAT_GPUS[r["gpu"]]
            path = folder / "step.pir"
            path.write_text(forward(1, 1, max(round(tokens / 2), 1), *CHAT[r["model"]]))
            said = judging.predicted(perfc, path, "--device", device, "--dtype", "fp16")
            yield device, "chat, a token", said, 1e3 * float(r["latency"]) / tokens, float(r["energy"]) / tokens


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--cells", action="store_true", help="print each")
    args = p.parse_args()
    energies = judging.Energies()
    with tempfile.TemporaryDirectory() as folder:
        for device, what, said, ms, joules in (*unets(args.perfc, pathlib.Path(folder)),
                                               *answers(args.perfc, pathlib.Path(folder))):
            watts, said_w = energies.add([(what, device)], said, ms, joules)
            if args.cells:
                print(f"{what} {device:10} {ms:8.2f} ms {joules:8.3f} J {watts:4.0f} W; perfc "
                      f"{said['latency_ms']:8.2f} ms {said['energy_j']:8.3f} J {said_w:4.0f} W")
    energies.print(["", "device"])


if __name__ == "__main__":
    main()
