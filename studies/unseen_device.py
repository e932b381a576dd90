"""What measured models bring on a device that training never saw: docs/accuracy.md's section on calibration.

    build/release/perfc train --model corrected … --keep-left-out --out build/default.safetensors
    python3 studies/unseen_device.py --data build/dataset/labels.csv --predictor build/default.safetensors

For each device, PREDICTOR.without.DEVICE comes from networks without a run on it. The device starts with its data
sheet's peaks, what streams reach of its kind of memory, and the geometric means of the other devices' constants;
`perfc devices calibrate` sees 3, 10 or 30 models of one mode, drawn at random; what is judged are runs of other
architectures: MAPE, what the 90 % intervals cover, and their mean factor. Every figure is the mean over DRAWS draws.
"""
import argparse
import collections
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
from perfc import files  # noqa: E402
LABELS, DRAWS, JUDGED = (3, 10, 30), 5, 200


def unmeasured(perfc, device, others):
    """The device as one that nobody measured."""
    listed = json.loads(subprocess.check_output([perfc, "devices", device, *others, "--json"]))
    mine, *rest = listed["devices"]
    mine.pop("interval", None)
    mean = lambda values: math.exp(statistics.mean(math.log(v) for v in values))
    mine["launch_us"] = mean([d["launch_us"] for d in rest])
    hosts = [d["host"] for d in rest]
    mine["host"]["eager_us"] = {call: mean([h["eager_us"][call] for h in hosts]) for call in hosts[0]["eager_us"]}
    mine["host"]["compiled_us"] = mean([h["compiled_us"] for h in hosts])
    for share in mine["efficiency"]:
        mine["efficiency"][share] = mean([d["efficiency"][share] for d in rest])
    mine["efficiency"]["bandwidth"] = mine["streams"]  # of its kind of memory
    return {"schema": listed["schema"], "devices": [mine]}


def judge(perfc, predictor, labels, device_file, folder):
    """MAPE, coverage of the intervals in %, and their mean factor."""
    predictions = folder / "predictions.csv"
    subprocess.run([perfc, "eval", predictor, "--data", labels, "--device-file", device_file, "--quiet",
                    "--predictions", predictions], stdout=subprocess.DEVNULL, check=True)
    with open(predictions, newline="") as f:
        rows = [{k: float(r[k]) for k in ("measured_ms", "predicted_ms", "lo_ms", "hi_ms")} for r in csv.DictReader(f)]
    return (100 * statistics.mean(abs(r["predicted_ms"] / r["measured_ms"] - 1) for r in rows),
            100 * statistics.mean(r["lo_ms"] <= r["measured_ms"] <= r["hi_ms"] for r in rows),
            statistics.mean(r["hi_ms"] / r["predicted_ms"] for r in rows))


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
    print("| device | mode | runs judged | no run on it | " +
          " | ".join(f"after {n} | whitebox" for n in LABELS) + " |\n" + "|---" * (4 + 2 * len(LABELS)) + "|")
    for device in devices:
        for mode in ("eager", "compiled"):
            here = [
                r for r in rows if of(r, "device") == device and of(r, "mode") == mode and of(r, "layout") == "nchw"
            ]
            if here:
                print(line(args, device, mode, here, devices, header, of), flush=True)


def line(args, device, mode, here, devices, header, of):
    """A row of the table: each cell MAPE, then coverage and factor of the intervals."""
    without = f"{args.predictor}.without.{device}"
    found = collections.defaultdict(list)
    for draw in range(DRAWS):
        dice = random.Random(f"{device} {mode} {draw}")
        drawn = dice.sample(sorted({of(r, "architecture") for r in here}), max(LABELS))
        measured = [dice.choice([r for r in here if of(r, "architecture") == a]) for a in drawn]
        judged = dice.sample([r for r in here if of(r, "architecture") not in drawn], JUDGED)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            # Model paths are relative to the labels' folder.
            some_csv, judged_csv = (args.data.with_name(f".{name}.csv") for name in ("some", "judged"))
            write(judged_csv, header, judged)
            base, fitted = folder / "base.json", folder / "fitted.json"
            base.write_text(json.dumps(unmeasured(args.perfc, device, [d for d in devices if d != device])))
            found[without, 0].append(judge(args.perfc, without, judged_csv, base, folder))
            for labels in LABELS:
                write(some_csv, header, measured[:labels])
                for predictor in (without, "whitebox"):
                    subprocess.run([
                        args.perfc, "devices", "calibrate", some_csv, "--device-file", base, "--predictor", predictor,
                        "-o", fitted
                    ], check=True, stderr=subprocess.DEVNULL)
                    found[predictor, labels].append(judge(args.perfc, predictor, judged_csv, fitted, folder))
                    fitted.unlink()
            some_csv.unlink()
            judged_csv.unlink()
    cell = lambda key: "{:.1f} ({:.0f} %, × {:.2f})".format(*(statistics.mean(c) for c in zip(*found[key])))
    cells = [cell((without, 0))]
    for labels in LABELS:
        cells += [f"**{cell((without, labels))}**", cell(("whitebox", labels))]
    return f"| {device} | {mode} | {JUDGED * DRAWS} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
