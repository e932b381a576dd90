r"""Times of fused attention from data sheets and shapes: fits the constants of whitebox/price/attention_time.cpp.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy pandas lightgbm
    /tmp/venv/bin/python studies/kernels/attention.py --shared ../shared [--judge] [--learned] \
        [--cases tests/fixtures/attention_cases.tsv] \
        [--decoding-cases tests/fixtures/decoding_cases.tsv]

Data: shared/data/datacenter/attention_{encoder,prefill,decode}, bfloat16, one kernel family per chip class:
FlashAttention 2 on mma.sync chips (A100: vLLM 0.14.0; L40S: 0.24.0), FlashAttention 3 on Hopper, on data-centre
Blackwell FlashAttention 4 (encoder) and TensorRT-LLM's kernels (prefill, decode), all in vLLM 0.24.0. A row is the
median of equal keys; one query in a prefill is another kernel and left out, and so are heads of more than 256 channels.

A score (one query, one key) costs an SM

    sqrt((4 · channels / FLOP per clock)² + (4 · channels / rows / 128)² + (1 / exponentials per clock + 4 / lanes)²)
        / share

clocks: two products on the matrix units; keys and values from shared memory (128 bytes per clock), which each
instruction reads for its 16 (mma.sync), 64 (wgmma) or 128 (tcgen05) rows of queries; an exponential, and on the float32
lanes a maximum, a sum, a scale and a conversion. Only `share` is fitted: of the clock, what the chip holds under that
load. A thread block (CTA) computes whole tiles of queries by keys; the kernel ends with its last wave.

The protocol was written down before the first fit: a shape whose CRC-32 is 0, 1 or 2 modulo 10 judges and is never
fitted.
"""
import argparse
import pathlib
import sys
import zlib

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import product_data  # noqa: E402
from memory_bound import Report  # noqa: E402

CHIPS = product_data.GROUPS
CLASSES = {"mma": CHIPS["ga100"] + CHIPS["graphics"], "hopper": CHIPS["hopper"], "blackwell": CHIPS["blackwell"]}
CLASS_OF = {d: c for c, members in CLASSES.items() for d in members}
NEAREST = {"hopper": "blackwell", "blackwell": "hopper"}  # whose constants a class that nobody measured takes
LANES = {"a100-sxm": 64}  # float32 per clock and SM; others 128
EXPONENTIALS = {
    "b300-sxm": 32,
    "gb300": 32
}  # per clock and SM; others 16 [CUDA C++ Programming Guide, arithmetic instructions]
# Of the peak, what large dense products hold for long (median of those beyond 4e11 MACs in gemm_bf16_torch): the L40S
# is short of power. Members of the other classes do not differ in it, so that their `share` has it.
SUSTAINED = {"a100-sxm": 0.79, "l40s": 0.66}
LARGE_SHARED = ("a100-sxm", )  # two FlashAttention-2 CTAs per SM: 164 KiB of shared memory, not 100

KEYS = ["batch_size", "isl", "step", "num_heads", "kv_heads", "head_dim", "window_size"]
WIDEST = 256
BANDWIDTH_SHARE, IN_LINE_SHARE, CACHE_USE = 0.915, 0.747, 0.683  # memory_bound.py


def facts():
    """By device, with the bandwidth that kernels reach."""
    out = {}
    for d in CLASS_OF:
        sms, clock, peak, bandwidth, l2, *_ = product_data.FACTS[d]
        out[d] = (bandwidth * (IN_LINE_SHARE if d == "l40s" else BANDWIDTH_SHARE), sms, clock, peak, l2)
    return out


def load(shared, kind):
    """One row per device and shape, with the device's facts; `judges`: never fitted."""
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
    d["judges"] = [
        zlib.crc32("_".join([kind, *(str(int(v)) for v in key)]).encode()) % 10 < 3 for key in d[KEYS].to_numpy()
    ]
    known = facts()
    for i, name in enumerate(("bandwidth", "sms", "clock", "matrix", "l2")):
        d[name] = [float(known[v][i]) for v in d.device]
    d["flop_per_clock"] = d.matrix / (d.sms * d.clock)
    d["exponentials"] = [float(EXPONENTIALS.get(v, 16)) for v in d.device]
    d["lanes"] = [float(LANES.get(v, 128)) for v in d.device]
    d["resident"] = [2.0 if v in LARGE_SHARED else 1.0 for v in d.device]
    d["rows"] = [{"mma": 16.0, "hopper": 64.0, "blackwell": 128.0}[CLASS_OF[v]] for v in d.device]
    d["sustained"] = [SUSTAINED.get(v, 1.0) for v in d.device]
    d["mma"] = [CLASS_OF[v] == "mma" for v in d.device]
    d["us"] = d.latency_ms * 1e3
    return d


# ---- The model: whitebox/price/attention_time.cpp computes `encoder` and, but for `sequence`, `decode`

SHARED_MEMORY = 128.0  # bytes per clock and SM [CUDA C++ Programming Guide, shared memory: 32 banks of 4 bytes]
OPERATIONS = 4.0  # per score beside the exponential: maximum, scale, sum, conversion


def padded(channels):
    """Channels that the kernels compute: 64, 96, 128, 192, 256."""
    return np.select([channels <= 64, channels <= 96, channels <= 128, channels <= 192], [64.0, 96.0, 128.0, 192.0],
                     256.0)


def score_clocks(x, c):
    channels = padded(x.head_dim)
    products = 4 * channels / x.flop_per_clock
    operands = 4 * channels / x.rows / SHARED_MEMORY
    softmax = 1 / x.exponentials + OPERATIONS / x.lanes
    return np.sqrt(products**2 + operands**2 + softmax**2) / (c["share"] * x.sustained)


def missed(x, moved):
    """Bytes that the L2 cache does not hold."""
    return moved / (1 + (CACHE_USE * x.l2 / np.maximum(moved, 1))**4)


def waves_s(x, c, blocks, longest, mean):
    """Seconds of `blocks` CTAs of `mean` clocks: the last one starts when the others are nearly done."""
    return np.maximum(longest, blocks * mean / x.sms + c["tail"] * longest * (blocks > x.sms)) / x.clock


def encoder(x, c):
    """Every query meets every key."""
    queries, keys = np.where(x.mma, 128, 192), 128
    tiles = np.ceil(x.isl / keys)
    block = tiles * queries * keys * score_clocks(x, c) + c["block"]
    blocks = np.ceil(x.isl / queries) * x.num_heads * x.batch_size
    moved = missed(x, 8 * x.batch_size * x.isl * x.num_heads * x.head_dim)
    return c["launch"] / x.clock + np.maximum(waves_s(x, c, blocks, block, block), moved / x.bandwidth)


def prefill(x, c):
    """A query meets the keys before it, within the window; a kernel before writes keys and values into the cache.
    mma.sync: FlashAttention-2's split-KV kernel, which serves paged caches (flash_fwd_launch_template.h,
    run_mha_fwd_splitkv_dispatch)."""
    queries = np.where(x.mma, 64, 128.0)
    keys = np.where(x.mma, np.select([x.head_dim <= 64, x.head_dim <= 128], [256, 128], 64), 128.0)
    group = x.num_heads / x.kv_heads
    packed = ~x.mma & (x.isl < queries)  # a CTA takes the queries of the heads that share keys
    rows = np.where(packed, x.isl * group, x.isl)
    tiles = np.ceil(rows / queries)
    window = np.where(x.window_size > 0, x.window_size, 1e12)
    last = np.minimum(x.isl, window + queries)
    rising = np.minimum(tiles, np.ceil((window + queries) / queries))
    mean = np.minimum(
        (rising * (rising + 1) / 2 * queries + (tiles - rising) * np.minimum(window + queries, 1e9)) / tiles, last)
    mean = np.where(packed, x.isl, np.maximum(mean, np.minimum(keys, x.isl)))
    tile = queries * keys * score_clocks(x, c)
    blocks = tiles * np.where(packed, x.kv_heads, x.num_heads) * x.batch_size
    splits = np.where(x.mma & (blocks < 0.8 * x.sms), np.clip(np.floor(x.sms / blocks), 1, np.ceil(last / keys)), 1)
    longest = np.ceil(np.ceil(last / keys) / splits) * tile * c["alone"] + c["block"] * np.where(splits > 1, 2, 1)
    average = np.maximum(mean / keys, 1) * tile + c["block"]
    written = 8 * x.batch_size * x.isl * x.kv_heads * x.head_dim
    read = 4 * x.batch_size * x.isl * x.num_heads * x.head_dim + written / 2
    writing = np.maximum(missed(x, written) / x.bandwidth, written / (c["cache"] * x.sms * x.clock))
    attention = np.maximum(
        np.maximum(longest, blocks * average / x.sms + c["tail"] * longest * (blocks > x.sms)) / x.clock,
        missed(x, read) / x.bandwidth)
    return c["launch"] / x.clock + attention + writing + c["sequence"] * x.batch_size / x.clock


SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def flash2_splits(blocks, sms, tiles):
    """FlashAttention-2's choice: the fewest splits within 85 % of the best filling of the waves (flash_api.cpp,
    num_splits_heuristic; it is given twice the SMs)."""
    s = np.arange(1, 129)[None, :]
    blocks, sms, tiles = (v.to_numpy()[:, None] if hasattr(v, "to_numpy") else np.asarray(v)[:, None]
                          for v in (blocks, sms, tiles))
    eligible = (s <= np.minimum(sms, tiles)) & ((s == 1) |
                                                (np.ceil(tiles / s) != np.ceil(tiles / np.maximum(s - 1, 1))))
    waves = blocks * s / sms
    filling = np.where(eligible, waves / np.ceil(waves), 0)
    first = (eligible & (filling >= 0.85 * filling.max(1, keepdims=True))).argmax(1) + 1
    return np.where(blocks[:, 0] >= 0.8 * sms[:, 0], 1, first).astype(float)


def decode(x, c):
    """One query per head against the keys of its cache; splits of the keys run side by side and are combined."""
    keys = np.where(x.window_size > 0, np.minimum(x.step + 1, x.window_size), x.step + 1)
    tile = np.where(x.mma, np.select([x.head_dim <= 64, x.head_dim <= 128], [256, 128], 64), 64)
    dram = missed(x, 4 * keys * x.head_dim * x.batch_size * x.kv_heads) / (c["bandwidth"] * x.bandwidth)
    # FlashAttention-2 packs the heads that share keys, and splits, where there are such and no window (flash_api.cpp).
    packs = ~x.mma | ((x.num_heads > x.kv_heads) & (x.window_size == 0))
    sequences = x.batch_size * np.where(packs, x.kv_heads, x.num_heads)

    def time(splits):
        part = np.ceil(np.ceil(keys / tile) / splits) * tile * 4 * x.head_dim
        waves = np.ceil(sequences * splits / (x.sms * x.resident))
        streams = waves * (part / c["stream"] + c["block"]) / x.clock
        return np.maximum(streams,
                          dram) + c["exposed"] * np.minimum(streams, dram) + (splits > 1) * c["combine"] / x.clock

    heuristic = np.where(packs, flash2_splits(sequences, 2 * x.sms, np.ceil((x.step + 1) / tile)), 1)
    best = np.min([np.where((s - 1) * tile < keys, time(s), np.inf) for s in SPLITS], axis=0)
    return c["launch"] / x.clock + np.where(x.mma, time(heuristic), best) + c["sequence"] * x.batch_size / x.clock


# Start and bounds of the free constants. Clocks unless said otherwise.
FREE = {
    encoder: {
        "share": (0.8, 0.3, 1.3),
        "launch": (8000, 1000, 60000),
        "tail": (0.4, 0.01, 2),
        "block": (3000, 10, 30000)
    },
    prefill: {
        "share": (0.7, 0.3, 1.3),
        "launch": (10000, 1000, 60000),
        "tail": (0.4, 0.01, 2),
        "block": (3000, 10, 30000),
        "alone": (1, 0.5, 2),
        "cache": (7, 1, 30),
        "sequence": (20, 0.1, 2000)
    },
    decode: {
        "launch": (15000, 1000, 60000),
        "bandwidth": (1, 0.5, 1.3),
        "stream": (30, 3, 600),
        "block": (3000, 10, 30000),
        "exposed": (0.3, 1e-3, 2),
        "combine": (3000, 10, 40000),
        "sequence": (5, 0.1, 2000)
    }
}


def fit(model, x, per_device=600):
    x = x.sample(frac=1, random_state=0).groupby("device").head(per_device)
    free = FREE[model]
    start, low, high = np.log(np.array(list(free.values())).T)
    constants = lambda p: dict(zip(free, np.exp(p)))  # noqa: E731
    p = least_squares(lambda p: np.log(model(x, constants(p)) * 1e6 / x.us),
                      start,
                      bounds=(low, high),
                      loss="soft_l1",
                      f_scale=0.1).x
    return {n: float(f"{v:.3g}") for n, v in constants(p).items()}  # as whitebox/constants.h has them


# ---- What boosting adds


def features(x, seconds):
    """Ratios only: a device is never named."""
    out = {k: x[k] for k in KEYS if k not in ("step", "window_size")}
    out.update(keys=x.step + x.isl,
               window=x.window_size,
               blocks=np.ceil(x.isl / 128) * x.num_heads * x.batch_size / x.sms,
               grouped=x.num_heads / x.kv_heads,
               sequences=x.batch_size * x.kv_heads / x.sms,
               us=seconds * 1e6,
               balance=x.matrix / x.bandwidth,
               per_sm=x.flop_per_clock,
               exponentials=x.exponentials,
               cached=4 * (x.step + x.isl) * x.kv_heads * x.head_dim * x.batch_size / x.l2,
               mma=x.mma)
    return pd.DataFrame(out).astype(float)


def boosted(train, seconds_of_train, test, seconds_of_test):
    import lightgbm
    options = dict(objective="l1",
                   num_leaves=31,
                   learning_rate=0.08,
                   min_data_in_leaf=10,
                   num_threads=1,
                   verbosity=-1,
                   seed=0)
    found = lightgbm.Dataset(features(train, seconds_of_train), np.log(train.us / (seconds_of_train * 1e6)))
    model = lightgbm.train(options, found, num_boost_round=400)
    return seconds_of_test * np.exp(model.predict(features(test, seconds_of_test)))


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


def judge(report, kind, model, train, test, learned):
    classes = {c: [d for d in members if d in set(train.device)] for c, members in CLASSES.items()}
    score(report, kind, "roofline + 3 µs", test, roofline(test, kind))
    fitted = {c: fit(model, train[train.device.isin(members)]) for c, members in classes.items()}
    for c, found in fitted.items():
        print(kind, c, found, file=sys.stderr)

    def priced(x, constants_of):
        return pd.concat([model(x[x.device == d], constants_of(d))
                          for d in sorted(set(x.device))]).loc[x.index].to_numpy()

    own = lambda d: fitted[CLASS_OF[d]]  # noqa: E731
    score(report, kind, "unseen shapes", test, priced(test, own))
    few = train.sample(frac=1, random_state=1).groupby("device").head(4000)
    if learned:
        score(report, kind, "unseen shapes, boosted", test, boosted(few, priced(few, own), test, priced(test, own)))
    for c, members in classes.items():
        for left in members if len(members) > 1 else ():
            found = fit(model, train[train.device.isin(members) & (train.device != left)])
            x = test[test.device == left]
            score(report, kind, "device left out", x, priced(x, lambda d, found=found: found))
            if learned:
                rest = few[few.device != left]
                one = lambda d, found=found, c=c: found if CLASS_OF[d] == c else own(d)  # noqa: E731
                score(report, kind, "device left out, boosted", x, boosted(rest, priced(rest, one), x, priced(x, one)))
    for c, nearest in NEAREST.items():
        x = test[test.device.isin(classes[c])]
        score(report, kind, "group left out", x, priced(x, lambda d, nearest=nearest: fitted[nearest]))
    return fitted


FACTS = ("bandwidth", "l2", "sms", "clock", "matrix", "exponentials", "lanes", "rows", "sustained")


def write_cases(path, x, fitted):
    """A few rows per device with what the model makes of them, launch excluded; of the chips that the program knows."""
    x = x[~x.device.isin(CLASSES["blackwell"])].sample(frac=1, random_state=2).groupby("device").head(25)
    lines = [
        "# Written by studies/kernels/attention.py --cases; bandwidth is what kernels reach of it.",
        "\t".join([*FACTS, "batch", "queries", "heads", "channels", "work_us"])
    ]
    for r in (x[x.device == d] for d in sorted(set(x.device))):
        c = dict(fitted[CLASS_OF[r.device.iloc[0]]], launch=0)
        for values in zip(*(r[f].astype(float) for f in FACTS), r.batch_size, r.isl, r.num_heads, r.head_dim,
                          encoder(r, c) * 1e6):
            lines.append("\t".join(f"{v:.9g}" for v in values))
    path.write_text("\n".join(lines) + "\n")


def write_decoding_cases(path, x, fitted):
    """The same of single queries; mma.sync with heads that share keys: others PyTorch splits, vLLM does not."""
    x = x[(x["rows"] < 128) & (~x.mma | ((x.num_heads > x.kv_heads) & (x.window_size == 0)))]
    x = x.sample(frac=1, random_state=2).groupby("device").head(25)
    lines = [
        "# Written by studies/kernels/attention.py --decoding-cases; bandwidth is what kernels reach of it.",
        "\t".join([*FACTS, "resident", "key_heads", "keys", "channels", "work_us"])
    ]
    for r in (x[x.device == d] for d in sorted(set(x.device))):
        c = dict(fitted[CLASS_OF[r.device.iloc[0]]], launch=0, sequence=0)
        keys = np.where(r.window_size > 0, np.minimum(r.step + 1, r.window_size), r.step + 1)
        for values in zip(*(r[f].astype(float) for f in FACTS), r.resident, r.batch_size * r.kv_heads, keys,
                          r.head_dim, decode(r, c) * 1e6):
            lines.append("\t".join(f"{v:.9g}" for v in values))
    path.write_text("\n".join(lines) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, required=True)
    p.add_argument("--judge",
                   action="store_true",
                   help="on the shapes that are never fitted (docs/judged.md lists each look)")
    p.add_argument("--learned", action="store_true", help="boosted corrections too")
    p.add_argument("--cases", type=pathlib.Path, help="write cases for the unit test")
    p.add_argument("--decoding-cases", type=pathlib.Path, help="the same of single queries")
    args = p.parse_args()
    report = Report()
    for kind, model in (("encoder", encoder), ("prefill", prefill), ("decode", decode)):
        x = load(args.shared, kind)
        train = x[~x.judges]
        test = (x[x.judges] if args.judge else train).sample(frac=1, random_state=3).groupby("device").head(1500)
        fitted = judge(report, kind, model, train, test, args.learned)
        if args.cases and kind == "encoder":
            write_cases(args.cases, train, fitted)
        if args.decoding_cases and kind == "decode":
            write_decoding_cases(args.decoding_cases, train, fitted)
    report.print()


if __name__ == "__main__":
    main()
