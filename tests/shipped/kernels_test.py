#!/usr/bin/env python3
"""Kernels that others measured on data-centre GPUs, priced as a model's are: by the device's entry, the choice of a
kernel, its law and what is learned beyond it. The studies that fit these laws give them a device's facts themselves,
so that only this sees a fact that the program does not take from the entry.

usage: kernels_test.py                                      the test
       PERFC_SHARED=../shared kernels_test.py --update      writes measured_kernels.tsv (numpy, pandas, scipy, numba)

measured_kernels.tsv: NVIDIA's timings (ai-dynamo/aiconfigurator@095f58a, Apache-2.0; shared/data/datacenter), in
bfloat16, of at least 200 µs, since launches are not in all of them: dense products, and causal, whole and single-query
attention by the kernels that PyTorch takes there, too, which on Hopper are single queries' alone and on A100 and L40S
not those of prompts, for theirs read a cache. GB200's long products ran at two clocks (docs/judged.md) and are left
out. BOUNDS are what was found when they were set and a little more.
"""
import csv
import io
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

TABLE = HERE / "measured_kernels.tsv"
PER_CELL = 12
LEAST_US = 200
NAMES = {"a100-sxm": "a100-80gb", "h100-sxm": "h100-sxm", "h200-sxm": "h200", "b200-sxm": "b200", "b300-sxm": "b300",
         "gb200": "gb200", "gb300": "gb300", "l40s": "l40s"}
ATTENTION = ("batch_size", "num_heads", "kv_heads", "isl", "step", "head_dim")
MOST_KEY_HEADS = 4  # of which the cache that vLLM writes before takes little
# Most MAPE in %, and how far from 1 the median of predicted ÷ measured may lie
BOUNDS = {"product": (9, 0.08), "prefill": (17, 0.14), "encoder": (6, 0.06), "decode": (15, 0.12)}


def update():
    sys.path.insert(0, str(support.ROOT / "studies/kernels"))
    import attention
    import product_data
    lines = []

    def add(kind, x, columns):
        for device, name in NAMES.items():
            here = x[x.device == device]
            for r in here.sample(min(PER_CELL, len(here)), random_state=1).sort_values("us").itertuples():
                lines.append("\t".join([kind, name, f"{r.us:.1f}", *(str(int(getattr(r, c))) for c in columns)]))

    products = product_data.bf16()
    products = products[(products.part == 2) & (products.m > 1) & (products.device != "gb200")]
    add("product", products.assign(us=products.t * 1e6).query("us > @LEAST_US"), ("m", "n", "k"))
    for kind in ("prefill", "encoder", "decode"):
        x = attention.load(support.shared_folder(), kind)
        x = x[~x.judges & (x.us > LEAST_US) & (x.window_size == 0)]
        if kind != "decode":  # PyTorch's are cuDNN's on Hopper
            x = x[~x.device.isin(product_data.GROUPS["hopper"])]
        if kind == "prefill":
            x = x[x.device.isin(product_data.GROUPS["blackwell"]) & (x.kv_heads <= MOST_KEY_HEADS)]
        add(kind, x, ATTENTION)
    TABLE.write_text("kind\tdevice\tus\tshape\n" + "\n".join(lines) + "\n")


def operation(i, kind, shape):
    """Its parameters and lines of a program; `%i` is its first value."""
    if kind == "product":
        m, n, k = shape
        return [f"%x{i}: Tensor[({m}, {k}), bfloat16]"], (
            "{0} = weight : Tensor[(" + f"{k}, {n}" + "), bfloat16] @\"w" + str(i) + "\";",
            "{1} = nn.dense(%x" + str(i) + ", {0});")
    batch, heads, key_heads, queries, step, channels = shape
    keys, causal = (step + 1, 0) if kind == "decode" else (queries, int(kind == "prefill"))
    if kind == "decode":
        queries = 1
    operands = [f"%{name}{i}: Tensor[({batch}, {h}, {tokens}, {channels}), bfloat16]"
                for name, h, tokens in (("q", heads, queries), ("k", key_heads, keys), ("v", key_heads, keys))]
    return operands, ("{0} = nn.attention(%q" + f"{i}, %k{i}, %v{i}, is_causal={causal}, enable_gqa=1);", )


def predicted(device, rows, folder):
    """µs of each row's kernels."""
    parameters, body, last = [], [], []
    number = sum(1 if kind == "product" else 3 for kind, *_ in rows)
    for i, (kind, _, shape) in enumerate(rows):
        operands, lines = operation(i, kind, shape)
        parameters += operands
        values = [f"%{number + v}" for v in range(len(lines))]
        number += len(lines)
        body += ["  " + line.format(*values) for line in lines]
        last.append(values[-1])
    path = folder / f"{device}.pir"
    path.write_text('#[version = "perfc-ir/1"]\ndef @main(' + ", ".join(parameters) + ") {\n" + "\n".join(body) +
                    "\n  (" + ", ".join(last) + ")\n}\n")
    said = subprocess.run([support.PERFC, path, "--device", device, "--dtype", "bf16", "--predictor", "whitebox",
                           "--emit=kernels"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(k["time_us"]) for k in csv.DictReader(io.StringIO(said))]


def main():
    if sys.argv[1:] == ["--update"]:
        return update()
    rows = {}
    with open(TABLE, newline="") as f:
        next(f)
        for kind, device, us, *shape in csv.reader(f, delimiter="\t"):
            rows.setdefault(device, []).append((kind, float(us), [int(v) for v in shape]))
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        for device, here in rows.items():
            times = predicted(device, here, pathlib.Path(folder))
            assert len(times) == len(here), f"{device}: {len(times)} kernels of {len(here)} operators"
            for (kind, us, _), time in zip(here, times):
                ratios.setdefault((kind, device), []).append(time / us)
    problems = []
    for (kind, device), found in sorted(ratios.items()):
        error, median = 100 * statistics.mean(abs(r - 1) for r in found), statistics.median(found)
        most, off = BOUNDS[kind]
        print(f"{kind}, {device}: {len(found)} kernels, MAPE {error:.1f} %, at most {most}; median predicted ÷ "
              f"measured {median:.2f}, within {off} of 1")
        if error > most or abs(median - 1) > off:
            problems.append(f"{kind}, {device}: {error:.1f} %, median {median:.2f}")
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
