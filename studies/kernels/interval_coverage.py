"""How often 90 % intervals hold on a device and an operator that no fit saw, for memory-bound operators.

    python3 studies/kernels/interval_coverage.py --shared ../shared          (numpy, scipy)

Per device and operator of NeuSight's (float32) the elementwise model of memory_bound.py is fitted anew on the other
devices' other operators, and prices the one left out: one pass over operands and result, as the whitebox prices any
operator that nobody measured. Softmax and layer norm are priced so too: to a program that never saw them they are
passes. The half width, in ln, is the 90 % quantile (split conformal) of the same experiment's errors on the other
devices and other operators, every operator of a device counting the same. Rows that the host bounds do not judge; it
has an interval of its own.

Prints one row per device: coverage, the least of an operator, median factor; and the same of the factor that a model's
interval has for kernels that training never had, `kUnfamiliarWidth` in learning/corrected.h.
"""
import argparse
import math
import pathlib

import numpy as np

import memory_bound as model

UNFAMILIAR = 0.7  # kUnfamiliarWidth
ROWS = 200  # judged per device and operator, so that every operator counts the same


def quantile(errors):
    errors = np.sort(errors)
    return float(errors[min(math.ceil(0.9 * (len(errors) + 1)), len(errors)) - 1])


def judged(rows, floor):
    low = np.array([floor[d, o] for d, o in zip(rows.device, rows.op)])
    busy = rows.at(rows.us > 1.2 * low)
    return model.sample(busy, ROWS, ("device", "op"))


def errors_of(rows, device, operator, kernels, floor, gap):
    """|ln(predicted / measured)| of an operator on a device, neither of which the fit saw."""
    seen = rows.at((rows.device != device) & (rows.op != operator))
    kernels = model.without(kernels, ("a100-80gb", )) if device.startswith("a100") else kernels
    shared, constants, _ = model.fit_shared(seen, kernels, floor)
    part = judged(rows.at((rows.device == device) & (rows.op == operator)), floor)
    if not len(part):
        return np.array([])
    host = model.Host(floor, {device: gap[device]})
    return np.abs(np.log(model.operator_us(part, "elementwise", shared, constants, host) / part.us))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, required=True)
    args = p.parse_args()
    rows = model.without(model.load_neusight(args.shared), model.AMD)
    kernels = model.load_vidur(args.shared)
    floor = model.floors(rows)
    gap = model.fit_shared(rows, kernels, floor)[2].gap  # the host's, which is not what is judged
    devices, operators = sorted(set(rows.device)), sorted(set(rows.op))
    errors = {(d, o): errors_of(rows, d, o, kernels, floor, gap) for d in devices for o in operators}
    print("| device | operators | rows | interval | coverage | least of an operator |")
    print("|---|---|---|---|---|---|")

    def line(device, widths):
        held = {o: errors[device, o] <= w for o, w in widths.items()}
        least = min(held, key=lambda o: held[o].mean())
        every = np.concatenate(list(held.values()))
        print(f"| {device} | {len(held)} | {len(every)} | × {math.exp(np.median(list(widths.values()))):.2f} | "
              f"{100 * every.mean():.1f} | {100 * held[least].mean():.0f} ({least}) |")

    for d in devices:
        here = [o for o in operators if len(errors[d, o])]
        others = {o: [e for (d2, o2), e in errors.items() if d2 != d and o2 != o] for o in here}
        line(d, {o: quantile(np.concatenate(others[o])) for o in here})
        line(d, dict.fromkeys(here, UNFAMILIAR))


if __name__ == "__main__":
    main()
