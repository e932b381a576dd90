#!/usr/bin/env python3
"""Products of diffusion transformers as others profiled them on an H100 SXM and a B200, beside what perfc says of them.

    python3 studies/kernels/transformer_products.py [--perfc build/release/perfc]

transformer_products.tsv: FLOPs of a model's dense layers by the time of cuBLASLt's kernels (Nsight Systems, September
2026; a public profile by the authors of fastvideo-rs, found by the kernels' names). `m`: rows; LTX runs 8 steps of the
first and 3 of the second. `products`: how many, k and n. On B200 fp8 is MXFP8, on H100 scaled by tensor. Nothing was
fitted to them.
"""
import argparse
import csv
import pathlib
import statistics
import tempfile

import emitted

HERE = pathlib.Path(__file__).resolve().parent
STEPS = (8, 3)  # of LTX's stages
MODEL = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[({m}, {k}), float32] @x) {{
  %1 = weight : Tensor[({k}, {n}), float32];
  %2 = nn.dense(%x, %1) @product;
  (%2)
}}
"""


def predicted_us(perfc, folder, row, m, k, n):
    model = pathlib.Path(folder) / "product.pir"
    model.write_text(MODEL.format(m=m, k=k, n=n))
    return emitted.predicted_us(perfc, model, row["device"], row["dtype"], "kind", "matmul")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    args = parser.parse_args()
    with open(HERE / "transformer_products.tsv", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            us = flops = 0
            for steps, m in zip(STEPS, map(int, row["m"].split())):
                for product in row["products"].split(","):
                    count, k, n = map(int, product.split())
                    us += steps * count * predicted_us(args.perfc, folder, row, m, k, n)
                    flops += 2 * steps * count * m * k * n
            ratio = float(row["pflops"]) / (flops / us / 1e9)
            errors.append(abs(ratio - 1) * 100)
            print(f"{row['device']:9} {row['dtype']:5} {row['model']:17} {row['pflops']} PFLOP/s, "
                  f"predicted / measured time {ratio:.2f}")
    print(f"MAPE {statistics.mean(errors):.1f} % of {len(errors)}")


if __name__ == "__main__":
    main()
