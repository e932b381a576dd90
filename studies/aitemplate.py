#!/usr/bin/env python3
"""Judges perfc on ResNet-50, vision transformers and BERT in fp16 on an A100 and on one die of an MI250.

    PYTHONPATH=python build/venv-oracle/bin/python studies/aitemplate.py export --models build/aitemplate
    python3 studies/aitemplate.py judge --models build/aitemplate [--perfc build/release/perfc] [--host server-2020]

export needs torch==2.13.0, timm and transformers. studies/aitemplate.tsv has PyTorch 1.12's eager latencies as
AITemplate's authors list them (facebookincubator/AITemplate, examples/01_resnet-50, 03_bert and 04_vit, README.md,
Apache-2.0): A100 of 40 GB with CUDA 11.6, MI250 with ROCm 5.2.3 at 1,700 MHz. Nothing in perfc was fitted to these
rows. Attention is written out, as it was then. Every look is a row of docs/judged.md.
"""
import argparse
import collections
import csv
import os
import pathlib

import judging

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKENS = {f"bert_{n}": n for n in (64, 128, 384, 1024, 4096)}
TIMM = ("resnet50", "vit_base_patch16_224", "vit_large_patch16_384")


def timm_model(name, torch):
    import timm
    return timm.create_model(name).eval(), torch.rand(2, 3, *timm.get_pretrained_cfg(name).input_size[1:])


def bert(tokens, torch):
    """Its encoder alone, as examples/03_bert/benchmark_pt.py times it."""
    from transformers import BertConfig, BertModel

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            config = BertConfig(max_position_embeddings=max(512, tokens), attn_implementation="eager")
            self.encoder = BertModel(config).encoder

        def forward(self, hidden):
            return self.encoder(hidden)[0]

    return Encoder().eval(), torch.rand(2, tokens, 768)


def export(args):
    os.environ["TIMM_FUSED_ATTN"] = "0"
    import torch
    for name in ("nms", "qnms"):  # a CPU build of torch cannot load torchvision's
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from perfc.export import exported
    args.models.mkdir(parents=True, exist_ok=True)
    for name in (*TIMM, *TOKENS):
        model, example = bert(TOKENS[name], torch) if name in TOKENS else timm_model(name, torch)
        exported.export_archive(model, (example,), str(args.models / f"{name}.pt2"))


def judge(args):
    found = collections.defaultdict(list)
    with open(ROOT / "studies/aitemplate.tsv", newline="") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            said = judging.predicted(args.perfc, args.models / f"{row['model']}.pt2", "--batch", row["batch"],
                                     "--device", row["device"], "--dtype", "fp16", "--predictor", args.predictor,
                                     "--pacing", "queued", *judging.host(args))
            bound = "host" if judging.is_host_bound(said) else "device"
            beside = judging.beside(said, float(row["ms"]))
            found[row["device"], bound, row["model"].split("_")[0]].append(beside)
            if args.verbose:
                print(row["device"], row["model"], row["batch"], row["ms"], f"{said['latency_ms']:.2f}",
                      f"{said['device_ms']:.2f}", f"{beside[0]:.2f}", bound)
    for key in sorted(found):
        found[(*key[:2], "all")] = found.get((*key[:2], "all"), []) + found[key]
    judging.print_table(["device", "bound by", "models"], sorted(found.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("export", "judge"))
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--perfc", type=pathlib.Path, default=ROOT / "build/release/perfc")
    parser.add_argument("--predictor", default="default")
    parser.add_argument("--host", help="as perfc's [the device's]")
    parser.add_argument("--verbose", action="store_true", help="print each row")
    args = parser.parse_args()
    export(args) if args.what == "export" else judge(args)


if __name__ == "__main__":
    main()
