#!/usr/bin/env python3
"""What elementwise kernels and copies reach of a memory's bandwidth, by times that others published.

    python3 studies/kernels/streams.py

Prints each row of streams.tsv as a share of the data sheet's bandwidth, the median of each kind of memory, and what
data/devices.json has for devices of that kind (`streams`). Constants of that table are chosen by these rows alone:
GDDR6 and GDDR6X 0.905. GDDR7 0.83, below its median of 0.87, for PyTorch moves 8 bytes at a time there in 16 bits
(ATen, CUDALoops.cuh: 16 on Hopper and data-centre Blackwell alone), which costs an H100 7 to 13 %; a card whose
memory runs at 25 Gbit/s (RTX PRO 6000 Server) loses less, 0.865. Hopper's HBM3 0.88: H100's four rows of full width
have a median of 0.876, and an H200's own kernels take 0.88; other HBM, and GDDR with ECC in the same memory:
memory_bound.py, on measured kernels. AMD's 0.8: operators of 200 MB and more on MI100 and MI210 (NeuSight's,
../shared/data/ops_amd; printed where that is there), with which MI300X' rows agree.
"""
import collections
import csv
import gzip
import json
import pathlib
import statistics

ROWS = pathlib.Path(__file__).with_name("streams.tsv")
DEVICES = pathlib.Path(__file__).resolve().parents[2] / "data/devices.json"
SHIPPED = {
    "RTX 3090": "rtx3090", "RTX 4090": "rtx4090", "RTX 5090": "rtx5090", "RTX PRO 6000": "rtx-pro-6000",
    "RTX PRO 6000 Server": "rtx-pro-6000-server", "H100 SXM": "h100-sxm", "B200": "b200", "H200": "h200",
    "A100 80 GB SXM": "a100-80gb", "MI300X": "mi300x"
}
OPERATORS_AMD = ROWS.parents[3] / "shared/data/ops_amd"
AMD = {"mi100": "MI100", "mi210": "MI210"}
OPERATORS = {"add": 3, "mul": 3, "div": 3, "relu": 2, "tanh": 2, "gelu": 2}  # tensors that each reads and writes
LEAST_BYTES = 2e8


def share_of(path, tensors, peak_gb_s):
    """Of the bandwidth, the median of operators on float32 that move LEAST_BYTES or more."""
    shares = []
    with gzip.open(path, "rt", newline="") as f:
        for r in csv.DictReader(f):
            moved = 4 * tensors * float(r["B"]) * float(r["H"])
            if moved >= LEAST_BYTES:
                shares.append(moved / (float(r["Latency"]) * 1e-3) / 1e9 / peak_gb_s)
    return statistics.median(shares)


def main():
    table = json.loads(DEVICES.read_text())
    default = table["defaults"]["gpu"]["efficiency"]["bandwidth"]
    shipped = {
        d["name"]: d.get("efficiency", {}).get("bandwidth", d.get("streams", default))
        for d in table["devices"]
    }
    kinds = collections.defaultdict(list)
    with open(ROWS, newline="") as f:
        for r in csv.DictReader(f, delimiter="\t"):
            share = float(r["gb_s"]) / float(r["peak_gb_s"])
            kinds[r["memory"]].append(share)
            print(f"{r['device']:20} {r['kernel']:22} {r['bits']:>3} bit {share:.3f}, perfc "
                  f"{shipped[SHIPPED[r['device']]]:.3f}: {r['source']}")
    for kind, shares in kinds.items():
        print(f"{kind}: median {statistics.median(shares):.3f} of {len(shares)}")
    for name, title in AMD.items():
        peak = next(d["bandwidth_gb_s"] for d in table["devices"] if d["name"] == name)
        for operator, tensors in OPERATORS.items():
            path = OPERATORS_AMD / f"train__{operator}__AMD_Instinct_{title}.csv.gz"
            if path.exists():
                print(f"{title} {operator}: median {share_of(path, tensors, peak):.3f}, perfc {shipped[name]:.3f}")


if __name__ == "__main__":
    main()
