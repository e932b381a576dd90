#!/usr/bin/env python3
"""When in its call a kernel is sent: kSentInCall of whitebox/constants/runs.h.

    python3 studies/kernels/sent_in_call.py --shared ../shared        (numpy)

NeuSight's elementwise operators (../shared/data/ops_neusight, MIT) lie between two events with nothing queued: short
ones take what the call does, long ones what of it has passed when the kernel is sent, a launch, and their traffic. Of
each host: the median of the shortest tenth; the intercept of a line of the bytes moved through operators of 2 to 10
times that, with relative weights, less a launch; the second over the first. No row of models is used.
"""
import argparse
import csv
import gzip
import pathlib

import numpy as np

BYTES = {"add": 12, "mul": 12, "div": 12, "addu": 8, "mulu": 8, "divu": 8, "relu": 8}  # of an element, float32
LAUNCH_US = 2  # of a kernel, in its device's entry
LONG = (2, 10)  # so many times the shortest


def measured(shared):
    """GPU -> operator -> (bytes, µs) of each row."""
    out = {}
    with gzip.open(shared / "data/ops_neusight/ops_train.csv.gz", "rt", newline="") as f:
        for r in csv.DictReader(f):
            if r["op"] in BYTES:
                moved = float(r["B"]) * float(r["H"]) * BYTES[r["op"]]
                out.setdefault(r["device"], {}).setdefault(r["op"], []).append((moved, float(r["latency_ms"]) * 1e3))
    return out


def share_of_call(rows):
    """(the call's µs, those passed when the kernel is sent)"""
    moved, us = np.array(rows).T
    call = np.median(np.sort(us)[:max(len(us) // 10, 1)])
    long = (us > LONG[0] * call) & (us < LONG[1] * call)
    if long.sum() < 5:
        return None
    slopes = np.stack([np.ones(long.sum()), moved[long]], 1) / us[long, None]
    return call, np.linalg.lstsq(slopes, np.ones(long.sum()), rcond=None)[0][0] - LAUNCH_US


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, required=True)
    hosts = []
    for device, operators in sorted(measured(p.parse_args().shared).items()):
        found = [s for s in map(share_of_call, operators.values()) if s]
        call, sent = np.median(np.array(found), 0)
        hosts.append(np.median([s / c for c, s in found]))
        print(f"beside {device}: calls of {call:.1f} µs, kernels sent after {sent:.1f}: {hosts[-1]:.2f} "
              f"({len(found)} operators)")
    print(f"mean of {len(hosts)} hosts: {np.mean(hosts):.2f}")


if __name__ == "__main__":
    main()
