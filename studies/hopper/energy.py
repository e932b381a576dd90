#!/usr/bin/env python3
"""Energy of whole models as perfc predicts it, beside what NVML's counter of an H200 said (README.md).

    python3 studies/hopper/energy.py --models MODELS [--group fit] [--cells]

MODELS: the folder of `python -m perfc.export`. A row has an energy where its runs took half a second together. Power is
that of the time which the run took, so that it has energy's error without that of latency.
"""
import argparse
import collections
import pathlib

import judge
import judging  # this: found by judge.py
import profiles


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    judge.add_arguments(p)
    p.add_argument("--cells", action="store_true", help="print each")
    args = p.parse_args()
    models = judge.exported(args.models)
    energy, power = (collections.defaultdict(list) for _ in range(2))
    for row in profiles.labels(args.group):
        if row["target"] not in models or not row["energy_j"]:
            continue
        said = judging.predicted(args.perfc, models[row["target"]], *judge.options(row))
        joules, ms = float(row["energy_j"]), float(row["latency_ms"])
        watts, power_w = joules / ms * 1e3, judging.power_in(said, ms)
        low, high = said["energy_j_interval"]
        for key in ((row["task"], row["dtype"]), ("all", "")):
            energy[key].append((said["energy_j"] / joules, low <= joules <= high))
            power[key].append((power_w / watts, False))
        if args.cells:
            print(f"{row['cell']:58} {ms:8.3f} ms {joules:8.3f} J {watts:4.0f} W; perfc {said['latency_ms']:8.3f} ms "
                  f"{said['energy_j']:8.3f} J {power_w:4.0f} W")
    for what, found in (("energy", energy),
                        ("power in the time that the run took (the last column says nothing)", power)):
        print(f"\n{what}\n")
        judging.print_table(["task", "precision"], sorted(found.items()))


if __name__ == "__main__":
    main()
