"""Writes docs/accuracy.md from the held-out predictions of a training run.

    build/release/perfc train --model corrected --data build/dataset/labels.csv … --held-out build/held.csv
    python3 data/accuracy.py build/held.csv

Every number is of models that the network behind it did not see: families ("F": each
of ten networks leaves a tenth of timm's families out) or devices ("D": one network per
device leaves all its runs out). Baselines are fitted on exactly the same labels:
"log-linear" on the logarithms of kernels, MACs and bytes, "boosting" (xgboost, when
it can be imported) on these and the whitebox's time. For D they see the others' runs.
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


def load(path):
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        for key in ("kernels", "macs", "bytes", "measured_ms", "predicted_ms", "whitebox_ms"):
            r[key] = float(r[key])
        r["form"] = "TorchScript" if r["model"].endswith(".json") else "ONNX"
        r["setting"] = (r["device"], r["mode"], r["layout"], r["form"])
    return rows


def features(r):
    return [math.log(max(r[k], 1e-3)) for k in ("kernels", "macs", "bytes")]


def baselines(rows, by_device):
    """Adds `linear_ms` and `boosted_ms`; each row's were fitted without its network's rows."""
    groups = collections.defaultdict(list)
    for r in rows:
        groups[(r["mode"], r["layout"], r["form"]) if by_device else r["setting"]].append(r)
    for group in groups.values():
        for network in {r["network"] for r in group}:
            train = [r for r in group if r["network"] != network]
            test = [r for r in group if r["network"] == network]
            if len(train) < 20:
                continue
            y = np.array([math.log(r["measured_ms"]) for r in train])
            x, z = (np.array([features(r) + [1.0] for r in part]) for part in (train, test))
            weights = np.linalg.lstsq(x, y, rcond=None)[0]
            for r, p in zip(test, z @ weights):
                r["linear_ms"] = math.exp(p)
            if xgboost:
                wide = [np.array([features(r) + [math.log(r["whitebox_ms"])] for r in part]) for part in (train, test)]
                offset = np.array([math.log(r["whitebox_ms"]) for r in train])
                model = xgboost.train({"max_depth": 6, "eta": 0.05, "nthread": 2, "seed": 1, "objective": "reg:squarederror"},
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
    out = ["| device | mode | layout | form | runs | log-linear | boosting | whitebox | **perfc** | median | within 10 % | within 20 % |",
           "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for setting, group in sorted(groups.items()):
        e = errors(group, "predicted_ms")
        out.append("| " + " | ".join([*setting, str(len(group)), mean(errors(group, "linear_ms")), mean(errors(group, "boosted_ms")),
                                      mean(errors(group, "whitebox_ms")), f"**{mean(e)}**", percent(statistics.median(e)),
                                      percent(sum(x <= 0.1 for x in e) / len(e)), percent(sum(x <= 0.2 for x in e) / len(e))]) + " |")
    return out


def families(rows):
    groups = collections.defaultdict(list)
    for r in rows:
        groups[r["family"]].append(r)
    ranked = sorted(groups.items(), key=lambda kv: -statistics.mean(errors(kv[1], "predicted_ms")))
    out = ["| family | runs | whitebox | perfc |", "|---|---|---|---|"]
    for family, group in ranked:
        out.append(f"| {family} | {len(group)} | {mean(errors(group, 'whitebox_ms'))} | {mean(errors(group, 'predicted_ms'))} |")
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("held_out", type=pathlib.Path)
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/accuracy.md")
    args = p.parse_args()
    rows = load(args.held_out)
    by_family = [r for r in rows if r["left_out"] == "family"]
    by_device = [r for r in rows if r["left_out"] == "device"]
    baselines(by_family, by_device=False)
    baselines(by_device, by_device=True)
    text = ["# Accuracy", "",
            "Written by `data/accuracy.py` from the held-out predictions of the training run behind",
            "`data/models/default.safetensors` (`data/models/CARD.md`). Latency of inference, AMP; errors are MAPE in %.",
            "Every number is of models whose family, or device, the network behind it never saw. One network answers here;",
            "the shipped predictor is the mean of ten. Labels: timm's benchmark runs (Apache-2.0).", "",
            "## F: families left out", "", *table(by_family), "", "## D: device left out, no run on it", "", *table(by_device), "",
            "## F, by family", "", "The worst first: this is where not to trust it.", "", *families(by_family), ""]
    tables.write_head("\n".join(text), args.out)


if __name__ == "__main__":
    main()
