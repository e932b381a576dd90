"""Which of timm's networks have norms that `--fast-norm` computes in 16 bits: data/timm_norms.tsv, for perfc.dataset.

    pip install torch==2.13.0 timm==VERSION && python3 python/timm_norms.py ../shared/graphs/families.tsv > VERSION.tsv

timm's own norm classes obey `--fast-norm`, torch.nn's do not, and between the versions that made the runs of 2024
(1.0.9) and 2025 (1.0.24) networks moved from one to the other. A network counts by the majority of its norms.
The table in data/ joins the two versions' outputs by architecture; where a version lacks it, there is a `-`.
"""
import csv
import sys

import timm
import torch


def norms(model):
    """(norms that obey `--fast-norm`, others), without batch norms."""
    fast = sum(hasattr(m, "_fast_norm") for m in model.modules())
    plain = sum(type(m) in (torch.nn.LayerNorm, torch.nn.GroupNorm) for m in model.modules())
    return fast, plain


def main():
    with open(sys.argv[1], newline="") as f:
        names = sorted({r["arch"] for r in csv.DictReader(f, delimiter="\t")})
    print("arch\tfast\tplain")
    for name in names:
        if timm.is_model(name):
            print(name, *norms(timm.create_model(name)), sep="\t")


if __name__ == "__main__":
    main()
