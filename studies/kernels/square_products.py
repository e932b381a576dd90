#!/usr/bin/env python3
"""Square products that others timed, beside what perfc says of them, and what they sustain per W.

    python3 studies/kernels/square_products.py [--perfc build/release/perfc] [--part fit|judge]

square_products.tsv has them, from GPUs of which no other kernels were measured. From those of part `fit` are the shares
and TFLOP/s per W of `CHANGED` in product_table.py: of float32, the share and the epilogue that fit L4, A40 and RTX 4090
best; power is what 8,192 and more rows sustain on cards whose limit shows (RTX A2000 and A4000, L4). Products of 1,024
rows wait for the host on fast GPUs and are no part of the errors.
"""
import argparse
import csv
import json
import pathlib
import statistics
import tempfile

import emitted

HERE = pathlib.Path(__file__).resolve().parent
MODEL = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[({n}, {n}), float32] @x, %y: Tensor[({n}, {n}), float32] @y) {{
  %2 = nn.dense(%x, %y) @product;
  (%2)
}}
"""
LEAST, LONG = 2048, 8192  # rows: that tell the device's time, and whose clocks have settled


def load():
    with open(HERE / "square_products.tsv", newline="") as f:
        return list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    parser.add_argument("--part", choices=("fit", "judge"))
    args = parser.parse_args()
    sheets = {d["name"]: d for d in json.loads((HERE.parents[1] / "data/devices.json").read_text())["devices"]}
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in load():
            if args.part not in (None, row["part"]) or row["device"] not in sheets:
                continue
            ratios, sustained = [], []
            for n, measured in ((int(n), float(row[n])) for n in row if n.isdigit()):
                model = pathlib.Path(folder) / f"{n}.pir"
                model.write_text(MODEL.format(n=n))
                us = emitted.predicted_us(args.perfc, model, row["device"], row["dtype"], "kind", "matmul")
                tflops = 2e-6 * n**3 / us
                ratios.append(measured / tflops)
                if n >= LEAST:
                    errors.setdefault((row["part"], row["dtype"]), []).append(abs(ratios[-1] - 1) * 100)
                if n >= LONG:
                    sustained.append(measured / sheets[row["device"]]["tdp_w"])
            print(f"{row['part']:6}{row['device']:21}{row['dtype']:6}predicted / measured time by rows: " +
                  "  ".join(f"{r:.2f}" for r in ratios) + f"   {statistics.mean(sustained):.3f} TFLOP/s per W")
    for (part, dtype), e in sorted(errors.items()):
        print(f"{part}, {dtype}, {LEAST} rows and more: MAPE {statistics.mean(e):.1f} %, "
              f"median {statistics.median(e):.1f} % of {len(e)}")


if __name__ == "__main__":
    main()
