"""What fits of inference's kernels share: constants as they ship, what memory takes, each shape's kernels once, fits
beside what ships."""
import functools
import json
import pathlib
import re
import sys

import numpy as np
import scipy.optimize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import fit  # noqa: E402
import profiles  # noqa: E402
import shipped  # noqa: E402

SM_CLOCKS = profiles.SMS * profiles.CLOCK_MHZ  # in a µs
BANDWIDTH = 0.88 * fit.BANDWIDTH / 1e6  # byte per µs that streams reach: "bandwidth" of data/devices.json
LAUNCH_US = 2  # beside a kernel's work: "launch_us" there
L2_BYTES = 60 * 2**20  # "l2_mib" there
BYTES = {"float": 4, "c10::Half": 2, "c10::BFloat16": 2}
SHIPPED = shipped.constants()


@functools.cache
def tables():
    """(cell, kernels) of single operators and of models that infer, large ones too."""
    return [(cell, kernels) for name in ("operators", "fit", "large", "diffusion")
            for cell, kernels in profiles.by_cell(name).items() if not cell.endswith(" train")]


def missed(moved):
    """1: of so many bytes, what the L2 cache does not hold: missed of whitebox/price/memory_bound_time.cpp."""
    return 1 / (1 + (SHIPPED["kCacheUse"] * L2_BYTES / moved)**4)


def memory_us(moved):
    """Of what other kernels of the run write and read: memory_s there."""
    return moved * missed(moved) / BANDWIDTH


def walked_us(clocks, moved):
    """Memory, or so many clocks of an SM where those are more than loads alone take: memory_bound_time there."""
    memory, (byte, overlap) = memory_us(moved), SHIPPED["kElementwiseTime"]
    loads = byte * moved / SM_CLOCKS
    alone = (memory**overlap + loads**overlap)**(1 / overlap)
    return np.where(clocks > byte * moved, np.maximum(memory, clocks / SM_CLOCKS), alone)


def is_last(dims, strides):
    return len(dims) == 4 and dims[1] > 1 and strides[1] == 1


def is_contiguous(dims, strides):
    expected = np.cumprod([1, *dims[:0:-1]])[::-1]
    return all(s == e for d, s, e in zip(dims, strides, expected) if d > 1)


def rows_of(operators, make, named="", cells=None):
    """Each shape's kernel once: of operators, by a pattern of names, what `make` says of the kernel and the shapes,
    strides and types of what it took; none: it is of another kind. Also its grid, its block and µs with the gap
    behind it. Cells: those of `tables`, or others."""
    found = []
    for _, kernels in cells or tables():
        for k in kernels:
            if k.operator in operators and k.dims and re.search(named, k.kernel):
                made = make(k, json.loads(k.dims), json.loads(k.strides), json.loads(k.types))
                if made:
                    ran = {"grid": k.grid, "block": k.block, "us": k.us + profiles.GAP_US}
                    found.append(((k.operator, k.dims, k.strides, k.types, k.arguments), {**made, **ran}))
    return once(found)


def columns(rows):
    return {key: np.array([r[key] for r in rows]) for key in rows[0] if not isinstance(rows[0][key], list)}


def mape(said, measured):
    return 100 * np.abs(said / measured - 1).mean()


def shown(name, constants):
    return " ".join(f"{v:.3g}" for v in np.atleast_1d(constants[name]))


def refit(names, law, rows, held=0):
    """Prints constants by least mean |ln| of what `law` (constants, columns of `rows` -> µs) says over what they took
    ("us"), in brackets what ships. Zeros stay, the first `held` values, and what no kernel tells."""
    if len(rows) < 4:
        print(f"{', '.join(names)}: {len(rows)} kernels, too few")
        return
    of = columns(rows)
    measured = of["us"]
    start = np.concatenate([np.atleast_1d(SHIPPED[n]) for n in names])
    free = (start > 0) & (np.arange(len(start)) >= held)

    def constants(logs):
        flat = start.copy()
        flat[free] = np.exp(logs)
        out, at = dict(SHIPPED), 0
        for n in names:
            size = np.size(SHIPPED[n])
            out[n] = tuple(flat[at:at + size]) if isinstance(SHIPPED[n], tuple) else flat[at]
            at += size
        return out

    begin = np.log(start[free])

    def loss(logs):
        return np.abs(np.log(law(constants(logs), of) / measured)).mean() + 1e-3 * np.abs(logs - begin).mean()

    best = begin
    for width in (0.4, 0.1, 0.4, 0.1):
        simplex = np.vstack([best, best + width * np.eye(len(best))])
        best = scipy.optimize.minimize(loss, best, method="Nelder-Mead",
                                       options={"maxiter": 800, "initial_simplex": simplex}).x
    new, said, ships = constants(best), law(constants(best), of), law(SHIPPED, of)
    print(f"{', '.join(f'{n} {shown(n, new)} ({shown(n, SHIPPED)})' for n in names)}: {len(rows)} kernels, MAPE "
          f"{mape(said, measured):.1f} % ({mape(ships, measured):.1f}), median {np.median(said / measured):.2f} "
          f"({np.median(ships / measured):.2f})")


def report_shipped(what, law, rows):
    """Prints how well what ships does, in brackets."""
    of = columns(rows)
    ships = law(SHIPPED, of)
    print(f"{what}: {len(rows)} kernels, MAPE ({mape(ships, of['us']):.1f}), median "
          f"({np.median(ships / of['us']):.2f})")


def once(found):
    """Of (key, row), each key's row in the middle by its µs."""
    seen = {}
    for key, row in found:
        seen.setdefault(key, []).append(row)
    return [sorted(rows, key=lambda r: r["us"])[len(rows) // 2] for rows in seen.values()]


def report_equal(what, inputs, law, rows):
    """Prints of how many kernels that differ in `inputs` or in what they ran a law's two values are the same. Law: row
    -> (what it says, what ran)."""
    distinct = {json.dumps([[r[i] for i in inputs], r["grid"], r["block"]]): r for r in rows}
    equal = sum(said == ran for said, ran in map(law, distinct.values()))
    print(f"{what}: {equal} of {len(distinct)}")
