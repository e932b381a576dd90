#!/usr/bin/env python3
"""What V100 and RTX 6000 sustain in float32 at as few W per TFLOP/s of peak as a T4 has: `VectorVolta`'s power_share.

    python3 studies/power_limits.py [--perfc build/release/perfc]

Zeus' training traces (../shared/data/energy, Apache-2.0) have the same steps of BERT under power limits from 100 W to
the TDP, which hardly holds these GPUs (they draw 226 of 250 W and 235 to 249 of 260). A step is products, which stretch
as clocks fall, and what memory bounds, which does not; perfc says the share of either. So a limit's stretch of the step
tells that of the products, and that what they sustain per W, from what NeuSight's long products reach on a V100,
REACHED of the peak. Between limits logarithms are interpolated.
"""
import argparse
import collections
import csv
import math
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fit_power  # noqa: E402

GPUS = ("V100", "RTX6000")
PEAK = {"V100": 14.13, "RTX6000": 16.31}  # TFLOP/s of float32: V100 of 250 W
T4_WATTS = 70 / 8.14                      # per TFLOP/s of peak
OF_T4 = 0.0468                            # TFLOP/s per W that NeuSight's T4 sustains: fit_products.py
REACHED = 0.865                           # of V100's peak: linear layers of 10 ms and more (shared/data/ops_neusight)


def product_share(perfc, gpu, dataset, batch, folder):
    """Of a training step's time on the device, what products take that arithmetic bounds."""
    times = collections.Counter()
    for o in fit_power.training_step(perfc, gpu, fit_power.model(dataset, "bert_base_uncased", batch, None, folder)):
        times[o["bound"]] += o["time_us"]
    return times["compute"] / sum(times.values())


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--perfc", default=str(fit_power.ROOT / "build/release/perfc"))
    perfc = arguments.parse_args().perfc
    epochs = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(fit_power.ROOT.parent / "shared/data/energy/zeus_power_traces.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["gpu"] in GPUS and r["network"] == "bert_base_uncased":
                key = r["gpu"], r["dataset"], int(r["batch_size"])
                epochs[key][float(r["power_limit_w"])].append(float(r["time_per_epoch_s"]))
    largest = {}
    for gpu, dataset, batch in epochs:
        largest[gpu, dataset] = max(batch, largest.get((gpu, dataset), 0))
    found = []
    print("| GPU | BERT on | W | step's stretch | products' share | products' stretch | TFLOP/s per W |")
    print("|---" * 7 + "|")
    with tempfile.TemporaryDirectory() as folder:
        for (gpu, dataset), batch in sorted(largest.items()):
            times = {w: statistics.mean(t) for w, t in epochs[gpu, dataset, batch].items()}
            watts = T4_WATTS * PEAK[gpu]
            below, above = max(w for w in times if w <= watts), min(w for w in times if w > watts)
            at = math.log(watts / below) / math.log(above / below)
            stretch = times[below]**(1 - at) * times[above]**at / times[max(times)]
            share = product_share(perfc, gpu, dataset, batch, pathlib.Path(folder))
            of_products = (stretch - 1 + share) / share
            found.append(REACHED * PEAK[gpu] / of_products / watts)
            print(f"| {gpu} | {dataset}, {batch} | {watts:.0f} | {stretch:.2f} | {share:.2f} | {of_products:.2f} "
                  f"| {found[-1]:.4f} |")
    these = statistics.geometric_mean(found)
    print(f"\ntheir mean {these:.4f}, NeuSight's T4 {OF_T4}; power_share of VectorVolta, between both: "
          f"{math.sqrt(these * OF_T4):.4f}")


if __name__ == "__main__":
    main()
