"""Says how well the whitebox predicts timm's benchmark runs, and in which interval; a section of docs/accuracy.md.

    PYTHONPATH=python python3 -m perfc.dataset build --shared ../shared --out build/dataset
    python3 studies/timm_whitebox.py --data build/dataset/labels.csv [--models 160] [--perfc build/release/perfc]

Inference under AMP on RTX 3090, 4090 and 5090, eager and compiled, nchw and nhwc, a sample of each setting. No constant
of these devices is fitted to their runs: an entry of data/devices.json has the data sheet and what streams reach of its
kind of memory (studies/kernels/streams.py); constants that all devices share and that such runs have part in say so in
whitebox/constants ([timm]). The factor within which 90 % of a device's runs lie goes into data/devices.json by hand.
"""
import argparse
import collections
import csv
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


def samples(data, count):
    """Per setting up to `count` runs, as TorchScript, which shows what was launched."""
    with open(data, newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["device"] in DEVICES and r["form"] == "torchscript"]
    random.Random("timm_whitebox").shuffle(rows)
    kept, out = collections.Counter(), []
    for r in rows:
        setting = (r["device"], r["mode"], r["layout"])
        if kept[setting] < count:
            kept[setting] += 1
            out.append(dict(r, model=str(data.parent / r["model"])))
    return out


def ratios(perfc, rows):
    """(device, mode, layout) → predicted / measured; runs that perfc refuses are missing."""
    with tempfile.TemporaryDirectory() as scratch:
        labels, out = pathlib.Path(scratch) / "labels.csv", pathlib.Path(scratch) / "predictions.csv"
        tables.write_csv(labels, rows)
        subprocess.run([perfc, "eval", "whitebox", "--data", labels, "--quiet", "--predictions", out],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = collections.defaultdict(list)
        for r in csv.DictReader(out.read_text().splitlines()):
            found[r["device"], r["mode"], r["layout"]].append(float(r["predicted_ms"]) / float(r["measured_ms"]))
        return found


def interval(xs):
    """The factor within which 90 % of the ratios lie."""
    errors = sorted(abs(math.log(x)) for x in xs)
    return math.exp(errors[min(len(errors) - 1, math.ceil(0.9 * (len(errors) + 1)) - 1)])


def row(key, xs):
    xs = sorted(xs)
    return "| {} | {} | {} | {} | {:.1f} | {:.2f} | {:.0f} % | {:.2f}…{:.2f} | × {:.2f} |".format(
        *key, len(xs), 100 * statistics.mean(abs(x - 1) for x in xs), statistics.median(xs),
        100 * statistics.mean(abs(x - 1) <= 0.2 for x in xs), xs[int(0.05 * len(xs))], xs[int(0.95 * (len(xs) - 1))],
        interval(xs))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--models", type=int, default=160)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    args = p.parse_args()
    found = ratios(args.perfc, samples(args.data.resolve(), args.models))
    of_device = collections.defaultdict(list)
    for (device, _, _), xs in found.items():
        of_device[device] += xs
    lines = [
        "## The whitebox alone on timm's runs", "",
        "Inference under AMP, a sample. No constant of these devices is fitted to their runs: data sheets, and what "
        "streams reach of GDDR6X and GDDR7.", "",
        "| device | mode | layout | runs | MAPE | median ratio | within 20 % | 5 %…95 % of ratios | 90 % |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(key, xs) for key, xs in sorted(found.items())),
        *(row((device, "", ""), xs) for device, xs in sorted(of_device.items())),
    ]
    tables.write_section("timm-whitebox", "studies/timm_whitebox.py", lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
