#!/usr/bin/env python3
"""Judges perfc on transformers' models as others timed them, on GPUs from P4 to H100 and MI250: nothing was fitted.

    PYTHONPATH=python /tmp/venv/bin/python studies/huggingface_models.py --out build/huggingface
    python3 studies/huggingface.py --models build/huggingface [--perfc build/release/perfc] [--verbose]

studies/huggingface.tsv has the rows. neusight: whole language models in float32 with attention written out, the mean
of the five fastest of 25 runs (sitar-lab/NeuSight, scripts/asplos/label, MIT; MI250's are of one of its two dies), and
their compiled runs (its summary/fusion_inf.csv). transformers: vision models with PyTorch 2.0.1 as it is by default,
the mean of 300 runs (docs/source/en/perf_torch_compile.md of huggingface/transformers, Apache-2.0); without
Mask2Former, OWL-ViT and Conditional DETR, which torch 2.13 cannot export. inductor: training steps (forward, backward,
SGD) on an A100, eager and by TorchInductor without CUDA graphs, PyTorch of December 2022 to March 2023 (its
dashboards: pytorch/torchdynamo #1831, pytorch/pytorch #93517, #96191, #96192), of the rows that we could read those
whose inputs are token ids alone. lambda: training steps on twelve GPUs by NVIDIA's DeepLearningExamples with PyTorch
1.13, BERT on SQuAD and ResNet-50 on synthetic images (lambdal/deeplearning-benchmark, pytorch/*.csv and config_v1/).

Every look is a row of docs/judged.md. What is seen here must not change the program: a set that is fitted to judges
nothing any more. lambda's rows made us look for profiles of training, and judge less since.
"""
import argparse
import collections
import csv
import pathlib

import judging

ROOT = pathlib.Path(__file__).resolve().parent.parent


def predicted(args, row):
    """A row's prediction, as perfc's JSON has it."""
    file, = args.models.glob(f"{row['model']}-{row['batch']}.*")
    return judging.predicted(args.perfc, file, "--device", row["device"], "--dtype", row["dtype"], "--mode",
                             row["mode"], "--task", row["task"], "--optimizer", "sgd", "--predictor", args.predictor,
                             *args.option)


def counted_under(row):
    """Who measured a row, where and how, and whether its batch is so small that hosts bound many."""
    return row["source"], row["device"], row["dtype"], row["mode"], "1" if row["batch"] == "1" else "more"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--perfc", type=pathlib.Path, default=ROOT / "build/release/perfc")
    parser.add_argument("--predictor", default="default")
    parser.add_argument("--option", action="append", default=[], help="of perfc's, as --option=--host=desktop")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    found = collections.defaultdict(list)
    with open(ROOT / "studies/huggingface.tsv", newline="") as f:
        for row in csv.DictReader(f, delimiter="\t"):
            p = predicted(args, row)
            measured = float(row["ms"])
            found[counted_under(row)].append(judging.beside(p, measured))
            if args.verbose:
                low, high = p["latency_ms_interval"]
                print(f"{row['source']:12} {row['device']:14} {row['mode']:8} {row['model']:22} "
                      f"batch {row['batch']:>2} measured {measured:8.2f} ms, "
                      f"predicted ÷ measured {p['latency_ms'] / measured:.2f}, "
                      f"interval {low / measured:.2f} to {high / measured:.2f}", flush=True)
    judging.print_table(["source", "device", "dtype", "mode", "batch"], sorted(found.items()))


if __name__ == "__main__":
    main()
