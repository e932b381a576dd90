#!/usr/bin/env python3
"""PyTorch's memory-efficient attention as its authors timed it, beside what perfc says of it.

    python3 studies/kernels/efficient_attention.py [--perfc build/release/perfc]

efficient_attention.tsv has the times. From those of part `fit` are `kEfficientHalf`, `kEfficientTf32` and
`kEfficientLanes` of whitebox/constants/attention.h: clocks of an SM per score, straight lines in the channels of a
head. In 16 bits on an A100 PyTorch runs that kernel where there is a mask, which is how those rows are predicted here:
they judge `kMaskedAttention`, which is from whole models.
"""
import argparse
import csv
import pathlib
import statistics
import tempfile

import emitted

HERE = pathlib.Path(__file__).resolve().parent
FLASH = "a100-40gb"  #: in 16 bits without a mask, a GPU for flash kernels


def rows():
    with open(HERE / "efficient_attention.tsv", newline="") as f:
        return list(csv.DictReader((line for line in f if not line.startswith("#")), delimiter="\t"))


def predicted_us(perfc, path, row):
    tokens, masked = row["tokens"], row["device"] == FLASH and row["dtype"] == "fp16"
    of_head = f"Tensor[({row['batch']}, {row['heads']}, {tokens}, {row['channels']}), float32]"
    operands = [(name, of_head) for name in "qkv"] + [("m", f"Tensor[(1, 1, {tokens}, {tokens}), float32]")] * masked
    path.write_text('#[version = "perfc-ir/1"]\ndef @main(' + ", ".join(f"%{n}: {t} @{n}" for n, t in operands) +
                    f") {{\n  %{len(operands)} = nn.sdpa(" + ", ".join(f"%{n}" for n, _ in operands) +
                    f") @attention;\n  (%{len(operands)})\n}}\n")
    return emitted.predicted_us(perfc, path, row["device"], row["dtype"], "operators", "nn.sdpa")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    args = parser.parse_args()
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows():
            measured = float(row["us"])
            ratio = predicted_us(args.perfc, pathlib.Path(folder, "attention.pir"), row) / measured
            batch, tokens, heads, channels = (int(row[x]) for x in ("batch", "tokens", "heads", "channels"))
            tflops = 4e-6 * batch * heads * tokens**2 * channels / measured
            key = (row["part"], row["device"], row["dtype"], row["source"])
            errors.setdefault(key, []).append(abs(ratio - 1) * 100)
            print(f"{row['part']:5} {row['device']:10} {row['dtype']} {batch:5} × {heads:3} heads of {channels:3}, "
                  f"{tokens:5} tokens: {measured:9.1f} µs, {tflops:5.1f} TFLOP/s, predicted / measured {ratio:.2f}  "
                  f"{row['source']}")
    for key, values in sorted(errors.items()):
        print(f"{', '.join(key)}: MAPE {statistics.mean(values):.1f} % of {len(values)}")


if __name__ == "__main__":
    main()
