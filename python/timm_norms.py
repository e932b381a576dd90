"""Which of timm's networks have norms that `--fast-norm` computes in 16 bits: data/timm_norms.tsv, for perfc.dataset.

    pip install torch==2.13.0 timm==1.0.9 && python3 python/timm_norms.py ../shared/graphs/families.tsv > 9.tsv
    pip install timm==1.0.24 && python3 python/timm_norms.py ../shared/graphs/families.tsv > 24.tsv
    paste 9.tsv <(cut -f 2 24.tsv) > data/timm_norms.tsv

timm's own norm classes obey `--fast-norm` ("fast"), torch.nn's do not ("plain"), and between the versions that made the
runs of 2024 and 2025 networks moved from one to the other. A few have both: the first norm, which the stream of tokens
comes out of, decides in which width that is kept, and so counts. A network may have none, batch norms aside, and "-" is
one that the version lacks.
"""
import csv
import sys

import timm
import torch

from perfc import files


def norms(name):
    if not timm.is_model(name):
        return "-"
    for m in timm.create_model(name).modules():
        if hasattr(m, "_fast_norm") or hasattr(
                m, "fast_norm") or type(m).__name__ == "RmsNorm":  # of its own, in its data's width
            return "fast"
        if type(m) in (torch.nn.LayerNorm, torch.nn.GroupNorm):
            return "plain"
    return "none"


def main():
    with open(sys.argv[1], newline="") as f:
        names = sorted({r["arch"] for r in csv.DictReader(f, delimiter="\t")})
    print("arch", "timm_" + timm.__version__.replace(".", "_"), sep="\t")
    for name in names:
        print(name, norms(name), sep="\t", flush=True)


if __name__ == "__main__":
    files.exit_with(main)
