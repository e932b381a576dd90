"""The model of fused attention that whitebox/price/attention_time.cpp computes, on rows of attention.py's table.

A score (one query, one key) costs an SM

    sqrt((4 · channels / FLOP per clock)² + (4 · channels / rows / 128)² + (1 / exponentials per clock + 4 / lanes)²)
        / share

clocks: two products on the matrix units; keys and values from shared memory (128 bytes per clock), which each
instruction reads for its 16 (mma.sync), 64 (wgmma) or 128 (tcgen05) rows of queries; an exponential, and on the float32
lanes a maximum, a sum, a scale and a conversion. Only `share` is fitted: of the clock, what the chip holds under that
load. A thread block (CTA) computes whole tiles of queries by keys; the kernel ends with its last wave.

Constants are clocks, bytes per clock and shares; facts of a class of kernels (attention.py: rows, resident blocks,
kernels beside the one that computes) are none of them, so that a class which nobody measured can take those of all
others.
"""
import numpy as np
import pandas as pd
from scipy.optimize import least_squares

SHARED_MEMORY = 128.0  # bytes per clock and SM [CUDA C++ Programming Guide, shared memory: 32 banks of 4 bytes]
OPERATIONS = 4.0  # per score beside the exponential: maximum, scale, sum, conversion
CACHE_USE = 0.683  # memory_bound.py
SMALL_KERNEL = 4700.0  # clocks that a call takes for each small kernel beside its own [decoding's fits: 4450 to 5330]
CACHE_ROW = 1024  # bytes; a thread block per token writes them [vLLM, csrc/cache_kernels.cu, reshape_and_cache_flash]
MOST_TILES = 256  # of queries, whose keys are counted one by one


def padded(channels, mma):
    """Channels that the kernels compute: 64, 96, 128, 192, 256, and mma.sync's 32."""
    return np.select([(channels <= 32) & mma, channels <= 64, channels <= 96, channels <= 128, channels <= 192],
                     [32.0, 64.0, 96.0, 128.0, 192.0], 256.0)


def score_clocks(x, c):
    channels = padded(x.head_dim, x.mma)
    products = 4 * channels / x.flop_per_clock
    operands = 4 * channels / x.rows / SHARED_MEMORY
    softmax = 1 / x.exponentials + OPERATIONS / x.lanes
    return np.sqrt(products**2 + operands**2 + softmax**2) / (c["share"] * x.sustained)


def missed(x, moved, use=CACHE_USE, power=4):
    """Bytes that the L2 cache does not hold."""
    return moved / (1 + (use * x.l2 / np.maximum(moved, 1))**power)


def launch_s(x, c):
    """The host's part, kernels beside the one that computes, and what vLLM does per sequence: not in the program."""
    return (c["launch"] + SMALL_KERNEL * x.beside + c.get("sequence", 0) * x.batch_size) / x.clock


def parts_of(compute, memory, work):
    return pd.DataFrame({"compute": compute, "memory": memory, "work": work})


# ---- Every query meets every key

def encoder(x, c):
    queries, keys = np.where(x.mma, 128, 192), 128
    tiles = np.ceil(x.isl / keys)
    block = tiles * queries * keys * score_clocks(x, c) + c["block"]
    blocks = np.ceil(x.isl / queries) * x.num_heads * x.batch_size
    compute = np.maximum(block, blocks * block / x.sms + c["tail"] * block * (blocks > x.sms)) / x.clock
    memory = missed(x, 8 * x.batch_size * x.isl * x.num_heads * x.head_dim) / x.bandwidth
    return parts_of(compute, memory, np.maximum(compute, memory))


# ---- A query meets the keys before it, within the window

def key_tiles(begin, end, width):
    return np.ceil(end / width) - np.floor(begin / width)


def mean_key_tiles(x, queries, keys, tiles, packed):
    """Over the tiles of queries."""
    window = np.where(x.window_size > 0, x.window_size, np.inf)
    out = np.where(packed, key_tiles(np.zeros(len(x)), x.isl, keys), 0.0)
    for count in np.unique(tiles[~packed]):
        at = np.flatnonzero((tiles == count) & ~packed)
        first = np.arange(min(count, MOST_TILES)) * np.ceil(count / MOST_TILES) * queries[at, None]
        end = np.minimum(first + queries[at, None], x.isl.to_numpy()[at, None])
        begin = np.maximum(first - window[at, None], 0)
        out[at] = key_tiles(begin, end, keys[at, None]).mean(1)
    return out


def prefill_shape(x):
    """Tiles and thread blocks, which no constant changes. mma.sync: FlashAttention-2's split-KV kernel, which serves
    paged caches (flash_fwd_launch_template.h, run_mha_fwd_splitkv_dispatch); Hopper: FlashAttention-3 packs the heads
    that share keys where a head alone does not fill a tile."""
    queries = np.where(x.mma, 64, 128.0)
    keys = np.where(x.mma, np.select([x.head_dim <= 64, x.head_dim <= 128], [256, 128], 64), 128.0)
    packed = (x.packs_queries & (x.isl < queries)).to_numpy()
    tiles = np.ceil(np.where(packed, x.isl * x.num_heads / x.kv_heads, x.isl) / queries)
    window = np.where(x.window_size > 0, x.window_size, np.inf)
    most = np.ceil(np.minimum(x.isl, window + queries) / keys)
    blocks = tiles * np.where(packed, x.kv_heads, x.num_heads) * x.batch_size
    splits = np.where(x.mma & (blocks < 0.8 * x.sms), np.clip(np.floor(x.sms / blocks), 1, most), 1)
    return x.assign(tile=queries * keys, blocks=blocks, splits=splits, longest=np.ceil(most / splits),
                    mean=np.maximum(mean_key_tiles(x, queries, keys, tiles, packed), 1))


def prefill(x, c):
    tile = x.tile * score_clocks(x, c)
    longest = x.longest * tile * c["alone"] + c["block"] * np.where(x.splits > 1, 2, 1)
    average = x["mean"] * tile + c["block"]
    written = 8 * x.batch_size * x.isl * x.kv_heads * x.head_dim
    read = 4 * x.batch_size * x.isl * x.num_heads * x.head_dim + written / 2
    row = written / (x.batch_size * x.isl)
    tokens = x.batch_size * x.isl / x.sms * c["token"] * (row / CACHE_ROW)**c["row"]
    writing = np.maximum(missed(x, written) / x.bandwidth, tokens / x.clock)
    compute = np.maximum(longest, x.blocks * average / x.sms + c["tail"] * longest * (x.blocks > x.sms)) / x.clock
    memory = missed(x, read) / x.bandwidth
    work = np.maximum(compute, memory) + c["exposed"] * np.minimum(compute, memory)
    return parts_of(compute, memory + writing, work + writing)


# ---- One query per head against the keys of its cache

SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def flash2_splits(blocks, sms, tiles):
    """FlashAttention-2's choice: the fewest splits within 85 % of the best filling of the waves (flash_api.cpp,
    num_splits_heuristic; it is given twice the SMs)."""
    s = np.arange(1, 129)[None, :]
    blocks, sms, tiles = (np.asarray(v, float)[:, None] for v in (blocks, sms, tiles))
    eligible = (s <= np.minimum(sms, tiles)) & ((s == 1) |
                                                (np.ceil(tiles / s) != np.ceil(tiles / np.maximum(s - 1, 1))))
    waves = blocks * s / sms
    filling = np.where(eligible, waves / np.ceil(waves), 0)
    first = (eligible & (filling >= 0.85 * filling.max(1, keepdims=True))).argmax(1) + 1
    return np.where(blocks[:, 0] >= 0.8 * sms[:, 0], 1, first).astype(float)


def decode_shape(x):
    """FlashAttention-2 packs the heads that share keys, and splits, where there are such and no window
    (flash_api.cpp); where that takes several heads of several sequences, two kernels reorder queries and results."""
    tile = np.where(x.mma, np.select([x.head_dim <= 64, x.head_dim <= 128], [256, 128], 64), 64)
    packs = ~x.mma | ((x.num_heads > x.kv_heads) & (x.window_size == 0))
    sequences = x.batch_size * np.where(packs, x.kv_heads, x.num_heads)
    seen = np.where(x.window_size > 0, np.minimum(x.step + 1, x.window_size), x.step + 1)
    splits = np.where(packs, flash2_splits(sequences, 2 * x.sms, np.ceil((x.step + 1) / tile)), 1)
    reorders = x.mma & packs & (x.kv_heads > 1) & (x.batch_size > 1)
    return x.assign(tile=tile, sequences=sequences, seen=seen, splits=splits, beside=x.beside + 2 * reorders)


def decode(x, c):
    """Splits of the keys run side by side and are combined. What a block streams per clock grows with what memory
    gives an SM: kernels keep as much under way as saturates it."""
    dram = (missed(x, 4 * x.seen * x.head_dim * x.batch_size * x.kv_heads, c["use"], 8) /
            (c["bandwidth"] * x.reading)).to_numpy()
    share = c["reach"] * x.reading / (x.sms * x.clock * x.resident)
    rate = ((c["stream"]**4 + share**4)**0.25).to_numpy() * x.clock.to_numpy()
    seen, tile, blocks, places, clock = (v.to_numpy(float) for v in (x.seen, x.tile, x.sequences, x.sms * x.resident,
                                                                     x.clock))
    heuristic, tiles, of_tile = x.mma.to_numpy(), np.ceil(seen / tile), tile * 4 * x.head_dim.to_numpy()

    def time(splits):
        streams = np.ceil(blocks * splits / places) * (np.ceil(tiles / splits) * of_tile / rate + c["block"] / clock)
        combined = (splits > 1) * c["combine"] / clock
        return streams, np.maximum(streams, dram) + c["exposed"] * np.minimum(streams, dram) + combined

    streams, work = time(np.where(heuristic, x.splits, 1))
    for s in SPLITS[1:]:
        other = time(s)
        better = ~heuristic & ((s - 1) * tile < seen) & (other[1] < work)
        streams, work = np.where(better, other[0], streams), np.where(better, other[1], work)
    return parts_of(streams, dram, work).set_index(x.index)


# Start and bounds of the free constants. Clocks unless said otherwise.
FREE = {
    encoder: {
        "share": (0.8, 0.3, 1.6),
        "launch": (8000, 1000, 60000),
        "tail": (0.4, 0.01, 2),
        "block": (3000, 10, 30000)
    },
    prefill: {
        "share": (0.7, 0.3, 1.6),
        "launch": (10000, 1000, 60000),
        "tail": (0.4, 0.01, 2),
        "block": (3000, 10, 30000),
        "alone": (1, 0.5, 2),  # 1: of a tile's time, what it takes while other blocks are few
        "exposed": (0.3, 1e-3, 2),  # 1: of the shorter of SMs and memory, what does not hide
        "token": (100, 1, 5000),  # clocks of an SM for a token's keys and values, read and written: CACHE_ROW bytes …
        "row": (0.6, 0.2, 1)  # … and how they grow with these
    },
    decode: {
        "launch": (10000, 1000, 60000),
        "bandwidth": (1, 0.5, 1.09),  # 1: of what reading reaches; no more than the sheet says
        "stream": (10, 3, 600),  # byte per clock of a block …
        "reach": (1.3, 0.1, 5),  # … or 1: of what memory gives an SM
        "block": (3000, 10, 30000),
        "exposed": (0.3, 1e-3, 2),
        "combine": (3000, 10, 40000),
        "use": (0.75, 0.3, 1.2),  # 1: of the L2 cache
        "sequence": (5, 0.1, 2000)
    }
}
SHAPE = {encoder: lambda x: x, prefill: prefill_shape, decode: decode_shape}


def seconds(model, x, c):
    return launch_s(x, c) + model(x, c).work


def fit(model, x, per_device=600):
    """x: with the columns of SHAPE[model]."""
    x = x.sample(frac=1, random_state=0).groupby("device").head(per_device)
    free = FREE[model]
    start, low, high = np.log(np.array(list(free.values())).T)
    constants = lambda p: dict(zip(free, np.exp(p)))  # noqa: E731
    p = least_squares(lambda p: np.log(seconds(model, x, constants(p)) * 1e6 / x.us),
                      start,
                      bounds=(low, high),
                      loss="soft_l1",
                      f_scale=0.1).x
    return {n: float(f"{v:.3g}") for n, v in constants(p).items()}  # as whitebox/constants/attention.h has them
