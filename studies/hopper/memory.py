#!/usr/bin/env python3
"""Memory of whole models as perfc predicts it, beside what PyTorch's allocator had on an H200 (README.md).

    python3 studies/hopper/memory.py --models MODELS [--group fit] [--cells]

MODELS: the folder of `python -m perfc.export`. What is compared is what the allocator reserves, and what is in use at
once, without the context (torch.cuda.max_memory_reserved, max_memory_allocated). One process ran all cells: workspaces
of cuBLAS and cuBLASLt that a model before had used were still there (stack.json). Left out are cells in 16 bits, for
which the weights were converted while peaks were counted, inference after a step, whose gradients were there, and the
group judge-alone, in whose process some 130 MiB of another model stayed.
"""
import collections
import pathlib
import statistics

import judge
import judging  # this and tables: found by judge.py
import profiles
import tables

STACK = str(pathlib.Path(__file__).parent / "stack.json")


def clean(rows):
    """Those in which nothing of the cells before them lay in memory."""
    stepped = set()
    for row in rows:
        if row["dtype"] in ("fp16", "bf16"):
            continue
        if row["task"] == "train":
            stepped.add(row["target"])
        elif row["target"] in stepped:
            continue
        if row["reserved_mib"]:
            yield row


def error(ratios):
    return f"{tables.percent(statistics.mean(abs(r - 1) for r in ratios))} | {statistics.median(ratios):.2f}"


def main():
    args = judge.arguments(__doc__)
    models = judge.exported(args.models)
    reserved, in_use, inside = (collections.defaultdict(list) for _ in range(3))
    for row in clean(profiles.labels(args.group)):
        if row["target"] not in models:
            continue
        said = judging.predicted(args.perfc, models[row["target"]], *judge.options(row), "--stack", STACK)
        context, measured = said["memory_breakdown_mib"]["context"], float(row["reserved_mib"])
        low, high = (bound - context for bound in said["memory_mib_interval"])
        for key in ((row["task"], row["dtype"]), ("all", "")):
            reserved[key].append((said["memory_mib"] - context) / measured)
            in_use[key].append(said["memory_allocated_mib"] / float(row["allocated_mib"]))
            inside[key].append(low <= measured <= high)
        if args.cells:
            print(f"{row['cell']:58} {row['layout']} {measured:7.0f} MiB, {float(row['allocated_mib']):7.0f} in use; "
                  f"perfc {said['memory_mib'] - context:7.0f}, {said['memory_allocated_mib']:7.0f}")
    print("| task | precision | runs | reserved, MAPE | predicted ÷ measured | within the 90 % interval | "
          "in use, MAPE | predicted ÷ measured |\n|---|---|---|---|---|---|---|---|")
    for key in sorted(reserved, key=lambda key: (key[0] == "all", key)):
        print(f"| {key[0]} | {key[1]} | {len(inside[key])} | {error(reserved[key])} | "
              f"{sum(inside[key])} of {len(inside[key])} | {error(in_use[key])} |")


if __name__ == "__main__":
    main()
