r"""Times of fused attention from data sheets and shapes: fits the constants of whitebox/price/attention_time.cpp.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy pandas
    /tmp/venv/bin/python studies/kernels/attention.py --shared ../shared [--judge] [--cases tests/fixtures]

Data: shared/data/datacenter/attention_{encoder,prefill,decode}, bfloat16, one kernel family per chip class:
FlashAttention 2 on mma.sync chips (A100: vLLM 0.14.0; L40S: 0.24.0), FlashAttention 3 on Hopper, on data-centre
Blackwell FlashAttention 4 (encoder) and TensorRT-LLM's kernels (prefill, decode), all in vLLM 0.24.0. A row is the
median of equal keys; one query in a prefill is another kernel and left out, and so are heads of more than 256 channels.
The model: attention_model.py; what is learned beyond it: attention_factor.py.

The protocol was written down before the first fit: a shape whose CRC-32 is 0, 1 or 2 modulo 10 judges and is never
fitted. A class of chips that is left out takes the constants of all others at once.
"""
import argparse
import pathlib
import sys
import zlib

import numpy as np
import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attention_model as models  # noqa: E402
import product_data  # noqa: E402
from attention_model import decode, encoder, prefill  # noqa: E402
from memory_bound import Report  # noqa: E402

KINDS = {"encoder": encoder, "prefill": prefill, "decode": decode}
CHIPS = product_data.GROUPS
CLASSES = {"mma": CHIPS["ga100"] + CHIPS["graphics"], "hopper": CHIPS["hopper"], "blackwell": CHIPS["blackwell"]}
CLASS_OF = {d: c for c, members in CLASSES.items() for d in members}
LANES = {"a100-sxm": 64}  # float32 per clock and SM; others 128
# Of the clock, what a chip holds that is short of power: large dense products (median of those beyond 4e11 MACs in
# gemm_bf16_torch) reach so much of the L40S' peak. They reach 0.79 of an A100's, but attention asks less of it: with
# its whole clock its constants are the L40S', and FlashAttention-2's authors' 225 TFLOP/s (arXiv 2307.08691, figure 5).
SUSTAINED = {"l40s": 0.66}
# Thread blocks of a single query's kernel that run on an SM side by side: FlashAttention-2 by 164 KiB of shared memory,
# not 100; TensorRT-LLM's by what these rows take once there are as many blocks as SMs.
RESIDENT = {"a100-sxm": 2, **{d: 2 for d in CHIPS["blackwell"]}}

KEYS = ["batch_size", "isl", "step", "num_heads", "kv_heads", "head_dim", "window_size"]
WIDEST = 256
LEFT_OUT_ROWS = 400  # per device, that constants without a device or a class are fitted to
BANDWIDTH_SHARE, IN_LINE_SHARE = 0.915, 0.747  # memory_bound.py


def facts():
    """By device, with the bandwidth that kernels reach, and that reading alone reaches."""
    out = {}
    for d in CLASS_OF:
        sms, clock, peak, bandwidth, l2, tdp_w, *_ = product_data.FACTS[d]
        exponentials = product_data.SHEETS[product_data.NAMES[d]].get("exponentials", 16)
        reached = bandwidth * (IN_LINE_SHARE if d == "l40s" else BANDWIDTH_SHARE)
        out[d] = (reached, bandwidth * BANDWIDTH_SHARE, sms, clock, peak, l2, tdp_w, exponentials)
    return out


def load(shared, kind):
    """One row per device and shape, with the device's facts; `part`: 0 to 9; `judges`: never fitted."""
    folder = shared / "data/datacenter"
    d = pd.concat([pd.read_csv(folder / f"attention_{kind}{s}.csv.xz") for s in ("", ".l40s")], ignore_index=True)
    d = d[(d.attn_dtype == "bfloat16") & (d.framework == "vllm") &
          (d.version == np.where(d.device.eq("a100-sxm"), "0.14.0", "0.24.0"))]
    if kind != "encoder":
        d = d[d.kv_cache_dtype == "bfloat16"]
    wanted = {
        "mma": "flash_attn",
        "hopper": "fa3",
        "blackwell": {
            "encoder": "fa4",
            "prefill": "trtllmprefill",
            "decode": "trtllmdecode"
        }[kind]
    }
    d = d[[wanted[CLASS_OF[v]] in s for v, s in zip(d.device, d.kernel_source)]]
    d = d.assign(**{
        c: 0
        for c in ("step", "window_size") if c not in d
    }).assign(kv_heads=d.get("kv_heads", d.num_heads))
    d = d[(d.head_dim <= WIDEST) & ((d.isl > 1) | (kind == "decode"))].fillna({"window_size": 0})
    d = d.groupby(["device", *KEYS], as_index=False).latency_ms.median().astype({k: float for k in KEYS})
    d["part"] = [zlib.crc32("_".join([kind, *(str(int(v)) for v in key)]).encode()) % 10 for key in d[KEYS].to_numpy()]
    d["judges"] = d.part < 3
    known = facts()
    for i, name in enumerate(("bandwidth", "reading", "sms", "clock", "matrix", "l2", "tdp_w", "exponentials")):
        d[name] = [float(known[v][i]) for v in d.device]
    d["flop_per_clock"] = d.matrix / (d.sms * d.clock)
    d["lanes"] = [float(LANES.get(v, 128)) for v in d.device]
    d["resident"] = [float(RESIDENT.get(v, 1)) for v in d.device]
    d["rows"] = [{"mma": 16.0, "hopper": 64.0, "blackwell": 128.0}[CLASS_OF[v]] for v in d.device]
    d["sustained"] = [SUSTAINED.get(v, 1.0) for v in d.device]
    d["mma"] = [CLASS_OF[v] == "mma" for v in d.device]
    d["packs_queries"] = [CLASS_OF[v] == "hopper" for v in d.device]
    # FlashAttention-3 plans its work in a kernel of its own (flash_prepare_scheduler.cu), but for equal sequences.
    d["beside"] = [float(kind != "encoder" and CLASS_OF[v] == "hopper") for v in d.device]
    d["us"] = d.latency_ms * 1e3
    return models.SHAPE[KINDS[kind]](d)


# ---- Judging


def roofline(x, kind):
    keys = x.step + x.isl if kind != "decode" else x.step + 1
    keys = np.where(x.window_size > 0, np.minimum(keys, x.window_size), keys)
    pairs = x.isl * keys * (0.5 if kind == "prefill" else 1)
    moved = 4 * x.batch_size * x.head_dim * (x.isl * x.num_heads + keys * x.kv_heads)
    return np.maximum(4 * pairs * x.batch_size * x.num_heads * x.head_dim / x.matrix, moved /
                      (0.8 * x.bandwidth / BANDWIDTH_SHARE)) + 3e-6


def score(report, kind, protocol, x, seconds):
    for device in sorted(set(x.device)):
        here = (x.device == device).to_numpy()
        report.add(kind, protocol, device, np.asarray(seconds)[here] * 1e6, x[here])


def members_of(train):
    return {c: [d for d in members if d in set(train.device)] for c, members in CLASSES.items()}


def fitted_classes(model, train):
    """Constants by class, and `other`: of all at once."""
    found = {c: models.fit(model, train[train.device.isin(members)]) for c, members in members_of(train).items()}
    return {**found, "other": models.fit(model, train)}


def priced(model, x, constants_of):
    """Parts and seconds of each row; constants_of(device)."""
    parts = [(x[x.device == d], constants_of(d)) for d in sorted(set(x.device))]
    work = pd.concat([model(rows, c) for rows, c in parts]).loc[x.index]
    launch = pd.concat([models.launch_s(rows, c) for rows, c in parts]).loc[x.index]
    return work.assign(launch=launch, total=launch + work.work)


def judge(report, kind, train, test, fitted):
    model = KINDS[kind]
    own = lambda d: fitted[CLASS_OF[d]]  # noqa: E731
    score(report, kind, "roofline + 3 µs", test, roofline(test, kind))
    score(report, kind, "unseen shapes", test, priced(model, test, own).total)
    for c, members in members_of(train).items():
        for left in members if len(members) > 1 else ():
            found = models.fit(model, train[train.device.isin(members) & (train.device != left)], LEFT_OUT_ROWS)
            x = test[test.device == left]
            score(report, kind, "device left out", x, models.seconds(model, x, found))
        x = test[test.device.isin(members)]
        others = models.fit(model, train[~train.device.isin(members)], LEFT_OUT_ROWS)
        score(report, kind, f"{c} left out", x, models.seconds(model, x, others))


def parts(shared, kind, judges, per_device=1500):
    """Rows that fit, and those that are looked at: that judge, or some of those that fit."""
    x = load(shared, kind)
    train = x[~x.judges]
    test = (x[x.judges] if judges else train).sample(frac=1, random_state=3).groupby("device").head(per_device)
    return train, test


# ---- Cases for the unit test

FACTS = ("bandwidth", "reading", "l2", "sms", "clock", "matrix", "exponentials", "lanes", "rows", "sustained",
         "resident")


def sample(x, per_device=25):
    return x.sample(frac=1, random_state=2).groupby("device").head(per_device).sort_values("device", kind="stable")


def case_rows(kind, x):
    """Those of a few rows that the program has: what PyTorch runs in one kernel, however vLLM caches its keys."""
    if kind == "decode":  # FlashAttention-2 there splits the keys of heads that share none, and of windows, too
        x = x[~x.mma | ((x.num_heads > x.kv_heads) & (x.window_size == 0))]
    return sample(x)


def write_cases(folder, kind, x, fitted):
    """What the model makes of a few rows, launch excluded."""
    x = case_rows(kind, x)
    work = priced(KINDS[kind], x, lambda d: fitted[CLASS_OF[d]]).work
    keys = np.where(x.step > 0, x.step + 1, x.isl) if kind == "decode" else x.isl
    columns = pd.DataFrame({**{f: x[f].astype(float) for f in FACTS}, "batch": x.batch_size, "queries": x.isl,
                            "keys": keys, "heads": x.num_heads, "key_heads": x.kv_heads, "channels": x.head_dim,
                            "window": x.window_size, "work_us": work * 1e6})
    lines = ["# Written by studies/kernels/attention.py --cases; bandwidths are what kernels reach.",
             "\t".join(columns)]
    lines += ["\t".join(f"{v:.9g}" for v in row) for row in columns.itertuples(index=False)]
    (folder / f"attention_{kind}_cases.tsv").write_text("\n".join(lines) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, required=True)
    p.add_argument("--judge",
                   action="store_true",
                   help="on the shapes that are never fitted (docs/judged.md lists each look)")
    p.add_argument("--cases", type=pathlib.Path, help="folder into which cases for the unit test go")
    args = p.parse_args()
    report = Report()
    for kind, model in KINDS.items():
        train, test = parts(args.shared, kind, args.judge)
        fitted = fitted_classes(model, train)
        for c, found in fitted.items():
            print(kind, c, found, file=sys.stderr)
        judge(report, kind, train, test, fitted)
        if args.cases:
            write_cases(args.cases, kind, train, fitted)
    report.print()


if __name__ == "__main__":
    main()
