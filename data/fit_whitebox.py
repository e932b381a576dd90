"""Fits the whitebox's calibratable constants on timm's benchmark runs and says how well.

    python3 data/fit_whitebox.py --onnx DIR --torchscript DIR [--models 40] [--rounds 2] [--perfc build/release/perfc]

Inference under AMP on RTX 3090, 4090 and 5090 (../shared/data/timm), eager and
compiled, nchw and nhwc. Eager runs are predicted from the TorchScript graphs, which
show what was launched; compiled ones from the ONNX exports, whose batch-norms are
folded as a compiler folds them (--onnx, --torchscript: ../shared/graphs/timm*.tar.xz
unpacked). Coordinate descent over the shares of peak and the cost of a launch, one
set of constants per device.

Honesty: families (timm modules) are split by a fixed hash; one half fits, the other
is only reported. "device held out" predicts a device with the geometric mean of the
other two devices' constants, fitted families and all. Writes data/calibration.md; the
constants go into data/devices.json by hand, their geometric mean as the default.
"""
import argparse
import collections
import concurrent.futures
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SETS = [  # file, device, mode, layout
    ("benchmark-infer-amp-nchw-pt240-cu124-rtx3090.csv", "rtx3090", "eager", "nchw"),
    ("benchmark-infer-amp-nhwc-pt240-cu124-rtx3090.csv", "rtx3090", "eager", "nhwc"),
    ("benchmark-infer-amp-nchw-pt291-cu128-4090.csv", "rtx4090", "eager", "nchw"),
    ("benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv", "rtx4090", "eager", "nhwc"),
    ("benchmark-infer-amp-nchw-pt291-cu130-5090.csv", "rtx5090", "eager", "nchw"),
    ("benchmark-infer-amp-nchw-pt291-cu128-4090-dynamo.csv", "rtx4090", "compiled", "nchw"),
    ("benchmark-infer-amp-nchw-pt291-cu130-5090-dynamo.csv", "rtx5090", "compiled", "nchw"),
]
DEVICES = ("rtx3090", "rtx4090", "rtx5090")
STEPS = {"bandwidth": 1.1, "matmul": 1.1, "convolution": 1.15, "depthwise": 1.25, "vector": 1.25,
         "gather": 1.4, "layout": 1.2, "launch_us": 1.3}
SHARES = {"bandwidth", "matmul", "convolution", "depthwise", "vector"}  # of a peak: at most 1
# Kernels were measured at up to 1.8 times the fp32 peak that counts direct convolution (Winograd).
MOST = {"convolution": 1.2, "depthwise": 1.2}


def families():
    with open(SHARED / "graphs/families.tsv") as f:
        rows = csv.DictReader(f, delimiter="\t")
        return {r[rows.fieldnames[0]]: r[rows.fieldnames[1]] for r in rows}


def held_out(family):
    return hashlib.sha256(family.encode()).digest()[0] % 2 == 0


def samples(onnx, torchscript, count):
    """Per set: up to `count` rows for fitting and as many held out."""
    family_of = families()
    out = []
    for file, device, mode, layout in SETS:
        with open(SHARED / "data/timm" / file) as f:
            rows = list(csv.DictReader(f))
        random.Random(file).shuffle(rows)
        kept = collections.Counter()
        for r in rows:
            arch = r["model"].split(".")[0]
            name = f"{arch}_{r['infer_img_size']}"
            path, again = ((torchscript / f"{name}.json", torchscript / f"{name}.reparam.json") if mode == "eager"
                           else (onnx / f"{name}.onnx", onnx / f"{name}.reparam.onnx"))
            if "pt291" in file and again.exists():  # those runs timed reparameterised networks
                path = again
            family = family_of.get(arch)
            if family is None or not path.exists():
                continue
            side = "held out" if held_out(family) else "fitted"
            if kept[side] == count:
                continue
            kept[side] += 1
            out.append({"path": str(path), "batch": r["infer_batch_size"], "ms": float(r["infer_step_time"]),
                        "set": (device, mode, layout), "family": family, "side": side})
    return out


def predict(perfc, rows, devices):
    """Predicted / measured for each row; None where perfc refuses."""
    def one(r):
        device, mode, layout = r["set"]
        done = subprocess.run([perfc, r["path"], "--batch", r["batch"], "--device-file", devices, "--device", device,
                               "--mode", mode, "--layout", layout, "--json", "--top", "0"], capture_output=True)
        if done.returncode:
            return None
        return json.loads(done.stdout)["predictions"][0]["latency_ms"] / r["ms"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, rows))


class Fit:
    def __init__(self, perfc, rows):
        self.perfc, self.rows = perfc, rows
        self.devices = json.loads(subprocess.check_output([perfc, "devices", *DEVICES, "--json"]))

    def start(self, device):
        d = next(d for d in self.devices["devices"] if d["name"] == device)
        return {k: d["launch_us"] if k == "launch_us" else d["efficiency"][k] for k in STEPS}

    def ratios(self, constants, rows):
        """`constants`: device → its constants."""
        for d in self.devices["devices"]:
            for key, value in constants.get(d["name"], {}).items():
                (d if key == "launch_us" else d["efficiency"])[key] = value
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(self.devices, f)
            f.flush()
            return predict(self.perfc, rows, f.name)

    def run(self, device, rounds):
        rows = [r for r in self.rows if r["side"] == "fitted" and r["set"][0] == device]

        def loss(constants):
            errors = [abs(math.log(x)) for x in self.ratios({device: constants}, rows) if x]
            return sum(errors) / len(errors)

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


def table(rows, ratios, column):
    groups = collections.defaultdict(list)
    for r, x in zip(rows, ratios):
        if x:
            groups[r["set"] + (r["side"],)].append(x)
            groups[("all", "", "", r["side"])].append(x)
    lines = [f"| device | mode | layout | {column} | models | MAPE % | median ratio | within 20 % | 5 %…95 % of ratio |",
             "|---|---|---|---|---|---|---|---|---|"]
    for key, xs in sorted(groups.items()):
        xs.sort()
        lines.append("| {} | {} | {} | {} | {} | {:.1f} | {:.2f} | {:.0f} % | {:.2f}…{:.2f} |".format(
            *key, len(xs), 100 * sum(abs(x - 1) for x in xs) / len(xs),
            statistics.median(xs), 100 * sum(abs(x - 1) <= 0.2 for x in xs) / len(xs),
            xs[int(0.05 * len(xs))], xs[int(0.95 * (len(xs) - 1))]))
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnx", type=pathlib.Path, required=True)
    p.add_argument("--torchscript", type=pathlib.Path, required=True)
    p.add_argument("--models", type=int, default=40)
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    args = p.parse_args()
    rows = samples(args.onnx, args.torchscript, args.models)
    fit = Fit(args.perfc, rows)
    constants = {d: fit.run(d, args.rounds) for d in DEVICES}
    own = table(rows, fit.ratios(constants, rows), "families")
    others = {d: mean_of([c for other, c in constants.items() if other != d]) for d in DEVICES}
    unseen = table(rows, fit.ratios(others, rows), "families, device held out")
    listed = "\n".join(f"| {d} | " + " | ".join(str(c[k]) for k in STEPS) + " |" for d, c in
                       [*constants.items(), ("default (geometric mean)", mean_of(constants.values()))])
    text = ("# Calibration of the whitebox\n\nWritten by `data/fit_whitebox.py` "
            f"(--models {args.models} --rounds {args.rounds}); labels: timm's benchmark results (Apache-2.0), AMP.\n"
            "One set of constants per device, fitted on half of the families; \"held out\" are families that no fit saw.\n\n"
            f"| device | {' | '.join(STEPS)} |\n|---{'|---' * len(STEPS)}|\n{listed}\n\n{own}\n\n"
            "Devices held out: the constants are the geometric mean of the other two devices'.\n\n" + unseen + "\n")
    (ROOT / "data/calibration.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
