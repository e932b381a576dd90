#!/usr/bin/env python3
"""Fits the constants of whitebox/price/matmul_time.* per chip class on measured products, and judges them.

    OMP_NUM_THREADS=1 python studies/kernels/fit_products.py [--part 1|0] [--boost] [--law] [--shallow] [--write]

Needs numpy, scipy, pandas, numba (lightgbm for --boost). Reads shared/data (PERFC_SHARED says where). --part 1 judges
on the shapes that chose the form, 0 on the shapes kept back (docs/judged.md notes each look). --write prints the table
for whitebox/constants/products.h and writes tests/unit/product_times.tsv. --law only says how far off a class that is
left out would be by other exponents than RATE_LAW's, --shallow only how products by themselves in float32 come out by
their depth, with other depths than SHALLOW_DEPTH from which on they take a whole epilogue, on the shapes that fit.
"""
import argparse
import time

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

import product_data as data
import product_model as pm
import product_table

ROWS, SINGLE_ROWS = 1500, 250     # per fit: products, and those of a single row
# L40S' 0.7 TFLOP/s per W are L4's and RTX PRO 6000's, too (square_products.py)
GRAPHICS_EXPONENT = 1.0
STAY = 0.05  # in which constants stay at their start that no product tells
STARTS = ({}, {"step_clocks": 160, "tile_clocks": 4000})
GEMV = [pm.C_GEMV, pm.C_GEMV_STEP]
BODY = [i for i in range(len(pm.NAMES)) if i not in GEMV + [pm.C_POWER, pm.C_POWER_EXPONENT]]
# What a few measurements of a device can tell from another class' constants
ADAPTED = [pm.C_LAUNCH, pm.C_TENSOR, pm.C_READ, pm.C_WRITE, pm.C_STEP, pm.C_L2, pm.C_TILE, pm.C_POWER, pm.C_SPLIT]
GEFORCE = [pm.C_TENSOR, pm.C_READ, pm.C_WRITE, pm.C_STEP, pm.C_STREAM, pm.C_L2, pm.C_EXPOSED, pm.C_SPLIT, pm.C_TILE,
           pm.C_SPILL]
# The L2 cache of GA100, Hopper and data-centre Blackwell has two halves, each with copies of what its SMs read
# (NVIDIA A100 whitepaper, "L2 cache"); graphics chips have one.
WHOLE_CACHE, HALF_CACHE = 1.0, 0.5
NEAREST = {"ga100": "graphics", "graphics": "ga100", "hopper": "blackwell", "blackwell": "hopper"}


def predict(d, constants, unit=1.0):
    lines = np.broadcast_to(constants * unit, (len(d), len(pm.NAMES)))
    return pm.product_times(data.facts(d), np.ascontiguousarray(lines), data.rows(d))


def percent_errors(d, constants, unit=1.0):
    return np.abs(predict(d, constants, unit) / d.t.to_numpy() - 1) * 100


def log_loss(d, constants):
    return np.minimum(np.abs(np.log(predict(d, constants) / d.t.to_numpy())), 0.5).mean()


def sample(d, per_device, seed=0):
    return d.groupby("device", group_keys=False)[list(d.columns)].apply(
        lambda x: x.sample(min(per_device, len(x)), random_state=seed))


class Fit:
    """Robust least squares of log time over some of the constants, in logarithms where a constant is positive."""

    def __init__(self, low=pm.LOW, high=pm.HIGH):
        self.low, self.high, self.positive = low, high, low > 0

    def encode(self, c):
        return np.where(self.positive, np.log(np.maximum(c, 1e-12)), c)

    def decode(self, z):
        return np.where(self.positive, np.exp(np.where(self.positive, z, 0)), z)

    def __call__(self, d, start, free, scale=0.1, stay=0.0, unit=1.0):
        """stay: weight of the distance to the start; unit: what constants are multiplied with, row by row."""
        base, free = self.encode(start), np.array(free)
        low, high = self.encode(self.low)[free], self.encode(self.high)[free]
        facts, rows, target = data.facts(d), data.rows(d), np.log(d.t.to_numpy())

        def full(z):
            e = base.copy()
            e[free] = z
            return self.decode(e)

        def residuals(z):
            lines = np.ascontiguousarray(np.broadcast_to(full(z) * unit, (len(d), len(base))))
            r = np.log(pm.product_times(facts, lines, rows)) - target
            return np.concatenate([r, stay * (z - base[free])]) if stay else r

        z0 = np.clip(base[free], low + 1e-6, high - 1e-6)
        x_scale = np.where(self.positive[free], 0.3, 0.2)
        found = least_squares(residuals, z0, bounds=(low, high), loss="soft_l1", f_scale=scale, diff_step=3e-3,
                              max_nfev=40, x_scale=x_scale)
        return full(found.x)


def power_share(d, quantile=0.6, exponent=0.5):
    """Share of the peak that products of 5 ms and more sustain, when clocks have settled at the power limit, at 1 W of
    TDP per TFLOP/s of peak; with an exponent of 1, TFLOP/s per W."""
    long = d[(d.t > 5e-3) & (d.m >= 256) & (d.n >= 256)]
    f = data.facts(long)
    rate = 2.0 * long.batch * long.m * long.n * long.k / long.t
    return np.quantile(rate / f[:, pm.PEAK] / (f[:, pm.TDP] * 1e12 / f[:, pm.PEAK]) ** exponent, quantile)


def started(values):
    """pm.START but for some of it, by name."""
    c = pm.START.copy()
    for name, value in values.items():
        c[pm.NAMES.index(name)] = value
    return c


def fit_class(d, per_device=ROWS):
    """Constants of the devices of d: products of several rows, then those of a single row."""
    several, single = sample(d[d.m > 1], per_device), sample(d[d.m == 1], SINGLE_ROWS)
    fit, found = Fit(), []
    for start in STARTS:
        c = started(start)
        c[pm.C_POWER_EXPONENT] = GRAPHICS_EXPONENT if set(d.device) <= set(data.GROUPS["graphics"]) else 0.5
        c[pm.C_POWER] = power_share(d, exponent=c[pm.C_POWER_EXPONENT])
        c = fit(several, c, BODY, stay=STAY)
        found.append((log_loss(several, c), c))
    return fit(single, min(found, key=lambda x: x[0])[1], GEMV, scale=0.05, stay=STAY)


AMD_HALF_STARTS = [{"launch_clocks": x, "step_clocks": y} for x, y in ((8000, 750), (8000, 300), (1e4, 1500))]
# A fit of NeuSight's rows alone takes 0.2 of the bandwidth for writing, which is
# something else that small products lack.
LEAST_WRITE = 0.6
# Clocks that a load from memory takes (V100: Jia et al., arXiv 1804.06826, table 3.1).
LEAST_STEP = 400
# Whose own limit holds no product: times the class' power. Zeus' V100 draws 226 of its 250 W (studies/power_limits.py).
UNHELD = {"Tesla V100-PCIE-32GB": 2.0}
# What a CTA reads hides behind its arithmetic there: any rate fits.
FLOAT32 = [i for i in BODY if i != pm.C_STREAM]


def fit_float32(d, limited):
    """Constants of products on the vector units. NeuSight's times have the host's share in them: a launch of its own.
    The power limit shows on the cards of 70 W, `limited`, in proportion to the power (a share of it is not the
    clock's)."""
    high, low = pm.HIGH.copy(), pm.LOW.copy()
    for i, most in ((pm.C_LAUNCH, 6e4), (pm.C_STEP, 6e3), (pm.C_TILE, 5e4), (pm.C_SPLIT, 5e4)):
        high[i] = most
    low[pm.C_CACHE], low[pm.C_READ], low[pm.C_WRITE], low[pm.C_STEP] = 0.05, 0.4, LEAST_WRITE, LEAST_STEP
    start = pm.START.copy()
    start[pm.C_LAUNCH], start[pm.C_STEP] = 2e4, 2e3
    start[pm.C_POWER], start[pm.C_POWER_EXPONENT] = (power_share(limited, 0.8, 1.0), 1.0) if len(limited) else (1, 0)
    some = sample(d, 700)
    return Fit(low, high)(some, start, FLOAT32, stay=STAY, unit=of_power(some, {x: UNHELD.get(x, 1) for x in d.device}))


def fit_amd(d):
    """Constants of products on AMD's matrix cores: float32 by rocBLAS, times with the host's share as above."""
    start = pm.START.copy()
    start[pm.C_LAUNCH], start[pm.C_STEP] = 2e4, 750
    start[pm.C_POWER], start[pm.C_POWER_EXPONENT] = power_share(d, 0.8), 0.5
    high, low = pm.HIGH.copy(), pm.LOW.copy()
    # A step of more than 1,600 clocks fits no better, and would make small products, which nobody measured, slow.
    for i, most in ((pm.C_LAUNCH, 6e4), (pm.C_STEP, 1.6e3), (pm.C_TILE, 5e4), (pm.C_SPLIT, 5e4)):
        high[i] = most
    low[pm.C_CACHE], low[pm.C_READ], low[pm.C_WRITE] = 0.05, 0.4, LEAST_WRITE
    return Fit(low, high)(sample(d, 1200), start, BODY, stay=STAY)


def of_power(d, shares):
    """Factors on constants, row by row: each device's own share of power."""
    unit = np.ones((len(d), len(pm.NAMES)))
    unit[:, pm.C_POWER] = [shares[x] for x in d.device]
    return unit


def amd_power(d):
    """power_share of each device: of a generation, as product_table.py has it."""
    return {x: power_share(v) for x, v in d.groupby("device")}


def fit_amd_half(d, shares):
    """The same in 16 bits, of several rows as of one, beside the power of each device."""
    high, low = pm.HIGH.copy(), pm.LOW.copy()
    for i, most in ((pm.C_LAUNCH, 3e4), (pm.C_STEP, 6e3), (pm.C_TILE, 5e4), (pm.C_SPLIT, 5e4), (pm.C_GEMV, 2e12)):
        high[i] = most
    low[pm.C_CACHE], low[pm.C_READ], low[pm.C_WRITE] = 0.02, 0.3, LEAST_WRITE
    unit, found = of_power(d, shares), []
    for start in AMD_HALF_STARTS:
        c = started(start)
        c[pm.C_GEMV], c[pm.C_POWER], c[pm.C_POWER_EXPONENT] = data.NEVER, 1, 0.5
        c = Fit(low, high)(d, c, BODY, stay=STAY, unit=unit)
        found.append((np.abs(np.log(predict(d, c, unit) / d.t.to_numpy())).mean(), c))
    return min(found, key=lambda x: x[0])[1]


def roofline(d):
    f = data.facts(d)
    flops = 2.0 * d.batch * d.m * d.n * d.k
    size = d.batch * (d.m * d.k * d.ea + d.k * d.n * d.ew + d.m * d.n * d.eo)
    return np.maximum(flops / f[:, pm.PEAK], size / f[:, pm.BANDWIDTH]).to_numpy() + 3e-6


def features(d, c):
    """Dimensionless: how tiles fill the SMs, what fits in the L2 cache, which term limits."""
    f, t = data.facts(d), predict(d, c)
    size = {x: (d.batch * d[p] * d[q] * d[e]).to_numpy() / f[:, pm.L2]
            for x, p, q, e in (("a", "m", "k", "ea"), ("b", "k", "n", "ew"), ("c", "m", "n", "eo"))}
    out = {"arithmetic": 2.0 * d.m * d.n * d.k / f[:, pm.PEAK] / t, "steps": d.k / 64,
           "read": size["b"] * f[:, pm.L2] / f[:, pm.BANDWIDTH] / t, "launch": 1e-6 / t, "m": d.m, "n": d.n}
    out.update({"size_" + x: v for x, v in size.items()})
    for bm, bn in ((64, 64), (128, 128), (128, 256), (256, 128)):
        tiles = np.ceil(d.m / bm) * np.ceil(d.n / bn)
        waves = tiles / f[:, pm.SMS]
        out[f"waves_{bm}_{bn}"], out[f"tail_{bm}_{bn}"] = waves, np.ceil(waves) / waves
        out[f"fill_{bm}_{bn}"] = d.m * d.n / (tiles * bm * bn)
    return np.log(pd.DataFrame(out, index=d.index).clip(lower=1e-12)).assign(m16=d.m % 16, m128=d.m % 128)


def boosted(fit_rows, fit_constants, d, constants):
    """Times with a learned factor: 150 trees of 15 leaves on log(measured / analytic)."""
    import lightgbm
    x = pd.concat([features(g, fit_constants[k]) for k, g in fit_rows.groupby("device")])
    y = pd.concat([np.log(g.t / predict(g, fit_constants[k])) for k, g in fit_rows.groupby("device")])
    options = dict(objective="l1", num_leaves=15, learning_rate=0.1, num_threads=1, verbose=-1)
    model = lightgbm.train(options, lightgbm.Dataset(x, y), num_boost_round=150)
    return predict(d, constants) * np.exp(model.predict(features(d, constants)))


class Table:
    """Rows of the report: a protocol's errors, device by device, and their mean."""

    def __init__(self):
        self.rows = {}

    def add(self, row, device, errors):
        self.rows.setdefault(row, {})[device] = (errors.mean(), np.median(errors))

    def print(self):
        devices = list(dict.fromkeys(x for r in self.rows.values() for x in r))
        print("| protocol | mean | " + " | ".join(devices) + " |\n|" + "---|" * (len(devices) + 2))
        for row, cells in self.rows.items():
            mean = np.mean(list(cells.values()), axis=0)
            text = [f"{cells[x][0]:.1f}/{cells[x][1]:.1f}" if x in cells else "" for x in devices]
            print(f"| {row} | {mean[0]:.1f}/{mean[1]:.1f} | " + " | ".join(text) + " |")


def moved(constants, source, group, law=pm.RATE_LAW):
    """Constants of the class `source` on chips of another one: the L2 cache's part that is seen is a fact of the
    chip."""
    c = pm.at_rate(constants, data.sm_flops(data.GROUPS[group]) / data.sm_flops(data.GROUPS[source]), law)
    c[pm.C_CACHE] = WHOLE_CACHE if group == "graphics" else HALF_CACHE
    return c


def fit_groups(fit_rows):
    return {g: fit_class(fit_rows[fit_rows.device.isin(v)], ROWS if len(v) == 1 else 2 * ROWS // len(v))
            for g, v in data.GROUPS.items()}


def judge_law(fit_rows, judged):
    """Of each constant that follows the SM's rate or clock, the error of classes left out by other exponents."""
    of_class = fit_groups(fit_rows)
    clocks = {g: np.mean([data.FACTS[x][pm.CLOCK] for x in v]) for g, v in data.GROUPS.items()}

    def error(law, more_clocks):
        errors = []
        for g, v in data.GROUPS.items():
            c = moved(of_class[NEAREST[g]], NEAREST[g], g, law)
            for i, exponent in more_clocks.items():
                c[i] *= (clocks[g] / clocks[NEAREST[g]])**exponent
            errors += [percent_errors(judged[judged.device == x], c).mean() for x in v]
        return np.mean(errors)

    for i, exponent in pm.RATE_LAW.items():
        found = ", ".join(f"{x:g}: {error({**pm.RATE_LAW, i: x}, {}):.2f}" for x in (-1.0, -0.5, 0.0, 0.5, 1.0))
        print(f"{pm.NAMES[i]} by FLOPs per clock (ships {exponent:g}): {found}", flush=True)
    for name, of, exponent in (("waits", pm.WAITS, pm.LATENCY_POWER), ("tile_clocks", (pm.C_TILE,), 1.0),
                               ("launch_clocks", (pm.C_LAUNCH, pm.C_GEMV), 1.0)):
        found = ", ".join(f"{x:g}: {error(pm.RATE_LAW, dict.fromkeys(of, exponent - x)):.2f}" for x in (0.0, 0.5, 1.0))
        print(f"{name} by the clock (ships {exponent:g}): {found}", flush=True)


def judge_bf16(d, judged, boost):
    fit_rows = d[d.part == 2]
    groups = {x: g for g, names in data.GROUPS.items() for x in names}
    seen = {x: fit_class(fit_rows[fit_rows.device == x]) for x in groups}
    of_class = fit_groups(fit_rows)
    table = Table()
    for x, g in groups.items():
        v = judged[judged.device == x]
        apes = lambda t: np.abs(t / v.t.to_numpy() - 1) * 100
        table.add("roofline + 3 us", x, apes(roofline(v)))
        table.add("unseen shapes, constants of the device", x, percent_errors(v, seen[x]))
        table.add("unseen shapes, constants of the class (shipped)", x, percent_errors(v, of_class[g]))
        siblings = [y for y in data.GROUPS[g] if y != x]
        if siblings:
            c = fit_class(fit_rows[fit_rows.device.isin(siblings)], 2 * ROWS // len(siblings))
            table.add("device out, constants of its siblings", x, percent_errors(v, c))
            if boost:
                rows = sample(fit_rows[fit_rows.device.isin(siblings)], 6000)
                table.add("device out, boosted", x, apes(boosted(rows, {y: seen[y] for y in siblings}, v, c)))
        near = moved(of_class[NEAREST[g]], NEAREST[g], g)
        table.add("group out, constants of the nearest", x, percent_errors(v, near))
        if boost:
            rows = sample(fit_rows, 6000)
            table.add("unseen shapes, boosted", x, apes(boosted(rows, seen, v, seen[x])))
            others = [y for y in groups if groups[y] != g]
            table.add("group out, boosted", x, apes(boosted(rows[rows.device.isin(others)], seen, v, near)))
    print("\n## bf16, shared/data/datacenter\n")
    table.print()
    return of_class


# Whose limit tells the power of a class. P4's linear layers run at 0.4 of its batched products, hot, and by them alone
# its convolutions, which no fit saw, would take 1.3 times as long as they do.
POWER_OF = {"vector": (), "vector_pascal": ("Tesla P4", "Tesla T4"), "vector_volta": ("Tesla T4",)}


def judge_float32(d, judged):
    fit_rows, table = d[d.part == 2], Table()
    limited = {name: fit_rows[fit_rows.device.isin(devices)] for name, devices in POWER_OF.items()}
    of_class = {name: fit_float32(fit_rows[fit_rows.device.isin(data.FITTED_BY.get(name, devices))], limited[name])
                for name, devices in data.VECTOR_GROUPS.items()}
    for name, devices in data.VECTOR_GROUPS.items():
        for x in devices:
            v = judged[judged.device == x]
            apes = np.abs(roofline(v) / v.t.to_numpy() - 1) * 100
            table.add("roofline + 3 us", x, apes)
            table.add("unseen shapes, constants of the class (shipped)", x, percent_errors(v, of_class[name]))
            siblings = data.FITTED_BY.get(name, devices) if len(devices) > 1 else data.NEUSIGHT
            others = [y for y in siblings if y != x]
            c = fit_float32(fit_rows[fit_rows.device.isin(others)], limited[name][limited[name].device != x])
            table.add("device out, constants of the others", x, percent_errors(v, c))
    print("\n## float32 on vector units, shared/data/ops_neusight\n")
    table.print()
    return of_class


def fit_geforce(d, start):
    """From L40S' constants, what differs on cards whose tensor cores run at half rate and whose clocks exceed the
    sheet's. Tokens count about equally by octave."""
    octave = np.floor(np.log2(d.m))
    some = d.groupby(["device", "n", "k", octave], group_keys=False)[list(d.columns)].apply(
        lambda x: x.sample(min(8, len(x)), random_state=0))
    high = pm.HIGH.copy()
    high[pm.C_TENSOR] = 1.4
    return Fit(high=high)(some[some.m > 1], start, GEFORCE, stay=1.0)


def judge_amd(d, judged):
    fit_rows, table = d[d.part == 2], Table()
    both = fit_amd(fit_rows)
    for x in data.AMD:
        v = judged[judged.device == x]
        table.add("roofline + 3 us", x, np.abs(roofline(v) / v.t.to_numpy() - 1) * 100)
        table.add("unseen shapes, constants of both (shipped)", x, percent_errors(v, both))
        table.add("device out, constants of the other", x, percent_errors(v, fit_amd(fit_rows[fit_rows.device != x])))
    print("\n## float32 on AMD's matrix cores, shared/data/ops_amd\n")
    table.print()
    return both


def judge_amd_half(d):
    """Each pair of n and k left out, too, but for the power: the parts of fit_products.py would leave one or two."""
    table, shares = Table(), amd_power(d)
    both = fit_amd_half(d, shares)
    print("\n## bf16 on AMD's matrix cores, studies/kernels/cdna_products.tsv; power_share", shares, "\n")
    for x in data.AMD_HALF:
        v, others = d[d.device == x], d[d.device != x]
        off = lambda rows, c, power: percent_errors(rows, c, of_power(rows, power))
        table.add("roofline + 3 us", x, np.abs(roofline(v) / v.t.to_numpy() - 1) * 100)
        table.add("constants of both (shipped)", x, off(v, both, shares))
        pairs = [shapes for _, shapes in v.groupby(["n", "k"])]
        left_out = [off(shapes, fit_amd_half(d.drop(shapes.index), shares), shares) for shapes in pairs]
        table.add("n and k out, constants of both", x, np.concatenate(left_out))
        power = {y: shares[z] for y, z in zip(data.AMD_HALF, reversed(data.AMD_HALF))}
        table.add("device out, constants of the other", x, off(v, fit_amd_half(others, shares), power))
    table.print()
    return both


def judge_shallow(d):
    """NeuSight's linear layers on GPUs of the classes since Volta whose constants are their own."""
    d = d[(d.part == 2) & (d.op == "linear")]
    bins = [0, 16, 32, 64, 128, 256, 512, 1024, 1e5]
    for device, chip in (("NVIDIA A100-PCIE-40GB", "Vector"), ("Tesla V100-PCIE-32GB", "VectorVolta")):
        rows = d[d.device == device]
        whole = data.class_constants(chip, pm.NAMES)
        facts, sizes = data.facts(rows), data.rows(rows)
        facts[:, pm.SHALLOW] = 0
        print(f"\n## {device}: median of predicted ÷ measured by k up to {bins[1:]}\n")
        for depth in (0, 64, 128, 256, 512):  # 0: a whole epilogue whatever k
            lines = np.repeat(whole[None], len(rows), 0)
            if depth:
                lines[:, pm.C_TILE] *= np.minimum(1, rows.k / depth)
            ratio = pd.Series(pm.product_times(facts, lines, sizes) / rows.t.to_numpy())
            medians = ratio.groupby(pd.cut(rows.k.to_numpy(), bins), observed=False).median()
            print(f"{depth:4}: " + " ".join(f"{x:5.2f}" for x in medians) + f"   MAPE {abs(ratio - 1).mean():.1%}")


def judge_vidur(d, constants):
    table = Table()
    for x, name in (("a100-sxm", "ga100"), ("h100-sxm", "hopper")):
        v = d[d.device == x]
        table.add("roofline + 3 us", x, np.abs(roofline(v) / v.t.to_numpy() - 1) * 100)
        table.add("constants of the class (shipped)", x, percent_errors(v, constants[name]))
    print("\n## fp16 projections of language models, shared/data/vidur; no fit saw them\n")
    table.print()


def judge_geforce(d, part, start):
    fit_rows, table = d[d.part == 2], Table()
    devices = list(d.device.unique())
    together = fit_geforce(fit_rows, start)
    for x in devices:
        v = d[(d.part == part) & (d.device == x)]
        v = v.groupby(["n", "k", np.floor(np.log2(v.m))], group_keys=False)[list(v.columns)].apply(
            lambda y: y.sample(min(8, len(y)), random_state=1))
        table.add("roofline + 3 us", x, np.abs(roofline(v) / v.t.to_numpy() - 1) * 100)
        table.add("constants of L40S", x, percent_errors(v, start))
        table.add("device out, constants of the other card", x,
                  percent_errors(v, fit_geforce(fit_rows[fit_rows.device != x], start)))
        table.add("unseen tokens, constants of both (shipped)", x, percent_errors(v, together))
    print("\n## bf16 on GeForce, layers of Llama-3.1-8B, shared/data/llmservingsim\n")
    table.print()
    return together


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--part", type=int, default=1, choices=(0, 1))
    arguments.add_argument("--boost", action="store_true")
    arguments.add_argument("--law", action="store_true")
    arguments.add_argument("--shallow", action="store_true")
    arguments.add_argument("--write", action="store_true")
    a = arguments.parse_args()
    if a.shallow:
        return judge_shallow(data.fp32())
    start = time.time()
    bf16, fp32 = data.bf16(), data.fp32()
    judged = sample(bf16[bf16.part == a.part], 2500, 1)
    if a.law:
        return judge_law(bf16[bf16.part == 2], judged)
    constants = judge_bf16(bf16, judged, a.boost)
    constants.update(judge_float32(fp32, sample(fp32[fp32.part == a.part], 1500, 1)))
    amd = data.amd_fp32()
    constants["cdna"] = judge_amd(amd, sample(amd[amd.part == a.part], 1500, 1))
    constants["cdna_half"] = judge_amd_half(data.amd_bf16())
    judge_vidur(data.vidur(), constants)
    constants["geforce"] = judge_geforce(data.geforce(), a.part, constants["graphics"])
    product_table.print_constants(constants)
    if a.write:
        product_table.write_pinned(product_table.shipped(constants), data.ROOT / "tests/unit/product_times.tsv")
    print(f"\n{time.time() - start:.0f} s, judged on part {a.part}")


if __name__ == "__main__":
    main()
