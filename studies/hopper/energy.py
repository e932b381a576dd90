#!/usr/bin/env python3
"""Energy of whole models as perfc predicts it, beside what NVML's counter of an H200 said (README.md).

    python3 studies/hopper/energy.py --models MODELS [--group fit] [--cells]

MODELS: the folder of `python -m perfc.export`. A row has an energy where its runs took half a second together.
"""
import judge
import judging  # found by judge.py
import profiles


def main():
    args = judge.arguments(__doc__)
    models, energies = judge.exported(args.models), judging.Energies()
    for row in profiles.labels(args.group):
        if row["target"] not in models or not row["energy_j"]:
            continue
        said = judging.predicted(args.perfc, models[row["target"]], *judge.options(row))
        joules, ms = float(row["energy_j"]), float(row["latency_ms"])
        watts, power_w = energies.add([(row["task"], row["dtype"]), ("all", "")], said, ms, joules)
        if args.cells:
            print(f"{row['cell']:58} {ms:8.3f} ms {joules:8.3f} J {watts:4.0f} W; perfc {said['latency_ms']:8.3f} ms "
                  f"{said['energy_j']:8.3f} J {power_w:4.0f} W")
    energies.print(["task", "precision"])


if __name__ == "__main__":
    main()
