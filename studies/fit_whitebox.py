"""Fits the whitebox's calibratable constants on timm's benchmark runs and says how well; writes data/calibration.md.

    PYTHONPATH=python python3 -m perfc.dataset build --shared ../shared --out build/dataset
    python3 studies/fit_whitebox.py --data build/dataset/labels.csv [--models 80] [--rounds 2] [--perfc
    build/release/perfc]

Inference under AMP on RTX 3090, 4090 and 5090, eager and compiled, nchw and nhwc. Coordinate descent over the shares of
peak and the cost of a launch, one set of constants per device.

Honesty: families (timm modules) are split by a fixed hash; one half fits, the other is only reported. "device held out"
predicts a device with the geometric mean of the other two devices' constants. The constants go into data/devices.json
by hand, their geometric mean as the default, and so does the factor within which 90 % of a device's held-out runs lie.
"""
import argparse
import collections
import csv
import hashlib
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = ("rtx3090", "rtx4090", "rtx5090")
STEPS = {
    "bandwidth": 1.1, "matmul": 1.1, "convolution": 1.15, "depthwise": 1.25, "vector": 1.15, "gather": 1.4,
    "launch_us": 1.3
}
SHARES = {"bandwidth", "matmul", "vector", "gather"}  # of a peak: at most 1
# Kernels were measured at up to 1.8 times the fp32 peak that counts direct convolution (Winograd).
MOST = {"convolution": 1.2, "depthwise": 1.2}


def held_out(family):
    return hashlib.sha256(family.encode()).digest()[0] % 2 == 0


def samples(data, count):
    """Per setting: up to `count` runs for fitting and as many held out. Eager runs as TorchScript, which shows what was
    launched; compiled ones as ONNX, whose batch-norms are folded as a compiler folds them."""
    with open(data, newline="") as f:
        rows = [
            r for r in csv.DictReader(f)
            if r["device"] in DEVICES and (r["mode"] == "eager") == (r["form"] == "torchscript")
        ]
    random.Random("fit_whitebox").shuffle(rows)
    kept, out = collections.Counter(), []
    for r in rows:
        setting = (r["device"], r["mode"], r["layout"], held_out(r["family"]))
        if kept[setting] < count:
            kept[setting] += 1
            out.append(dict(r, model=str(data.parent / r["model"])))
    return out


class Fit:
    def __init__(self, perfc, rows):
        self.perfc, self.rows = perfc, rows
        self.devices = json.loads(subprocess.check_output([perfc, "devices", *DEVICES, "--json"]))

    def start(self, device):
        d = next(d for d in self.devices["devices"] if d["name"] == device)
        return {k: d["launch_us"] if k == "launch_us" else d["efficiency"][k] for k in STEPS}

    def predict(self, constants, rows):
        """Runs with predicted / measured, by setting; those that perfc refuses are missing. `constants`: device → its
        constants."""
        for d in self.devices["devices"]:
            for key, value in constants.get(d["name"], {}).items():
                (d if key == "launch_us" else d["efficiency"])[key] = value
        with tempfile.TemporaryDirectory() as scratch:
            labels, devices, out = (
                pathlib.Path(scratch) / name for name in ("labels.csv", "devices.json", "predictions.csv"))
            tables.write_csv(labels, rows)
            devices.write_text(json.dumps(self.devices))
            subprocess.run([
                self.perfc, "eval", "whitebox", "--data", labels, "--device-file", devices, "--quiet", "--predictions",
                out
            ], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return [{
                "set": (r["device"], r["mode"], r["layout"]), "side": "held out" if held_out(r["family"]) else "fitted",
                "ratio": float(r["predicted_ms"]) / float(r["measured_ms"])
            } for r in csv.DictReader(out.read_text().splitlines())]

    def run(self, device, rounds):
        rows = [r for r in self.rows if not held_out(r["family"]) and r["device"] == device]

        def loss(constants):
            return statistics.mean(abs(math.log(r["ratio"])) for r in self.predict({device: constants}, rows))

        constants = self.start(device)
        best = loss(constants)
        for n in range(rounds):
            for key, step in STEPS.items():
                for factor in (step, 1 / step):
                    while True:
                        value = round(constants[key] * factor ** (1 / (n + 1)), 4)
                        if value > MOST.get(key, 1.0 if key in SHARES else 1e9):
                            break
                        trial = dict(constants, **{key: value})
                        trial_loss = loss(trial)
                        if trial_loss >= best - 1e-4:
                            break
                        best, constants = trial_loss, trial
        print(device, constants, f"mean |log ratio| {best:.4f}", file=sys.stderr)
        return constants


def mean_of(constants):
    return {k: round(math.exp(statistics.mean(math.log(c[k]) for c in constants)), 4) for k in STEPS}


def table(predicted, column):
    groups = collections.defaultdict(list)
    for r in predicted:
        groups[*r["set"], r["side"]].append(r["ratio"])
        groups["all", "", "", r["side"]].append(r["ratio"])
    lines = [
        f"| device | mode | layout | {column} | models | MAPE % | median ratio | within 20 % | 5 %…95 % of ratio |",
        "|---|---|---|---|---|---|---|---|---|"
    ]
    for key, xs in sorted(groups.items()):
        xs.sort()
        lines.append("| {} | {} | {} | {} | {} | {:.1f} | {:.2f} | {:.0f} % | {:.2f}…{:.2f} |".format(
            *key, len(xs), 100 * sum(abs(x - 1) for x in xs) / len(xs), statistics.median(xs),
            100 * sum(abs(x - 1) <= 0.2 for x in xs) / len(xs), xs[int(0.05 * len(xs))], xs[int(0.95 * (len(xs) - 1))]))
    return "\n".join(lines)


def interval(predicted, device):
    """The factor within which 90 % of a device's runs of families that were held out lie."""
    errors = sorted(abs(math.log(r["ratio"])) for r in predicted if r["set"][0] == device and r["side"] == "held out")
    return round(math.exp(errors[min(len(errors) - 1, math.ceil(0.9 * (len(errors) + 1)) - 1)]), 2)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--models", type=int, default=80)
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    args = p.parse_args()
    rows = samples(args.data.resolve(), args.models)
    fit = Fit(args.perfc, rows)
    constants = {d: fit.run(d, args.rounds) for d in DEVICES}
    own = fit.predict(constants, rows)
    unseen = fit.predict({d: mean_of([c for other, c in constants.items() if other != d]) for d in DEVICES}, rows)
    listed = "\n".join(f"| {d} | " + " | ".join(str(c[k]) for k in STEPS) + f" | {factor} |" for d, c, factor in [
        *((d, c, interval(own, d))
          for d, c in constants.items()), ("default (geometric mean)", mean_of(constants.values()), "")
    ])
    text = (
        "# Calibration of the whitebox\n\nWritten by `studies/fit_whitebox.py` "
        f"(--models {args.models} --rounds {args.rounds}); labels: timm's benchmark results (Apache-2.0), AMP.\n"
        "One set of constants per device, fitted on half of the families; \"held out\" are families that no fit saw.\n"
        "*interval*: the factor within which 90 % of the runs held out lie.\n\n"
        f"| device | {' | '.join(STEPS)} | interval |\n|---{'|---' * (len(STEPS) + 1)}|\n{listed}\n\n"
        f"{table(own, 'families')}\n\n"
        "Devices held out: the constants are the geometric mean of the other two devices'.\n\n" +
        table(unseen, "families, device held out") + "\n")
    tables.files.write_text(ROOT / "data/calibration.md", text)
    print(text)


if __name__ == "__main__":
    main()
