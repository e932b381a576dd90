#!/usr/bin/env python3
"""Which two dozen products tell most of a chip whose class nobody measured: PRODUCTS of python/perfc/measure.

    OMP_NUM_THREADS=1 python studies/kernels/chosen_products.py [--choose] [--group-out] [--device-out] [--part 1|0]
        [--write]

Needs what fit_products.py does. Each class of chips in turn is left out: a device of it gets the constants of the
nearest class, of which the times of those products move nine (learning/kernel_calibration.cpp does the same), and is
judged on other products. --choose looks for a list on products of part 2, which fit: from medoids of all sizes, by
exchanging one at a time. --group-out chooses a list without a class, and judges it on that class. Without --choose the
list that ships is judged, beside two dozen at random. --device-out leaves out devices alone, whose class keeps its
constants and its learned factor. --write makes the tables of
tests/unit/kernel_calibration_test.cpp from it.
"""
import argparse
import multiprocessing
import pathlib
import sys

import numpy as np
import pandas as pd

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
import fit_products as fit  # noqa: E402
import product_data as data  # noqa: E402
import product_factor  # noqa: E402
from perfc.measure.products import PRODUCTS  # noqa: E402
from trees import GROUP_OF  # noqa: E402

COUNT = 24
STAYS = (0.3, 1, 3)  # kStays of learning/kernel_calibration.cpp: how strongly constants are held
LARGE = 0.1  # its kLargeError
PROBE = 0.02  # in ln, for slopes
LOOKED_AT = 800  # products of a device that choose
MOST_WEIGHTS, MOST_RESULTS = 4.2e8, 3e8  # elements, so that small GPUs hold them
STARTS, ROUNDS, TRIES = 200, 60, 6
REACH = 1.2  # octaves that an exchange moves a size by
SAMPLED = "b300-sxm"  # whose products the calibration's test has

world = {}  # what processes share: rows by device and size, products that choose, constants of the nearest class


def prepare(bf16):
    rows = bf16[bf16.part == 2]
    of_class = fit.fit_groups(rows)
    world["rows"] = {x: rows[rows.device == x].set_index(["m", "n", "k"]) for x in GROUP_OF}
    world["looked_at"] = {x: rows[rows.device == x].sample(LOOKED_AT, random_state=5) for x in GROUP_OF}
    world["near"] = {x: fit.moved(of_class[fit.NEAREST[g]], fit.NEAREST[g], g) for x, g in GROUP_OF.items()}
    common = set.intersection(*(set(r.index) for r in world["rows"].values()))
    sizes = np.array(sorted(s for s in common if s[1] * s[2] <= MOST_WEIGHTS and s[0] * s[1] <= MOST_RESULTS))
    world["sizes"], world["logs"] = [tuple(int(v) for v in s) for s in sizes], np.log2(sizes)


def evidence(few, found, start, stay):
    """How likely the rows are if constants are held so: Laplace's approximation, as the program has it."""
    errors = lambda c: np.log(fit.predict(few, c) / few.t.to_numpy())  # noqa: E731
    at, free = errors(found), fit.ADAPTED
    slopes = []
    for i in free:
        moved = found.copy()
        moved[i] *= np.exp(PROBE)
        slopes.append((errors(moved) - at) / PROBE)
    size, slopes = np.abs(at), np.array(slopes).T
    weights = np.minimum(1, LARGE / np.maximum(size, 1e-12))
    hessian = slopes.T @ (weights[:, None] * slopes) + stay**2 * np.eye(len(free))
    loss = np.where(size <= LARGE, size**2, LARGE * (2 * size - LARGE)).sum()
    loss += stay**2 * (np.log(found[free] / start[free])**2).sum()
    return len(free) * np.log(stay) - (np.linalg.slogdet(hessian)[1] + len(few) * np.log(loss)) / 2


def moved_by(few, start):
    """Constants of a known class by these rows, held as makes the rows likelier (MacKay 1992)."""
    found = [(stay, fit.Fit()(few, start, fit.ADAPTED, stay=stay)) for stay in STAYS]
    return max(found, key=lambda f: evidence(few, f[1], start, f[0]))[1]


def calibrated(device, few):
    """Of a class that nobody measured: with STAYS as rows like it, 0.9 points worse."""
    return fit.Fit()(few, world["near"][device], fit.ADAPTED, stay=STAYS[0])


def errors(sizes, devices, judged):
    """Of devices of classes left out, by what these products of theirs take: mean %, by device."""
    out = {}
    for x in devices:
        c = calibrated(x, world["rows"][x].loc[list(sizes)].reset_index())
        out[x] = fit.percent_errors(judged[x], c).mean()
    return out


def loss(sizes, devices):
    if len(set(sizes)) < COUNT:
        return np.inf
    return np.mean(list(errors(sizes, devices, world["looked_at"]).values()))


def nearest(log):
    return world["sizes"][((world["logs"] - log)**2).sum(1).argmin()]


def medoids(seed, rounds=40):
    logs, rng = world["logs"], np.random.default_rng(seed)
    centres = logs[rng.choice(len(logs), COUNT, replace=False)]
    for _ in range(rounds):
        of = ((logs[:, None] - centres)**2).sum(2).argmin(1)
        centres = np.stack([logs[of == i].mean(0) if (of == i).any() else c for i, c in enumerate(centres)])
    return [nearest(c) for c in centres]


def from_medoids(task):
    seed, devices = task
    sizes = medoids(seed)
    return loss(sizes, devices), sizes


def exchanged(task):
    seed, sizes, devices = task
    rng = np.random.default_rng(seed)
    at, found = rng.integers(COUNT), list(sizes)
    found[at] = nearest(np.log2(found[at]) + rng.normal(0, REACH, 3))
    return loss(found, devices), found


def chosen(devices, starts=STARTS):
    with multiprocessing.Pool(2) as pool:
        best, sizes = min(pool.map(from_medoids, [(seed, devices) for seed in range(starts)], chunksize=4))
        for r in range(ROUNDS):
            tries = pool.map(exchanged, [(r * TRIES + i, sizes, devices) for i in range(TRIES)], chunksize=1)
            best, sizes = min([(best, sizes), *tries], key=lambda t: t[0])
    print(f"chosen on {', '.join(devices)}: {best:.2f} %", flush=True)
    return sorted(sizes)


def show(label, found):
    cells = ", ".join(f"{x} {v:.1f}" for x, v in found.items())
    print(f"{label}: {np.mean(list(found.values())):.2f} %; {cells}", flush=True)


def at_random(judged, seeds=5):
    found = {}
    for x in GROUP_OF:
        of_seed = [calibrated(x, world["rows"][x].sample(COUNT, random_state=s).reset_index()) for s in range(seeds)]
        found[x] = np.mean([fit.percent_errors(judged[x], c).mean() for c in of_seed])
    return found


def judge_device_out(bf16, judged):
    """Devices whose class has others: without their products, and with them; the factor's share of these is known."""
    rows, found = bf16[bf16.part == 2], {}
    fitted, constants = fit.sample(rows, 8000, 5), product_factor.class_constants()
    for x, g in GROUP_OF.items():
        siblings = [y for y in data.GROUPS[g] if y != x]
        if not siblings:
            continue
        own = fit.fit_class(rows[rows.device.isin(siblings)], 2 * fit.ROWS // len(siblings))
        without = {**constants, **dict.fromkeys(data.GROUPS[g], own)}
        trees = product_factor.train(fitted[fitted.device != x], without)
        few = world["rows"][x].loc[PRODUCTS].reset_index()
        few = few.assign(t=few.t / product_factor.factors(trees, few, [g] * len(few)))
        v = judged[x]
        factors = product_factor.factors(trees, v, [g] * len(v))
        for label, c in (("device out", own), ("device out, chosen", moved_by(few, own))):
            found.setdefault(label, {})[x] = np.abs(fit.predict(v, c) * factors / v.t.to_numpy() - 1).mean() * 100
    for label, of_device in found.items():
        show(label, of_device)


def write(bf16):
    """A device's products as `perfc devices calibrate` reads them."""
    def lines(rows):
        return "device,kind,m,n,k,dtype,us,copies\n" + "".join(
            f"{data.NAMES[SAMPLED]},gemm,{r.m},{r.n},{r.k},bf16,{r.t * 1e6:.4g},6\n" for r in rows.itertuples())

    one, folder = bf16[bf16.device == SAMPLED], data.ROOT / "tests/fixtures"
    (folder / "products_to_calibrate.csv").write_text(lines(world["rows"][SAMPLED].loc[PRODUCTS].reset_index()))
    (folder / "products_to_judge.csv").write_text(lines(one[one.part == 1].sample(100, random_state=0)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--choose", action="store_true")
    p.add_argument("--group-out", action="store_true")
    p.add_argument("--device-out", action="store_true")
    p.add_argument("--part", type=int, default=1, choices=(0, 1))
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    bf16 = data.bf16()
    prepare(bf16)
    sample = fit.sample(bf16[bf16.part == a.part], 2500, 1)
    judged = {x: sample[sample.device == x] for x in GROUP_OF}
    sizes = chosen(list(GROUP_OF)) if a.choose else PRODUCTS
    print(sizes)
    show("at random", at_random(judged))
    show("chosen", errors(sizes, list(GROUP_OF), judged))
    if a.group_out:
        found = {}
        for g, members in data.GROUPS.items():
            without = chosen([x for x in GROUP_OF if x not in members])
            found.update(errors(without, members, judged))
        show("chosen without the class", found)
    if a.device_out:
        judge_device_out(bf16, judged)
    if a.write:
        write(bf16)


if __name__ == "__main__":
    main()
