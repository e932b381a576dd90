"""What ten measured models bring on a device that training never saw: docs/accuracy.md's section on calibration.

    build/release/perfc train --model corrected … --keep-left-out --out build/default.safetensors
    python3 studies/unseen_device.py --data build/dataset/labels.csv --predictor build/default.safetensors

For each device, PREDICTOR.without.DEVICE comes from networks without a run on it. The device starts
with its data sheet's peaks and the geometric means of the other devices' constants; `perfc devices
calibrate` sees TEN models of one mode, drawn at random; what is judged are runs of other
architectures. Every figure is the mean over DRAWS draws of the ten.
"""
import argparse
import csv
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from perfc import files  # noqa: E402
TEN, DRAWS, JUDGED = 10, 10, 200


def unmeasured(perfc, device, others):
    """The device as one that nobody measured."""
    listed = json.loads(subprocess.check_output([perfc, "devices", device, *others, "--json"]))
    mine, *rest = listed["devices"]
    mean = lambda values: math.exp(statistics.mean(math.log(v) for v in values))
    mine["launch_us"] = mean([d["launch_us"] for d in rest])
    hosts = [d["host"] for d in rest]
    mine["host"]["eager_us"] = {call: mean([h["eager_us"][call] for h in hosts]) for call in hosts[0]["eager_us"]}
    mine["host"]["compiled_us"] = mean([h["compiled_us"] for h in hosts])
    for share in mine["efficiency"]:
        mine["efficiency"][share] = mean([d["efficiency"][share] for d in rest])
    return {"schema": listed["schema"], "devices": [mine]}


def mape(perfc, predictor, labels, device_file):
    out = subprocess.run([perfc, "eval", predictor, "--data", labels, "--device-file", device_file, "--quiet"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    return float(re.search(r"^latency +all +\d+ +([\d.]+)", out, re.M).group(1))


def write(path, header, rows):
    with files.writing(path, newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(header)
        w.writerows(rows)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--predictor", required=True)
    args = p.parse_args()
    with open(args.data, newline="") as f:
        header, *rows = csv.reader(f)
    column = {name: i for i, name in enumerate(header)}
    of = lambda row, name: row[column[name]]
    rows = [r for r in rows if of(r, "family") != "operator"]
    devices = sorted({of(r, "device") for r in rows})
    print(
        "| device | mode | runs judged | no run on it | after 10 models | whitebox after 10 |\n"
        "|---|---|---|---|---|---|"
    )
    for device in devices:
        without = f"{args.predictor}.without.{device}"
        for mode in ("eager", "compiled"):
            here = [
                r for r in rows if of(r, "device") == device and of(r, "mode") == mode and of(r, "layout") == "nchw"
            ]
            if not here:
                continue
            before, after, white = [], [], []
            for draw in range(DRAWS):
                dice = random.Random(f"{device} {mode} {draw}")
                ten = set(dice.sample(sorted({of(r, "architecture") for r in here}), TEN))
                measured = [dice.choice([r for r in here if of(r, "architecture") == a]) for a in sorted(ten)]
                judged = dice.sample([r for r in here if of(r, "architecture") not in ten], JUDGED)
                with tempfile.TemporaryDirectory() as folder:
                    folder = pathlib.Path(folder)
                    # Model paths are relative to the labels' folder.
                    ten_csv, judged_csv = (args.data.with_name(f".{name}.csv") for name in ("ten", "judged"))
                    write(ten_csv, header, measured)
                    write(judged_csv, header, judged)
                    base = folder / "base.json"
                    base.write_text(json.dumps(unmeasured(args.perfc, device, [d for d in devices if d != device])))
                    before.append(mape(args.perfc, without, judged_csv, base))
                    for predictor, errors in ((without, after), ("whitebox", white)):
                        fitted = folder / "fitted.json"
                        subprocess.run([
                            args.perfc, "devices", "calibrate", ten_csv, "--device-file", base, "--predictor",
                            predictor, "-o", fitted
                        ], check=True, stderr=subprocess.DEVNULL)
                        errors.append(mape(args.perfc, predictor, judged_csv, fitted))
                    ten_csv.unlink()
                    judged_csv.unlink()
            print(
                f"| {device} | {mode} | {JUDGED * DRAWS} | {statistics.mean(before):.1f} | "
                f"**{statistics.mean(after):.1f}** | {statistics.mean(white):.1f} |",
                flush=True)


if __name__ == "__main__":
    main()
