"""Single operators on a GPU that nobody ran, and after 30 of each kind: NeuSight's timings (MIT); a section of
docs/accuracy.md.

    PYTHONPATH=python python3 -m perfc.dataset build --shared ../shared --out build/dataset
    python3 studies/fit_operators.py --data build/dataset/operators.csv [--perfc build/release/perfc]

For each chip (both A100s are one), `perfc train --model corrected` learns from OTHERS operators of each kind on every
other GPU and MEASURED of each kind on this one; `perfc eval` judges it on all its other operators. It is what a user
with timings of single operators would do. Without a run: one training on ALONE of each kind and GPU, whose networks
leave a chip out and are judged on its share. What is drawn is decided by the names' checksums.
"""
import argparse
import collections
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHIPS = {
    "A100": ("a100-pcie-40gb", "a100-pcie-80gb"), "P100": ("p100",), "P4": ("p4",), "T4": ("t4",), "V100": (
        "v100-pcie-32gb",)
}
MEASURED = 30
OTHERS, ALONE = 15, 30
DEVICE_BOUND_MS = 0.15  # from which the GPU's time hides the host's, which differs between NeuSight's machines
EPOCHS = 20
# of the networks' weights, where one network answers per chip left out; predictors answer with the mean of several
DRAWS = 3


def groups_of(rows):
    """Labels by kind and device, in the order in which they are drawn."""
    groups = collections.defaultdict(list)
    for r in sorted(rows, key=lambda r: zlib.crc32(r["architecture"].encode())):
        groups[kind(r), r["device"]].append(r)
    return groups


def kind(row):
    return row["architecture"].split("_")[0]


def train(perfc, labels, folder, *options):
    tables.write_csv(folder / "train.csv", labels)
    tables.write_csv(folder / "all.csv",
                     [{"architecture": a, "split": "training"} for a in sorted({r["architecture"] for r in labels})])
    subprocess.run([
        perfc, "train", "--model", "corrected", "--data", folder / "train.csv", "--split", folder / "all.csv",
        "--folds", "2", "--epochs",
        str(EPOCHS), "--threads", "1", "-q", "--out", folder / "operators.safetensors", *options
    ], check=True)


def errors(paths, column="predicted_ms", wanted=lambda row: True):
    """{chip: {kind: |predicted / measured − 1|}}; of several files, of the predictions' geometric mean."""
    out = collections.defaultdict(lambda: collections.defaultdict(list))
    chip_of = {device: chip for chip, devices in CHIPS.items() for device in devices}
    tables_of = []
    for path in paths:
        with open(path, newline="") as f:
            tables_of.append([r for r in csv.DictReader(f) if wanted(r)])
    for same in zip(*tables_of, strict=True):
        assert len({(r["model"], r["device"]) for r in same}) == 1, "the files list other labels"
        predicted = statistics.geometric_mean(float(r[column]) for r in same)
        out[chip_of[same[0]["device"]]][kind(same[0])].append(abs(predicted / float(same[0]["measured_ms"]) - 1))
    return out


def evaluate(perfc, data, folder):
    """{case: {chip: {kind: errors}}}"""
    with open(data, newline="") as f:
        rows = list(csv.DictReader(f))
    for r in rows:
        r["model"] = str(data.parent / r["model"])
    groups = groups_of(rows)
    held = [folder / f"held{draw}.csv" for draw in range(1, DRAWS + 1)]
    for draw, path in enumerate(held, 1):
        train(perfc, [r for members in groups.values() for r in members[:ALONE]], folder, "--held-out", path, "--seed",
              str(draw))
    left_out = lambda r: r["left_out"] == "device"  # noqa: E731
    found = {
        "no run": errors(held, wanted=left_out), "whitebox": errors(held[:1], "whitebox_ms", left_out),
        "no run, device": errors(held, wanted=lambda r: left_out(r) and float(r["measured_ms"]) >= DEVICE_BOUND_MS),
        "measured": {}
    }
    for chip, devices in CHIPS.items():
        own = [members for (_, device), members in groups.items() if device in devices]
        others = [members for (_, device), members in groups.items() if device not in devices]
        train(perfc,
              [r for m in own for r in m[:MEASURED]] + [r for m in others for r in m[MEASURED:MEASURED + OTHERS]],
              folder)
        tables.write_csv(folder / "test.csv", [r for m in own for r in m[MEASURED:]])
        subprocess.run([
            perfc, "eval", folder / "operators.safetensors", "--data", folder / "test.csv", "--predictions",
            folder / "predictions.csv", "-q"
        ], check=True, stdout=subprocess.DEVNULL)
        found["measured"].update(errors([folder / "predictions.csv"]))
        print(chip, mean(found["no run"][chip].values()), mean(found["measured"][chip].values()), file=sys.stderr)
    return found


def mean(lists):
    every = [e for part in lists for e in part]
    return tables.percent(sum(every) / len(every)) if every else "–"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = evaluate(args.perfc, args.data.resolve(), pathlib.Path(folder))
    kinds = sorted({k for chip in found["no run"].values() for k in chip})
    lines = [
        "## Single operators after 30 of each kind", "",
        f"NeuSight's timings, float32; MAPE in %. No run: trained on {ALONE} of each kind from each GPU with another "
        f"chip, the mean of {DRAWS} networks. After 30: on {OTHERS} from each",
        f"of those and {MEASURED} from the GPU itself, judged on its other operators. Nearly all that are judged "
        f"without a run have the same",
        "shape in training on another GPU: it is the GPU that is unseen. Short ones wait for NeuSight's hosts, whose "
        "shortest times are one for all operators on some, 1.8 times as long for norms on others; without a run linear "
        "layers are judged by a P4, where they take twice what they do elsewhere.", "",
        f"| operator | whitebox | no run on it | … {DEVICE_BOUND_MS} ms and more | " +
        " | ".join(CHIPS) + " | **after 30** |",
        "|---|---|---|---|" + "---|" * (len(CHIPS) + 1)
    ]
    for k in [*kinds, "all"]:
        members = kinds if k == "all" else [k]
        of = lambda case, chips: mean([found[case][c][m] for c in chips for m in members])  # noqa: E731
        lines.append(f"| {k} | {of('whitebox', CHIPS)} | {of('no run', CHIPS)} | {of('no run, device', CHIPS)} | " +
                     " | ".join(of("measured", [c]) for c in CHIPS) + f" | **{of('measured', CHIPS)}** |")
    tables.write_section("operators", "studies/fit_operators.py", lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
