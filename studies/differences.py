#!/usr/bin/env python3
"""How far the predicted ratio of two versions of a model is off: fits and judges the intervals of `perfc diff`.

    PYTHONPATH=python python3 -m perfc.dataset build --shared ../shared --out build/dataset
    python3 studies/differences.py --perfc build/release/perfc --data build/dataset/labels.csv --pairs build/pairs.csv
    python3 studies/differences.py --pairs build/pairs.csv --judge
    python3 studies/differences.py --perfc build/release/perfc --memory build/dataset/torchscript

Pairs: two architectures of one family whose names differ in one word (one size, one flag), measured on one device at
one batch under one setting, in one of timm's runs. At most PAIRS of a family and SETTINGS of each are drawn, by hash.
Both are predicted by the whitebox alone, which was fitted on no whole model. Families whose CRC-32 is odd judge and are
never fitted; --judge looks at them.

The width that is fitted is that of compare/difference.cpp: half the 90 % interval of ln(head ÷ base) is

    √(noise² + (left · W · share^bend)² + host²)

where W is half the interval of either time alone, share the part of the device time in operators that differ, and host
what the host's factor adds where it sets more of one time than of the other. What fails a pipeline is certain by 99 %:
tail · share^bend is added in squares, such that 99 % of the errors of the families that fit lie within.

--memory: steps in memory between MIGProfiler's networks on one slice at one batch, which says what is left of its error
(studies/fit_memory.py); with timm's TorchScript graphs.
"""
import argparse
import collections
import concurrent.futures
import csv
import functools
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fit_memory  # noqa: E402
import fit_mig  # noqa: E402

PAIRS, SETTINGS = 24, 2
CERTAIN, DIFFERS = 0.9, 0.05
# Of two runs of one network on one GPU, one release of PyTorch apart: 1 to 3 % in the median. Nothing is called
# different by less, and pairs that differ by less are the same.
NOISE = 0.02
STEPS = ((0.05, 0.1), (0.1, 0.2), (0.2, 0.5), (0.5, math.inf))
SHARPNESS = 8  # of the join of device and host: whitebox/constants/runs.h
COLUMNS = [
    "family", "base", "head", "batch", "device", "mode", "layout", "norms", "base_ms", "head_ms", "predicted_base_ms",
    "predicted_head_ms", "share", "width", "host"
]


def crc(text):
    return zlib.crc32(text.encode())


def judges(family):
    return crc(family) % 2 == 1


def one_word_apart(a, b):
    a, b = a.split("_"), b.split("_")
    if len(a) == len(b):
        return sum(x != y for x, y in zip(a, b)) == 1
    short, long = sorted((a, b), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1:] == short for i in range(len(long)))


def drawn(labels):
    """Calls to make: (family, base, head, batch, mode, layout, norms) → [(device, base_ms, head_ms)]."""
    settings = collections.defaultdict(list)
    for r in labels:
        if r["form"] == ("torchscript" if r["mode"] == "eager" else "onnx"):
            settings[tuple(r[k] for k in ("family", "batch", "mode", "layout", "norms", "source"))].append(r)
    calls = collections.defaultdict(lambda: collections.defaultdict(list))
    for (family, batch, mode, layout, norms, _), rows in settings.items():
        for a, b in itertools.combinations(sorted(rows, key=lambda r: r["architecture"]), 2):
            if not one_word_apart(a["architecture"], b["architecture"]):
                continue
            if crc(a["architecture"] + b["architecture"]) % 2:  # either may be the base
                a, b = b, a
            calls[(family, a["architecture"], b["architecture"])][(a["model"], b["model"], batch, mode, layout,
                                                                  norms)].append((a["device"], a["latency_ms"],
                                                                                  b["latency_ms"]))
    by_family = collections.defaultdict(list)
    for pair in calls:
        by_family[pair[0]].append(pair)
    for pairs in by_family.values():
        for pair in sorted(pairs, key=lambda p: crc(" ".join(p)))[:PAIRS]:
            of_pair = calls[pair]
            for setting in sorted(of_pair, key=lambda s: crc(" ".join(s)))[:SETTINGS]:
                yield pair[0], setting, of_pair[setting]


def host_share(of):
    return of["host_ms"] ** SHARPNESS / (of["host_ms"] ** SHARPNESS + of["device_ms"] ** SHARPNESS)


def device_width(of):
    return math.sqrt(max(math.log(of["latency_factor"]) ** 2 - (host_share(of) * math.log(of["host_factor"])) ** 2, 0))


def predicted(perfc, folder, family, setting, runs):
    """Rows of one call of perfc, one per device (of several runs on a device, the first)."""
    base, head, batch, mode, layout, norms = setting
    measured = {}
    for device, *ms in runs:
        measured.setdefault(device, ms)
    command = [
        perfc, "diff", folder / base, folder / head, "--batch", batch, "--mode", mode, "--layout", layout, "--norms",
        norms or "full", "--device", ",".join(measured), "--predictor", "whitebox", "--format", "json", "--quiet"
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"left out: {base}, {head}, batch {batch}: {done.stderr.strip()}")
        return []
    rows = []
    for on in json.loads(done.stdout)["models"][0]["devices"]:
        latency = next(f for f in on["figures"] if f["figure"] == "latency")
        rows.append({
            "family": family, "base": base, "head": head, "batch": batch, "device": on["device"], "mode": mode,
            "layout": layout, "norms": norms, "base_ms": measured[on["device"]][0],
            "head_ms": measured[on["device"]][1], "predicted_base_ms": latency["base"],
            "predicted_head_ms": latency["head"], "share": on["changed_share"],
            "width": max(device_width(on["base"]), device_width(on["head"])),
            "host": math.log(on["base"]["host_factor"]) * abs(host_share(on["base"]) - host_share(on["head"]))
        })
    return rows


def predict_all(args):
    with open(args.data, newline="") as f:
        calls = list(drawn(list(csv.DictReader(f))))
    print(f"{len(calls)} calls of perfc diff")
    with args.pairs.open("w", newline="") as f, concurrent.futures.ThreadPoolExecutor(2) as pool:
        out = csv.DictWriter(f, COLUMNS)
        out.writeheader()
        for rows in pool.map(lambda c: predicted(args.perfc, args.data.parent, *c), calls):
            out.writerows(rows)
            f.flush()


def load(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        for key in COLUMNS[COLUMNS.index("base_ms"):]:
            r[key] = float(r[key])
        r["measured"] = math.log(r["head_ms"] / r["base_ms"])
        r["predicted"] = math.log(r["predicted_head_ms"] / r["predicted_base_ms"])
        r["error"] = r["predicted"] - r["measured"]
    return rows


def quantile(values, share):
    values = sorted(values)
    return values[min(math.ceil(share * (len(values) + 1)), len(values)) - 1] if values else float("nan")


def by_share(rows):
    out = []
    for low, high in ((-1, 0), (0, 0.1), (0.1, 0.3), (0.3, 0.6), (0.6, 0.9), (0.9, 1)):
        here = [r for r in rows if low < r["share"] <= high]
        if here:
            errors = [abs(r["error"]) for r in here]
            alone = [abs(math.log(r["predicted_head_ms"] / r["head_ms"])) for r in here]
            out.append(f"  share up to {high:4.1f}: {len(here):5d} pairs, 90 % of the errors within "
                       f"± {100 * quantile(errors, 0.9):.1f} %, half of them ± {100 * quantile(errors, 0.5):.1f} %; "
                       f"of one time alone ± {100 * quantile(alone, 0.9):.1f} %")
    return out


def half_width(r, noise, left, bend):
    return math.hypot(noise, left * r["width"] * r["share"] ** bend, r["host"])


def loss(rows, *constants):
    """The quantile loss (Koenker and Bassett 1978) of the widths, equal weight per family."""
    sums = collections.defaultdict(list)
    for r in rows:
        beyond = abs(r["error"]) - half_width(r, *constants)
        sums[r["family"]].append(beyond * CERTAIN if beyond > 0 else -beyond * (1 - CERTAIN))
    return sum(sum(s) / len(s) for s in sums.values()) / len(sums)


def shipped():
    """(noise, left, bend) of compare/difference.cpp."""
    return [constant(name) for name in ("Noise", "Left", "Bend")]


@functools.cache
def constant(name):
    text = (pathlib.Path(__file__).resolve().parent.parent / "compare/difference.cpp").read_text()
    return float(re.search(rf"kDifference{name} = ([0-9.]+)", text)[1])


def certain(r, width):
    """Half the 99 % interval, of half the 90 % one."""
    return math.hypot(width(r), constant("Tail") * r["share"] ** constant("Bend"))


def flagged(rows, width):
    """Pairs that are the same but for noise, and those of them that differ by more than the width."""
    same = [r for r in rows if abs(math.expm1(r["measured"])) <= NOISE]
    return same, [r for r in same if abs(r["predicted"]) > width(r)]


def fitted(rows):
    """(NOISE, left, bend) with the least loss of those that call nothing different that is the same but for noise."""
    grid = itertools.product((NOISE,), [i / 20 for i in range(6, 31)], [i / 20 for i in range(0, 25)])
    return min((c for c in grid if not flagged(rows, lambda r, c=c: half_width(r, *c))[1]),
               key=lambda constants: loss(rows, *constants))


def judged(rows, width):
    """The figures of docs/judged.md for a function that gives half widths."""
    differ = [r for r in rows if abs(math.expm1(r["measured"])) > DIFFERS]
    right = sum((r["predicted"] > 0) == (r["measured"] > 0) for r in differ)
    said = [r for r in differ if abs(r["predicted"]) > width(r)]
    said_right = sum((r["predicted"] > 0) == (r["measured"] > 0) for r in said)
    inside = sum(abs(r["error"]) <= width(r) for r in rows)
    same, called = flagged(rows, width)
    fail = flagged(rows, lambda r: certain(r, width))[1]
    found = [sum(low < abs(math.expm1(r["measured"])) <= high and abs(r["predicted"]) > certain(r, width)
                 for r in rows) / max(sum(low < abs(math.expm1(r["measured"])) <= high for r in rows), 1)
             for low, high in STEPS]
    return (f"{len(rows)} pairs of {len({r['family'] for r in rows})} families; of the {len(differ)} that differ by "
            f"more than {100 * DIFFERS:g} % the sign is right in {100 * right / len(differ):.1f} %, of the {len(said)} "
            f"that are called different in {100 * said_right / max(len(said), 1):.1f} %; the 90 % interval holds "
            f"{100 * inside / len(rows):.1f} %; of the {len(same)} that differ by {100 * NOISE:g} % at most "
            f"{len(called)} are called different and {len(fail)} can fail a pipeline; of those that differ by more it "
            "can " + ", ".join(f"{100 * share:.0f} % ({100 * low:g} to {100 * high:g} %)"
                               for (low, high), share in zip(STEPS, found)))


def memory_steps(perfc, graphs):
    """What kMemoryStep and kMemoryLeft of compare/difference.cpp are from."""
    with tempfile.TemporaryDirectory() as folder:
        rows = fit_memory.mig_rows(perfc, graphs, pathlib.Path(folder))
    groups = collections.defaultdict(dict)
    for r in rows:
        file, *options = r["command"]  # encoders are written for a batch and a length, which their names say
        size = options[1] if options[:1] == ["--batch"] else pathlib.Path(file).stem.split("-")[-2:]
        groups[(r["set"], r["device"], str(size), r["model"] in fit_mig.VISION)][r["model"]] = r
    pairs = [(a, b) for g in groups.values() for a, b in itertools.combinations(g.values(), 2)]
    steps = [(b["rest"] - a["rest"], b["mib"] - a["mib"], max(a["rest"], b["rest"])) for a, b in pairs]
    large = [(p, m) for p, m, _ in steps if abs(p) >= 40]
    right = sum(p * m > 0 for p, m in large)
    print(f"{len(steps)} pairs; the sign is right in {right} of {len(large)} steps of 40 MiB or more")
    for share in (0, 0.1, 0.15, 0.25):
        left = [math.sqrt(max((p - m) ** 2 - (share * p) ** 2, 0)) / most for p, m, most in steps]
        print(f"  {share:.2f} of the step and {quantile(left, CERTAIN):.3f} of the larger need")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path, help="labels.csv: predicts the pairs anew")
    parser.add_argument("--pairs", type=pathlib.Path)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--memory", type=pathlib.Path, help="folder of graphs")
    args = parser.parse_args()
    if args.memory:
        memory_steps(args.perfc, args.memory)
    if not args.pairs:
        return
    if args.data:
        predict_all(args)
    rows = [r for r in load(args.pairs) if judges(r["family"]) == args.judge]
    print("families that judge" if args.judge else "families that fit")
    print("\n".join(by_share(rows)))
    if not args.judge:
        constants = fitted(rows)
        print("fitted: noise, left, bend =", constants)
        print("with these:", judged(rows, lambda r: half_width(r, *constants)))
        beyond = [math.sqrt(max(r["error"] ** 2 - half_width(r, *shipped()) ** 2, 0)) /
                  max(r["share"], 0.01) ** constant("Bend") for r in rows]
        print(f"tail of 99 %: {quantile(beyond, 0.99):.3f}")
    print("as perfc has it:", judged(rows, lambda r: half_width(r, *shipped())))


if __name__ == "__main__":
    main()
