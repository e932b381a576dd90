#!/usr/bin/env python3
"""Judges perfc on KernelBench's programs as their authors and others timed them on 13 GPUs, eager and compiled.

    python3 studies/kernelbench/judge.py --look      programs that may be looked at, one by one, and as a table
    python3 studies/kernelbench/judge.py --judge     those that judge, as a table

programs.tar.xz: the programs in perfc's text form, as `perfc import` writes what PyTorch 2.13 exports of modules that
compute the same, in training mode as they were timed, at the sizes of the first release (small) and at later ones
(large). Without large 1/50, whose batch we do not know. measured.tsv: the mean of 100 calls in milliseconds, PyTorch
2.5, from results/timing (`source` is the folder) of github.com/ScalingIntelligence/KernelBench and its copy
yoenoo/kernel_bench_stuff, MIT. Every look is a row of docs/judged.md.
"""
import collections
import concurrent.futures
import csv
import pathlib
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402


def may_be_looked_at(row):
    """The rule of docs/judged.md: by the program, so that no device's row tells of another's."""
    return zlib.crc32(f"{row['level']}/{row['number']}".encode()) % 2 == 0


def main():
    parser = judging.parser(__doc__, "programs")
    parser.add_argument("--device")
    parser.add_argument("--mode", choices=["eager", "compiled"])
    args = parser.parse_args()
    with judging.unpacked(HERE / "programs.tar.xz") as folder:
        judge(args, folder)


def judge(args, folder):
    def program(row):
        return folder / row["sizes"] / f"{row['level']}-{row['number']}.pir"

    def of(row):
        return row, judging.predicted(args.perfc, program(row), "--device", row["device"], "--dtype", "default",
                                      "--mode", row["mode"], *judging.host(args))

    with open(HERE / "measured.tsv", newline="") as f:
        rows = [r for r in csv.DictReader(f, delimiter="\t")
                if may_be_looked_at(r) == args.look and program(r).exists()
                and (args.device or r["device"]) == r["device"] and (args.mode or r["mode"]) == r["mode"]]
    by_level, by_device = (collections.defaultdict(list) for _ in range(2))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for row, said in pool.map(of, rows):
            measured, bound = float(row["ms"]), "host" if judging.is_host_bound(said) else "device"
            beside = judging.beside(said, measured)
            by_level[row["mode"], bound, row["sizes"], row["level"]].append(beside)
            by_device[row["mode"], bound, row["device"]].append(beside)
            if args.look:
                print(f"{row['mode']} {bound} {row['sizes']} {row['level']}/{row['number']} {row['device']}: measured "
                      f"{measured:.4g} ms, device {said['device_ms']:.4g}, host {said['host_ms']:.4g}, predicted ÷ "
                      f"measured {beside[0]:.2f}{'' if beside[1] else ', outside the interval'}")
    judging.print_table(["mode", "bound by", "sizes", "level"], sorted(by_level.items()))
    print()
    judging.print_table(["mode", "bound by", "device"], sorted(by_device.items()))


if __name__ == "__main__":
    main()
