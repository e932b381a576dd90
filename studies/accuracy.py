"""Writes docs/accuracy.md from the held-out predictions of a training run.

    build/release/perfc train --model corrected --data build/dataset/labels.csv … --held-out build/held.csv
    python3 studies/accuracy.py build/held.csv [--both build/both.csv] [--operators build/operators.csv]
        [--random build/random.csv] [--batches 512-=build/small.csv] [--calibration build/calibration.md]
        [--without-norms build/without-norms.csv]

Every number is of models that the network behind it did not see: families ("F": each
of ten networks leaves a tenth of timm's families out), devices ("D": one network per
device leaves all its runs out, and the device's constants are the other devices') or both.
Baselines are fitted on exactly the same labels: "log-linear" on the logarithms of kernels,
MACs and bytes, "boosting" (xgboost, when it can be imported) on these and the whitebox's
time. For D they see the others' runs.

--both: held-out CSV of a run with --leave-out-both. --operators: held-out CSV of a run on
single operators only. --random: `perfc eval --predictions` of a predictor that was trained on the training and
validation parts of data/splits/R.csv. --batches: the same, of predictors that were trained with that --batches and are
judged on others. --calibration: what studies/unseen_device.py printed. --without-norms: `perfc eval whitebox
--predictions` of the labels with their norms left out.
docs/predictor.md has all commands. A section whose runs are not given stays as it is, and says that it is older.
"""
import argparse
import collections
import csv
import math
import pathlib
import statistics

import numpy as np

import tables

try:
    import xgboost
except ImportError:
    xgboost = None

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMBERS = {
    "batch", "kernels", "macs", "bytes", "measured_ms", "predicted_ms", "whitebox_ms", "similarity", "lo_ms", "hi_ms"
}
KEY = ("model", "batch", "device", "mode", "layout", "measured_ms")
SIMILARITY_BINS = [(0.0, 0.4, "unlike"), (0.4, 0.8, "related"), (0.8, 1.01, "alike")]  # learning/residuals.h


def load(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        for key in NUMBERS & r.keys():
            r[key] = float(r[key])
        r["form"] = "TorchScript" if r["model"].endswith(".json") else "ONNX"
        r["setting"] = (r["device"], r["mode"], r["layout"], r["form"])
    return rows


def features(r):
    return [math.log(max(r[k], 1e-3)) for k in ("kernels", "macs", "bytes")]


def baselines(rows, group_of, part_of):
    """Adds `linear_ms` and `boosted_ms`; the fit for a part of a group never sees that part."""
    groups = collections.defaultdict(list)
    for r in rows:
        groups[group_of(r)].append(r)
    for group in groups.values():
        for part in {part_of(r) for r in group} - {None}:
            train = [r for r in group if part_of(r) != part]
            test = [r for r in group if part_of(r) == part]
            if len(train) < 20:
                continue
            y = np.array([math.log(r["measured_ms"]) for r in train])
            x, z = (np.array([features(r) + [1.0] for r in side]) for side in (train, test))
            weights = np.linalg.lstsq(x, y, rcond=None)[0]
            for r, p in zip(test, z @ weights):
                r["linear_ms"] = math.exp(p)
            if xgboost:
                wide = [np.array([features(r) + [math.log(r["whitebox_ms"])] for r in side]) for side in (train, test)]
                offset = np.array([math.log(r["whitebox_ms"]) for r in train])
                model = xgboost.train(
                    {"max_depth": 6, "eta": 0.05, "nthread": 2, "seed": 1, "objective": "reg:squarederror"},
                    xgboost.DMatrix(wide[0], label=y - offset), num_boost_round=300)
                for r, p in zip(test, model.predict(xgboost.DMatrix(wide[1]))):
                    r["boosted_ms"] = r["whitebox_ms"] * math.exp(float(p))


def errors(rows, key):
    return [abs(r[key] / r["measured_ms"] - 1) for r in rows if key in r]


def percent(x):
    return f"{100 * x:.1f}"


def mean(xs):
    return percent(sum(xs) / len(xs)) if xs else "–"


def table(rows):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["setting"]].append(r)
        groups[("all", "", "", r["form"])].append(r)
    out = [
        "| device | mode | layout | form | runs | log-linear | boosting | whitebox | **perfc** | median | within 10 % "
        "| within 20 % |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|"
    ]
    for setting, group in sorted(groups.items()):
        e = errors(group, "predicted_ms")
        out.append("| " + " | ".join([
            *setting,
            str(len(group)),
            mean(errors(group, "linear_ms")),
            mean(errors(group, "boosted_ms")),
            mean(errors(group, "whitebox_ms")), f"**{mean(e)}**",
            percent(statistics.median(e)),
            percent(sum(x <= 0.1 for x in e) / len(e)),
            percent(sum(x <= 0.2 for x in e) / len(e))
        ]) + " |")
    return out


def families(rows):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["family"]].append(r)
    ranked = sorted(groups.items(), key=lambda kv: -statistics.mean(errors(kv[1], "predicted_ms")))
    out = ["| family | runs | whitebox | perfc |", "|---|---|---|---|"]
    for family, group in ranked:
        out.append(
            f"| {family} | {len(group)} | {mean(errors(group, 'whitebox_ms'))} | "
            f"{mean(errors(group, 'predicted_ms'))} |"
        )
    return out


def log_error(r):
    return abs(math.log(r["predicted_ms"] / r["measured_ms"]))


def quantile(errors):
    """Split conformal: of one more error, nine in ten times it is no larger (learning/held_out.cpp)."""
    errors = sorted(errors)
    return errors[min(math.ceil(0.9 * (len(errors) + 1)), len(errors)) - 1] if errors else 0


def similarity_bin(r):
    return next(name for low, high, name in SIMILARITY_BINS if low <= r["similarity"] < high)


def widths(rows):
    """Half widths by similarity bin; bins whose errors are out of order are one (learning/held_out.cpp)."""
    pools = []
    for _, _, name in reversed(SIMILARITY_BINS):
        pools.append(([name], [log_error(r) for r in rows if similarity_bin(r) == name]))
        while len(pools) > 1 and quantile(pools[-1][1]) < quantile(pools[-2][1]):
            names, errors = pools.pop()
            pools[-1] = (pools[-1][0] + names, pools[-1][1] + errors)
    return {name: quantile(errors) for names, errors in pools for name in names}


def coverage(rows):
    """Of 90 % intervals whose width comes from the other folds' errors, by mode and similarity."""
    out = ["| mode | similarity | runs | perfc | interval | coverage |", "|---|---|---|---|---|---|"]
    for mode in ("eager", "compiled"):
        here = [r for r in rows if r["mode"] == mode]
        others = {fold: widths([r for r in here if r["network"] != fold]) for fold in {r["network"] for r in here}}
        for _, _, name in SIMILARITY_BINS:
            judged = [(r, others[r["network"]][name]) for r in here if similarity_bin(r) == name]
            if judged:
                error = mean(errors([r for r, _ in judged], "predicted_ms"))
                factor = math.exp(statistics.mean(w for _, w in judged))
                out.append(f"| {mode} | {name} | {len(judged)} | {error} | × {factor:.2f} | "
                           f"{percent(statistics.mean(log_error(r) <= w for r, w in judged))} |")
    return out


#: Student's quantile, 95 %, of a spread that so many devices show (learning/held_out.cpp)
STUDENT = {1: 6.314, 2: 2.920, 3: 2.353}


def device_width(by_device):
    """What a device that nobody measured adds, in squares, to graphs' widths (learning/held_out.cpp)."""
    off = collections.defaultdict(list)
    for device, mode in {(r["device"], r["mode"]) for r in by_device}:
        ratios = [math.log(r["predicted_ms"] / r["measured_ms"]) for r in by_device
                  if (r["device"], r["mode"]) == (device, mode)]
        off[device].append(statistics.median(ratios) ** 2)
    return STUDENT[len(off)] * math.sqrt(statistics.mean(statistics.mean(x) for x in off.values()))


def strangers(rows, by_family, by_device):
    """Coverage of intervals on a device left out, as who never saw it would make them: graphs' widths from families
    left out on the other devices, the device's from those when they were left out themselves."""
    out = ["| device | mode | layout | form | runs | interval | coverage | families below 70 % |", "|" + "---|" * 8]
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["setting"]].append(r)
    for setting, here in sorted(groups.items()):
        device, mode = setting[:2]
        others = [r for r in by_family if r["device"] != device and r["mode"] == mode]
        of_graph = widths(others)
        of_device = device_width([r for r in by_device if r["device"] != device])
        all_widths = [math.hypot(of_graph[similarity_bin(r)], of_device) for r in here]
        inside = [log_error(r) <= w for r, w in zip(here, all_widths)]
        families = collections.defaultdict(list)
        for r, i in zip(here, inside):
            families[r["family"]].append(i)
        poor = [f for f, i in sorted(families.items()) if len(i) >= 20 and statistics.mean(i) < 0.7]
        out.append("| " + " | ".join([*setting, str(len(here)), f"× {math.exp(statistics.median(all_widths)):.2f}",
                                      percent(statistics.mean(inside)), ", ".join(poor) or "none"]) + " |")
    return out


def macro(rows):
    """Mean over groups of families of each group's mean error, with bootstrap intervals over groups (Efron 1979)."""
    dice = np.random.default_rng(1)
    out = ["| device | mode | groups | whitebox | **perfc** | 90 % of resampled groups | perfc better in |",
           "|" + "---|" * 7]
    settings = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in rows:
        settings[(r["device"], r["mode"])][r["group"]].append(r)
    for (device, mode), groups in sorted(settings.items()):
        ours, white = (np.array([statistics.mean(errors(g, key)) for g in groups.values()])
                       for key in ("predicted_ms", "whitebox_ms"))
        resampled = np.sort([dice.choice(ours, len(ours)).mean() for _ in range(2000)])
        out.append(f"| {device} | {mode} | {len(groups)} | {percent(white.mean())} | **{percent(ours.mean())}** | "
                   f"{percent(resampled[100])} to {percent(resampled[1899])} | {int((ours < white).sum())} |")
    return out


def without_norms(rows, whitebox):
    """Of runs whose norms nobody tells, predicted as autocast's: the whitebox' ratio moves the prediction."""
    full = {tuple(r[key] for key in KEY): r["predicted_ms"] for r in whitebox}
    return [{
        **r,
        **{key: r[key] * full[tuple(r[k] for k in KEY)] / r["whitebox_ms"] for key in ("predicted_ms", "whitebox_ms")}
    } for r in rows]


BATCHES = ((1, 8), (9, 64), (65, 128), (129, 4096))


def strata(rows):
    """By batch size: intervals are of runs that are mostly large."""
    out = ["| batch | runs | whitebox | perfc | note |", "|---|---|---|---|---|"]
    for low, high in BATCHES:
        here = [r for r in rows if low <= r["batch"] <= high]
        out.append(f"| {low} to {high} | {len(here)} | {mean(errors(here, 'whitebox_ms'))} | "
                   f"{mean(errors(here, 'predicted_ms'))} | {'too few to say' if len(here) < 100 else ''} |")
    return out


def judged(predictions, known):
    """The test rows of a file of predictions, with what the held-out file knows of them; `known` by KEY."""
    out = []
    for r in predictions:
        k = known.get(tuple(r[key] for key in KEY))
        if k:
            out.append({**k, "predicted_ms": r["predicted_ms"], "part": "test" if r["part"] == "test" else None})
    return out


def other_batches(trained_on, rows, known):
    """Test architectures in batch sizes that training left out; baselines are fitted on what training saw ("512-",
    "-256")."""
    least, most = (float(end or default) for end, default in zip(trained_on.split("-"), (0, math.inf)))
    everything = judged(rows, known)
    test = [r for r in everything if r["part"]]
    unseen = {r["architecture"] for r in test}
    trained = [
        {**r, "part": None} for r in known.values() if least <= r["batch"] <= most and r["architecture"] not in unseen
    ]
    baselines(test + trained, lambda r: r["setting"], lambda r: r["part"])
    seen, others = (sorted({int(r["batch"]) for r in some}) for some in (trained, test))
    return [
        f"Trained on batches of {seen[0]} to {seen[-1]}, judged on {others[0]} to {others[-1]}:", "", *table(test), ""
    ]


def operators(rows):
    """By kind (the architecture's first word) and device."""
    devices = sorted({r["device"] for r in rows})
    out = ["| operator | " + " | ".join(devices) + " | all | whitebox |", "|---|" + "---|" * (len(devices) + 2)]
    kinds = sorted({r["architecture"].split("_")[0] for r in rows})
    for kind in [*kinds, "all"]:
        here = [r for r in rows if kind in ("all", r["architecture"].split("_")[0])]
        cells = [mean(errors([r for r in here if r["device"] == d], "predicted_ms")) for d in devices]
        out.append(f"| {kind} | " + " | ".join(cells) +
                   f" | **{mean(errors(here, 'predicted_ms'))}** | {mean(errors(here, 'whitebox_ms'))} |")
    return out


KEPT = "Kept from an earlier run: kernels have changed since."


def kept_sections(path):
    """By heading, what the file has of sections whose runs may be left out; they say that they are older."""
    parts = path.read_text().split("\n## ")[1:] if path.exists() else []
    split = [[line for line in part.rstrip("\n").split("\n") if line != KEPT] for part in parts]
    return {heading: [KEPT, "", *"\n".join(lines).strip("\n").split("\n")] for heading, *lines in split}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("held_out", type=pathlib.Path)
    for extra in ("both", "operators", "random", "calibration", "without-norms"):
        p.add_argument(f"--{extra}", type=pathlib.Path)
    p.add_argument("--batches", metavar="TRAINED=FILE", nargs="*", default=[])
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/accuracy.md")
    args = p.parse_args()
    rows = [r for r in load(args.held_out) if r["family"] != "operator"]
    by_family = [r for r in rows if r["left_out"] == "family"]
    by_device = [r for r in rows if r["left_out"] == "device"]
    known = {tuple(r[k] for k in KEY): r for r in by_family}
    baselines(by_family, lambda r: r["setting"], lambda r: r["network"])
    baselines(by_device, lambda r: (r["mode"], r["layout"], r["form"]), lambda r: r["network"])
    text = [
        "# Accuracy", "",
        "Latency of inference. Written by `studies/accuracy.py` from the held-out predictions of the training run "
        "behind",
        "`data/models/default.safetensors` (`data/models/CARD.md`). Errors are MAPE in %.",
        "Every number is of models whose family, or device, the network behind it never saw. One network answers here;",
        "the shipped predictor is the mean of ten. Labels: timm's benchmark runs under AMP (Apache-2.0); runs with "
        "`--fast-norm`",
        "are predicted with `--norms half` (docs/whitebox.md). What networks say of a graph counts in proportion to "
        "how like it is to those of training (docs/predictor.md).", "", "## F: families left out", "",
        *table(by_family), "", "## Intervals", "",
        "What the 90 % intervals cover on families left out. Their widths come from the other folds, by how like the "
        "graph is to one in training.",
        "", *coverage(by_family), "",
        "On devices left out: graphs' widths come from families left out on the other devices, the device's part from "
        "what those were off by as a whole when they were left out themselves (two: Student's quantile). The shipped "
        "predictor has the widths of all three. Families below 70 % are of 20 runs or more.",
        "", *strangers(by_device, by_family, by_device), "", "## F, every group of families alike", "",
        "A fold leaves out families that compute the same together (`learning/compute_groups.h`: at least half of "
        "their products and convolutions are equal, for a quarter of a family's networks). Here every group counts "
        "once.",
        "", *macro(by_family), "", "By batch size, all devices:", "", *strata(by_family), "",
        "## D: device left out, no run on it", "",
        "The device has its data sheet, what streams reach of its kind of memory, and the other devices' constants; "
        "corrections that were learned on them count by half.", "", *table(by_device), ""
    ]
    kept = kept_sections(args.out)

    def section(heading, lines):
        lines = lines or kept.get(heading)
        if lines:
            text.extend([f"## {heading}", "", *lines, ""])

    both, calibration, random_split, batches, single, norms = [], [], [], [], [], []
    if args.both:
        unseen = [r for r in load(args.both) if r["left_out"] == "both"]
        baselines(unseen, lambda r: (r["mode"], r["layout"], r["form"]), lambda r: r["device"])
        both = [
            "Neither the device nor the family was seen (boosting and log-linear did see the family).", "",
            *table(unseen), "", "Intervals there, made as above:", "", *strangers(unseen, by_family, by_device)
        ]
    if args.calibration:
        calibration = [
            "`perfc devices calibrate` with 3, 10 and 30 models, on architectures that are not among them "
            "(`studies/unseen_device.py`): MAPE, in brackets what the 90 % intervals cover and their mean factor.",
            "",
            args.calibration.read_text().strip()
        ]
    if args.random:
        random = judged(load(args.random), known)
        baselines(random, lambda r: r["setting"], lambda r: r["part"])
        random_split = [
            "The test part of `data/splits/R.csv`: other members of the architecture's family are in training. Ten "
            "networks trained on the",
            "other parts answer, as shipped.", "", *table([r for r in random if r["part"] == "test"])
        ]
    if args.batches:
        batches = ["Test architectures of `data/splits/R.csv`, which training saw in no batch size.", ""]
        for trained_on, file in (b.split("=", 1) for b in args.batches):
            batches += other_batches(trained_on, load(file), known)
    if args.without_norms:
        unknown = without_norms(by_family, load(args.without_norms))
        norms = [
            "Table F as for a file of which nobody says how its norms were computed: all runs with autocast's, those "
            "of timm's `--fast-norm` too. Every group counts once.", "", *macro(unknown)
        ]
    if args.operators:
        single = ["NeuSight's timings (MIT), float32; no run of any kind on the GPU, nor on others with its chip.",
                  "They lie between two events with nothing queued: a host's launch, 0.025 ms beside the A100 and 0.05",
                  "beside the P100, and the kernel behind it.", "",
                  *operators([r for r in load(args.operators) if r["left_out"] == "device"])]
    section("F, norms unknown", norms)
    section("D and F together", both)
    section("D after measured models", calibration)
    section("R: random by architecture", random_split)
    section("B: batch sizes outside of training", batches)
    section("Single operators on a GPU left out", single)
    text += ["## F, by family", "", "The worst first: this is where not to trust it.", "", *families(by_family), ""]
    tables.write_head("\n".join(tables.wrapped(text)), args.out)


if __name__ == "__main__":
    main()
