"""Whole models as perfc predicts them, beside what others measured: for studies that judge."""
import json
import statistics
import subprocess
import sys

import tables


def predicted(perfc, model, *options):
    """perfc's one prediction of a model, as its JSON has it."""
    done = subprocess.run([perfc, model, "--json", "--quiet", *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{model}: {done.stderr}")
    return json.loads(done.stdout)["predictions"][0]


def host(args):
    """Options for a study's own --host."""
    return ["--host", args.host] if args.host else []


def beside(prediction, measured_ms, more_ms=0):
    """(predicted ÷ measured, whether what was measured lies in the interval); `more_ms`: what a run holds beyond what
    perfc predicts."""
    low, high = prediction["latency_ms_interval"]
    ratio = (prediction["latency_ms"] + more_ms) / measured_ms
    return ratio, low + more_ms <= measured_ms <= high + more_ms


def is_host_bound(prediction):
    return prediction["host_ms"] > prediction["device_ms"]


def power_in(said, latency_ms):
    """Watts of a run that takes so long: what a prediction says of its work (whitebox/price/power.h), held below the
    device's limit (whitebox/constants/runs.h)."""
    idle = said["power_breakdown_w"]["idle"]
    demand = idle + (sum(said["power_breakdown_w"].values()) - idle) * said["latency_ms"] / latency_ms
    return (demand ** -10 + (0.97 * said["device_tdp_w"]) ** -10) ** -0.1


def cells(rows):
    """Cells of a table: how many rows, their MAPE, the median of predicted ÷ measured, how many lie in the interval.
    `rows`: what beside() says of each"""
    ratios = [ratio for ratio, _ in rows]
    error = tables.percent(statistics.mean(abs(r - 1) for r in ratios))
    inside = sum(inside for _, inside in rows)
    return f"{len(rows)} | {error} | {statistics.median(ratios):.2f} | {inside} of {len(rows)}"


def print_table(heads, groups):
    """`heads`: of the columns that say which rows; `groups`: (what stands in these, rows)"""
    heads = [*heads, "rows", "MAPE", "median predicted ÷ measured", "in the 90 % interval"]
    print(f"| {' | '.join(heads)} |")
    print("|" + "---|" * len(heads))
    for key, rows in groups:
        print(f"| {' | '.join(map(str, key))} | {cells(rows)} |")
