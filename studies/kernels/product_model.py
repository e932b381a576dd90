"""Time of a dense product C[m,n] = A[m,k] B[k,n] on a GPU: tiles, waves, steps along k, traffic of L2 and DRAM.

The C++ twin is whitebox/price/matmul_time.cpp; tests/unit/matmul_time_test.cpp holds the two to each other.
Times in seconds, sizes in bytes, rates per second.
"""
import numba
import numpy as np

# ---- Facts of a device, from its data sheet (devices/device.h); the last by which power is counted (matmul_time.h)
SMS, CLOCK, PEAK, BANDWIDTH, L2, TDP, TMA, GRAPHICS, HALF_PEAK, SHALLOW = range(10)
FACTS = ("sms", "clock_hz", "peak_flops", "bandwidth", "l2_bytes", "tdp_w", "tma", "graphics", "half_peak_flops",
         "shallow_epilogues")

# ---- Constants of a chip class, fitted: (name, start, lower bound, upper bound)
CONSTANTS = (
    ("launch_clocks", 4500, 500, 12000),     # launch, prologue and drain of the kernel
    ("tensor_share", 1.0, 0.4, 1.2),        # of the peak, inside full tiles
    ("read_share", 0.92, 0.5, 1.05),         # of the DRAM bandwidth, reading
    ("write_share", 0.7, 0.2, 1.05),         # the same, writing
    ("step_clocks", 300, 20, 2000),          # clocks of LATENCY_HZ: latency of a step of 128 bytes along k
    ("stream_bytes", 64, 10, 500),           # per clock, that one CTA reads
    ("l2_bytes_clock", 60, 5, 400),          # per clock and SM, that the L2 cache delivers
    ("exposed", 0.4, 0.0, 1.5),              # share of the shorter of arithmetic and traffic that does not hide
    ("split_clocks", 5000, 500, 20000),       # the same: reduction of split-K: a second kernel or a semaphore
    ("gemv_clocks", 4000, 2000, 9000),       # launch of the kernel for a single row
    ("gemv_step_clocks", 16, 0.2, 1000),     # clocks of LATENCY_HZ: of 128 bytes along k, there
    ("power_share", 0.8, 0.01, 10.0),        # of the peak, that long work sustains at 1 W of TDP per TFLOP/s ...
    ("power_exponent", 0.5, 0.0, 1.0),       # ... and how it grows with the W: P grows as f^2, so by 0.5; 1: as f
    ("l2_share", 0.5, 0.1, 1.2),             # of the L2 cache's size, what weights and data find in it
    ("tile_clocks", 6000, 100, 20000),       # epilogue of a tile of 128x128
    ("spill", 0.3, 0.0, 2.0),                # share of the waves' repeated reads that reach DRAM beyond the L2 cache
)
NAMES = tuple(c[0] for c in CONSTANTS)
START, LOW, HIGH = (np.array([c[i] for c in CONSTANTS], float) for i in (1, 2, 3))
(C_LAUNCH, C_TENSOR, C_READ, C_WRITE, C_STEP, C_STREAM, C_L2, C_EXPOSED, C_SPLIT, C_GEMV, C_GEMV_STEP, C_POWER,
 C_POWER_EXPONENT, C_CACHE, C_TILE, C_SPILL) = range(len(CONSTANTS))

# How constants follow from the FLOPs per clock of an SM, for its data paths are as wide as its tensor cores need them:
# exponents, which hold between the two classes of mma.sync and between the two of TMA (docs/whitebox.md;
# fit_products.py --law prints what others leave).
RATE_LAW = {C_STREAM: 0.5, C_L2: 1.0, C_TILE: -1.0, C_STEP: -0.5}
# What waits for the L2 cache and memory, whose own clocks differ less between chips than the SMs', is counted in clocks
# of LATENCY_HZ (an H100's) and takes less time as the SM's clock grows, to this power (fit_products.py --law).
WAITS, LATENCY_HZ, LATENCY_POWER = (C_STEP, C_SPLIT, C_GEMV_STEP), 1.98e9, 0.5

MMA_TILES = 19
TILES = np.array([(16, 32), (16, 64), (16, 128), (32, 32), (32, 64), (32, 128), (64, 16), (64, 32), (64, 64), (64, 128),
                  (64, 256), (128, 16), (128, 32), (128, 64), (128, 128), (128, 256), (256, 64), (256, 128),
                  (256, 256), (128, 192), (192, 128), (64, 192), (128, 96), (96, 128), (256, 192), (64, 96),
                  (96, 64)], np.float64)
SPLITS = np.array([1, 2, 3, 4, 6, 8, 16, 32], np.float64)
MOST_TILES = 2.0        # of 128x128, in flight on an SM; a larger one is alone
STEP_BYTES = 128.0      # of one row, that a step along k reads
GEMV_L2_SHARE = 0.5     # of the L2 cache's bandwidth, that a GEMV reaches
SHALLOW_DEPTH = 128.0   # k from which on a product by itself, in float32 on vector units, takes all of an epilogue
SUM_BYTES = 4.0         # of a partial sum of split-K, written and read


def at_rate(constants, ratio, law=RATE_LAW):
    """Constants of chips whose SMs do `ratio` times as many FLOPs per clock."""
    c = constants.copy()
    for i, exponent in law.items():
        c[i] *= ratio**exponent
    return c


@numba.njit(cache=True)
def product_time(f, c, batch, m, n, k, ea, ew, eo, rotate, repeats=1.0, k_step=0.0, gathers=1.0):
    """f: facts; c: constants; ea, ew, eo: bytes per element of A, B and C.

    rotate: copies of B that take turns in a benchmark, so that it finds in the L2 cache what fits so many times;
    0: a network, whose weights come from DRAM.
    repeats: of a convolution, how often an element of its data stands in A.
    k_step, gathers: of windows on vector units, columns of k that arithmetic takes at a time (0: as many as a step
    reads), and how much longer it takes for gathering them.
    """
    sms, clock, peak, bandwidth = f[SMS], f[CLOCK], f[PEAK], f[BANDWIDTH]
    waiting = LATENCY_HZ * (clock / LATENCY_HZ) ** LATENCY_POWER
    flops = 2.0 * batch * m * n * k
    a_bytes, b_bytes, c_bytes = batch * m * k * ea / repeats, batch * k * n * ew, batch * m * n * eo
    cache = f[L2] * c[C_CACHE]
    hot_weights = 1.0 / (1.0 + (rotate * b_bytes / cache) ** 8) if rotate > 0 else 0.0
    hot_data = 1.0 / (1.0 + ((max(rotate, 1.0) * b_bytes + a_bytes + c_bytes) / cache) ** 4)
    read = b_bytes * (1.0 - hot_weights) + a_bytes * (1.0 - hot_data)
    write = c_bytes * (1.0 - hot_data)
    resident = 1.0 / (1.0 + ((a_bytes + b_bytes) / cache) ** 2)
    l2_rate = c[C_L2] * clock * sms
    step = STEP_BYTES / max(ea, ew)
    relative = peak / f[HALF_PEAK]
    power = c[C_POWER] * f[HALF_PEAK] ** (1 - c[C_POWER_EXPONENT]) * (f[TDP] * 1e12) ** c[C_POWER_EXPONENT]
    sustained = gathers * flops / (power * (np.sqrt(relative) if relative > 1 else relative))
    epilogue = c[C_TILE] / clock * (min(1.0, k / SHALLOW_DEPTH) if f[SHALLOW] > 0 and batch == 1 else 1.0)
    best = 1e30
    for i in range(TILES.shape[0] if f[TMA] > 0 else MMA_TILES):
        bm, bn = TILES[i, 0], TILES[i, 1]
        if (bm > 64 and bm >= 2 * m) or (bn > 64 and bn >= 2 * n):
            continue  # half of the tile does the same
        rows, cols = np.ceil(m / bm), np.ceil(n / bn)
        tiles = batch * rows * cols
        in_flight = max(1.0, min(MOST_TILES, np.floor(MOST_TILES * 16384.0 / (bm * bn))))
        # what the tiles in flight, a square of the result, read of A and B if nothing stays from the wave before
        flight = min(rows * cols, sms * in_flight)
        flight_rows = min(rows, max(1.0, np.sqrt(flight * bn / bm)))
        flight_cols = min(cols, max(1.0, flight / flight_rows))
        flight_rows = min(rows, max(1.0, flight / flight_cols))
        wave_read = tiles / (flight_rows * flight_cols) * (
            flight_rows / rows * m * ea / repeats + flight_cols / cols * n * ew) * k
        again = max(0.0, wave_read - a_bytes - b_bytes) * (1.0 - resident) * c[C_SPILL]
        l2_bytes = batch * (cols * m * ea + rows * n * ew) * k
        dram = (read + again) / (c[C_READ] * bandwidth) + write / (c[C_WRITE] * bandwidth)
        for s in SPLITS:
            steps = np.ceil(k / s / step)
            depth = np.ceil(k / s / k_step) * k_step if k_step > 0 else steps * step
            per_sm = np.ceil(tiles * s / sms)
            waves = np.ceil(per_sm / in_flight)
            tensor = per_sm * sms * 2.0 * bm * bn * depth / (peak * c[C_TENSOR])
            operands = (bm * ea + bn * ew) * depth
            stream = waves * operands / (c[C_STREAM] * clock)
            latency = waves * steps * c[C_STEP] / waiting
            arithmetic = gathers * (max(tensor, max(stream, latency)) + waves * epilogue * bm * bn / 16384.0)
            traffic = max(dram, l2_bytes / l2_rate)
            main = max(arithmetic, traffic) + c[C_EXPOSED] * min(arithmetic, traffic)
            main = max(main, sustained)
            t = main + c[C_LAUNCH] / clock
            if s > 1:
                t += c[C_SPLIT] / waiting + 2.0 * SUM_BYTES * s * batch * m * n / l2_rate
            best = min(best, t)
    if m == 1 or n == 1:
        t = c[C_GEMV] / clock + np.ceil(k / step) * c[C_GEMV_STEP] / waiting + max(
            read / (c[C_READ] * bandwidth), (a_bytes + b_bytes) / (GEMV_L2_SHARE * l2_rate))
        best = t if f[GRAPHICS] > 0 else min(best, t)
    return best


@numba.njit(cache=True)
def product_times(facts, constants, rows):
    """facts, constants: one line per row of rows (batch, m, n, k, ea, ew, eo, rotate)."""
    out = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        r = rows[i]
        out[i] = product_time(facts[i], constants[i], r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7])
    return out
