"""Fits the whitebox's calibratable constants on ../shared/data and says how well.

    python3 data/fit_whitebox.py [--models 40] [--rounds 2] [--perfc build/release/perfc] [--graphs DIR]

Coordinate descent over the shares of peak of `data/devices.json` ("defaults.gpu"),
one set of constants for all GPUs, on timm's measured inference times (AMP; RTX
3090, 4090, 5090; eager and compiled; nchw and nhwc). Families (timm modules) are
split by a fixed hash: one half fits, the other half is only reported, so that the
errors printed are of families the fit never saw. Writes data/calibration.md;
the constants go into data/devices.json by hand.

DIR holds ../shared/graphs/timm.tar.xz unpacked. The ONNX exports have batch-norm
folded while eager PyTorch launched it: the constants absorb that.
"""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
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
    ("benchmark-infer-amp-nchw-pt240-cu124-rtx4090.csv", "rtx4090", "eager", "nchw"),
    ("benchmark-infer-amp-nchw-pt291-cu130-5090.csv", "rtx5090", "eager", "nchw"),
    ("benchmark-infer-amp-nchw-pt240-cu124-rtx4090-dynamo.csv", "rtx4090", "compiled", "nchw"),
    ("benchmark-infer-amp-nchw-pt291-cu130-5090-dynamo.csv", "rtx5090", "compiled", "nchw"),
]
STEPS = {"matmul": 1.15, "convolution": 1.15, "depthwise": 1.25, "vector": 1.25, "bandwidth": 1.1,
         "gather": 1.3, "layout": 1.15, "launch_us": 1.3}


def families():
    with open(SHARED / "graphs/families.tsv") as f:
        rows = csv.DictReader(f, delimiter="\t")
        return {r[rows.fieldnames[0]]: r[rows.fieldnames[1]] for r in rows}


def held_out(family):
    return hashlib.sha256(family.encode()).digest()[0] % 2 == 0


def samples(graphs, count):
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
            path = graphs / f"{arch}_{r['infer_img_size']}.onnx"
            reparam = path.with_suffix(".reparam.onnx")
            if "pt291" in file and reparam.exists():  # those runs timed reparameterised networks
                path = reparam
            family = family_of.get(arch)
            if family is None or not path.exists():
                continue
            side = "test" if held_out(family) else "fit"
            if kept[side] == count:
                continue
            kept[side] += 1
            out.append({"path": str(path), "batch": r["infer_batch_size"], "ms": float(r["infer_step_time"]),
                        "set": (device, mode, layout), "family": family, "side": side})
    return out


def predict(perfc, rows, devices):
    """Predicted / measured for each row."""
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
        base = json.loads(subprocess.check_output([perfc, "devices", "rtx3090", "rtx4090", "rtx5090", "--json"]))
        self.devices = base

    def ratios(self, constants, rows):
        for d in self.devices["devices"]:
            for key, value in constants.items():
                if key == "launch_us":
                    d["launch_us"] = value
                else:
                    d["efficiency"][key] = value
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(self.devices, f)
            f.flush()
            return predict(self.perfc, rows, f.name)

    def loss(self, constants):
        rows = [r for r in self.rows if r["side"] == "fit"]
        errors = [abs(x - 1) for x in self.ratios(constants, rows) if x]
        return sum(errors) / len(errors)

    def run(self, rounds):
        first = self.devices["devices"][0]
        constants = {k: first["launch_us"] if k == "launch_us" else first["efficiency"][k] for k in STEPS}
        best = self.loss(constants)
        for n in range(rounds):
            for key, step in STEPS.items():
                for factor in (step, 1 / step):
                    while True:
                        trial = dict(constants, **{key: round(constants[key] * factor ** (1 / (n + 1)), 4)})
                        loss = self.loss(trial)
                        if loss >= best - 1e-4:
                            break
                        best, constants = loss, trial
                        print(f"  {key} = {trial[key]:g}: MAPE {100 * best:.2f}", file=sys.stderr)
        return constants


def table(rows, ratios):
    groups = collections.defaultdict(list)
    for r, x in zip(rows, ratios):
        if x:
            groups[r["set"] + (r["side"],)].append(x)
            groups[("all", "", "", r["side"])].append(x)
    lines = ["| device | mode | layout | families | models | MAPE % | median ratio | within 20 % | 5 %…95 % of ratio |",
             "|---|---|---|---|---|---|---|---|---|"]
    for key, xs in groups.items():
        xs.sort()
        lines.append("| {} | {} | {} | {} | {} | {:.1f} | {:.2f} | {:.0f} % | {:.2f}…{:.2f} |".format(
            *key[:3], "held out" if key[3] == "test" else "fitted", len(xs), 100 * sum(abs(x - 1) for x in xs) / len(xs),
            statistics.median(xs), 100 * sum(abs(x - 1) <= 0.2 for x in xs) / len(xs),
            xs[int(0.05 * len(xs))], xs[int(0.95 * (len(xs) - 1))]))
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", type=int, default=40)
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--graphs", type=pathlib.Path, required=True)
    args = p.parse_args()
    rows = samples(args.graphs, args.models)
    fit = Fit(args.perfc, rows)
    constants = fit.run(args.rounds)
    text = ("# Calibration of the whitebox\n\nWritten by `data/fit_whitebox.py` "
            f"(--models {args.models} --rounds {args.rounds}); labels: timm's benchmark results (Apache-2.0).\n"
            "One set of constants for all GPUs; \"held out\" are families that the fit never saw.\n\n"
            f"Constants: `{json.dumps(constants)}`\n\n{table(rows, fit.ratios(constants, rows))}\n")
    (ROOT / "data/calibration.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
