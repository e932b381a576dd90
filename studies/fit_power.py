"""The power model on Zeus' traces (../shared/data/energy, Apache-2.0): constants of the whitebox's energy, and a
section of docs/accuracy.md.

    python3 studies/fit_power.py --graphs DIR [--perfc build/release/perfc]
    python3 studies/fit_power.py --check 11       # MAPE of the shipped constants on a sample; without --graphs not on
    resnet50

power = idle + (busy · TDP − idle) · (time in kernels that arithmetic limits + memory × time in those that memory
limits) / step time + (0.97 · TDP − idle) · (time in kernels of the first kind × what their rate exceeds 0.65 of the
rate that long products sustain under the power limit, where whitebox/constants/products.h knows it) / step time, held
below 0.97 × the power limit. A gather counts by the time that its bytes would stream in.
Fitted are `busy` and `memory`, with the same weight for each network; perfc predicts the kernels' times of a training
step of each network, batch and GPU; the step's time is the trace's own, because its epochs wait for data loading, which
no model file shows. Idle power of a GPU is what the model leaves over in the rows that keep it busy less than 5 % of
the time: their lowest tenth, because what the model does not see only adds.

Leave-network-out: both BERTs are one network. Leave-GPU-out: idle is the share of the TDP that the other GPU
with the same kind of memory (HBM or GDDR) takes. DIR holds ../shared/graphs/timm_torchscript.tar.xz unpacked.
"""
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bert_pir  # noqa: E402
import fit_arguments  # noqa: E402
import tables  # noqa: E402
from bert_pir import Text, convolution  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPUS = {
    "V100": ("v100-16gb", 250, "HBM"), "P100": ("p100", 250, "HBM"), "RTX6000": ("rtx6000", 260, "GDDR"), "A40": (
        "a40", 300, "GDDR")
}
SAMPLES = {  # per epoch
    ("cifar100", "shufflenetv2"): 50000, ("imagenet", "resnet50"): 1281167, ("librispeech", "deepspeech2"): 281241,
    ("movielens-1m", "ncf"): 4970845, ("squad", "bert_base_uncased"): 88641,
    ("sentiment140", "bert_base_uncased"): 1600000
}
TOKENS = {"squad": 384, "sentiment140": 64}
LIMIT, SHARPNESS, HELD_FROM = 0.97, 10, 0.65
POWER_INTERVAL = 1.24  # whitebox/constants/runs.h, kPowerInterval
POWER_SHARE = 11  # column of kProducts
#: Rows of kProducts of float32 kernels that were measured; of graphics chips since Ampere none were
CHIPS = {"V100": "VectorVolta", "P100": "VectorPascal", "RTX6000": "VectorVolta"}
IDLE_BELOW, IDLE_PERCENTILE, FEWEST = 0.05, 10, 10
SAMPLE = 23  # --check: every so manieth run


def function(t, batch, shape, result, dtype="float32"):
    dims = f"{batch}, {shape}" if shape else f"{batch},"
    return f'#[version = "perfc-ir/1"]\ndef @net(%x: Tensor[({dims}), {dtype}]) {{\n' + "\n".join(
        t.lines) + f"\n  ({result})\n}}\n"


def several(t, count, expression):
    name = t.add(expression)
    t.lines[-1] = t.lines[-1].replace(f"{name} =", f"{name}:{count} =")
    return name


def shufflenet(batch):
    """ShuffleNetV2 × 1 for CIFAR: 32×32, without the stem's stride."""
    t = Text()
    one, three = (1, 1), (3, 3)
    x, n = convolution(t, "%x", 3, 24, three), 24
    for n_out, size, blocks in ((116, 16, 3), (232, 8, 7), (464, 4, 3)):
        h = n_out // 2
        left = convolution(t, convolution(t, x, n, n, three, (2, 2), n, None), n, h, one)
        right = convolution(t, convolution(t, convolution(t, x, n, n, one), n, n, three, (2, 2), n, None), n, h, one)
        x, n = t.add(f"concatenate({left}, {right}, axis=1)"), n_out
        for _ in range(blocks):
            y = t.add(f"reshape({x}, {t.ints(batch, 2, h, size, size)})")
            y = t.add(f"transpose({y}, perm=[0, 2, 1, 3, 4])")
            y = t.add(f"reshape({y}, {t.ints(batch, n, size, size)})")
            halves = several(t, 2, f"split({y}, {t.ints(h, h)}, axis=1)")
            right = convolution(t, convolution(t, convolution(t, f"{halves}.1", h, h, one), h, h, three, (1, 1), h,
                                               None), h, h, one)
            x = t.add(f"concatenate({halves}.0, {right}, axis=1)")
    x = t.add(f"nn.batch_flatten({t.add(f'nn.global_avg_pool({convolution(t, x, n, 1024, one)})')}, axis=1)")
    return function(t, batch, "3, 32, 32", t.add(f"nn.dense({x}, {t.weight(1024, 100)})"))


def ncf(batch):
    """NeuMF on MovieLens-1M: two pairs of embeddings, a tower of three layers."""
    t = Text()
    rows = [
        t.add(f"take({t.weight(words, width)}, %x, axis=0)")
        for words, width in ((6040, 32), (3706, 32), (6040, 128), (3706, 128))
    ]
    product, tower = t.add(f"multiply({rows[0]}, {rows[1]})"), t.add(f"concatenate({rows[2]}, {rows[3]}, axis=1)")
    for n_in, n_out in ((256, 128), (128, 64), (64, 32)):
        tower = t.add(f"nn.relu({t.add(f'nn.dense({tower}, {t.weight(n_in, n_out)})')})")
    result = t.add(f"nn.dense({t.add(f'concatenate({product}, {tower}, axis=1)')}, {t.weight(64, 1)})")
    return function(t, batch, "", result, "int64")


def deepspeech(batch, frames=1230, hidden=800):
    """DeepSpeech2: two convolutions over the spectrogram, five bidirectional LSTMs; mean length of LibriSpeech.
    The width is not stated; with 1024 units the traces' steps would do 1.19 times the V100's and 1.04 times the RTX
    6000's peak of float32 (no other network passes 0.84), 800 was the public implementation's default."""
    t = Text()
    x = convolution(t, convolution(t, "%x", 1, 32, (41, 11), (2, 2), activation="clip"), 32, 32, (21, 11), (2, 1),
                    activation="clip")
    steps, n = frames // 2, 32 * 41
    x = t.add(f"transpose({t.add(f'reshape({x}, {t.ints(batch, n, steps)})')}, perm=[2, 0, 1])")
    for _ in range(5):
        weights = f"{t.weight(2, 4 * hidden, n)}, {t.weight(2, 4 * hidden, hidden)}"
        y = several(t, 3, f'nn.lstm({x}, {weights}, hidden_size={hidden}, direction="bidirectional")')
        x, n = t.add(f"sum_axes({y}.0, axes=[1], keepdims=0)"), hidden
    return function(t, batch, f"1, 161, {frames}", t.add(f"nn.dense({x}, {t.weight(n, 29)})"))


def model(dataset, network, batch, graphs, folder):
    """Arguments that name the network at that batch."""
    if network == "resnet50":
        return [str(graphs / "resnet50_224.json"), "--batch", str(batch)]
    path = folder / f"{network}-{dataset}-{batch}.pir"
    if not path.exists():
        text = (shufflenet(batch) if network == "shufflenetv2" else ncf(batch) if network == "ncf" else deepspeech(
            batch) if network == "deepspeech2" else bert_pir.encoder(batch, TOKENS[dataset], 768, 12, 12, 3072, 30522))
        path.write_text(text)
    return [str(path)]


def sustained():
    """FLOP/s of long float32 products by GPU (whitebox/constants/products.h, kProducts)."""
    text = (ROOT / "whitebox/constants/products.h").read_text()
    rows = {gpu: re.search(rf"// {chip}\n\s*\{{([^}}]*)\}}", text).group(1) for gpu, chip in CHIPS.items()}
    return {gpu: float(row.split(",")[POWER_SHARE]) * 1e12 * GPUS[gpu][1] for gpu, row in rows.items()}


def training_step(perfc, gpu, model_arguments):
    """Operators of a step in float32, with their time and what bounds it."""
    command = [
        perfc, *model_arguments, "--dtype", "fp32", "--task", "train", "--optimizer", "sgd", "--device", GPUS[gpu][0],
        "--predictor", "whitebox", "--json", "--top", "1000000"
    ]
    return json.loads(subprocess.check_output(command))["predictions"][0]["hot_ops"]


def load_rows(perfc, graphs, folder, every=1):
    """Rows of the traces with the shares of the step that kernels take; without `graphs`, no resnet50."""
    with open(ROOT.parent / "shared/data/energy/zeus_power_traces.csv", newline="") as f:
        traces = [r for r in csv.DictReader(f) if graphs or r["network"] != "resnet50"][::every]
    table = json.loads(subprocess.check_output([perfc, "devices", *(name for name, _, _ in GPUS.values()),
                                                "--json"]))["devices"]
    streamed = {d["name"]: d["efficiency"]["gather"] / d["efficiency"]["bandwidth"] for d in table}
    known, out, limited = {}, [], sustained()
    for r in traces:
        batch, device = int(r["batch_size"]), GPUS[r["gpu"]][0]
        key = (r["gpu"], r["dataset"], r["network"], r["batch_size"])
        if key not in known:
            ms = collections.Counter()
            for o in training_step(perfc, r["gpu"], model(r["dataset"], r["network"], batch, graphs, folder)):
                ms[o["bound"]] += o["time_us"] / 1e3 * (min(1, streamed[device])
                                                        if o["op"] == "take" and o["bound"] == "memory" else 1)
                if o["bound"] == "compute" and r["gpu"] in limited:
                    near = min(o["flops"] / (o["time_us"] * 1e-6) / limited[r["gpu"]], 1)
                    ms["held"] += o["time_us"] / 1e3 * max(near - HELD_FROM, 0)
            known[key] = ms
        ms = known[key]
        step = float(r["time_per_epoch_s"]) * 1e3 * batch / SAMPLES[r["dataset"], r["network"]]
        full = max(1, (sum(ms.values()) - ms["held"]) / step)  # a kernel list that takes longer than the step fills it
        out.append({
            "gpu": r["gpu"], "network": r["network"], "watts": float(r["average_power_w"]), "limit": float(
                r["power_limit_w"]), "tdp": GPUS[r["gpu"]][1], "compute": ms["compute"] / step / full,
            "memory": ms["memory"] / step / full, "held": ms["held"] / step / full
        })
    return out


class Rows:
    """Columns of rows, as arrays."""

    def __init__(self, rows):
        self.rows = rows
        for name in ("watts", "limit", "tdp", "compute", "memory", "held"):
            setattr(self, name, np.array([r[name] for r in rows]))
        self.gpu, self.network = (np.array([r[name] for r in rows]) for name in ("gpu", "network"))

    def only(self, mask):
        return Rows([r for r, m in zip(self.rows, mask) if m])


def power(constants, rows, idle):
    busy, memory = constants
    at_rest = np.array([idle[g] for g in rows.gpu])
    demand = (at_rest + (busy * rows.tdp - at_rest) * (rows.compute + memory * rows.memory) +
              (LIMIT * rows.tdp - at_rest) * rows.held)
    return (demand ** -SHARPNESS + (LIMIT * rows.limit) ** -SHARPNESS) ** (-1 / SHARPNESS)


def idle_of(rows, constants):
    busy, memory = constants
    at_work = rows.compute + memory * rows.memory
    left = (rows.watts - busy * rows.tdp * at_work - LIMIT * rows.tdp * rows.held) / (
        1 - np.minimum(at_work + rows.held, 0.9))
    out = {}
    for gpu in sorted(set(rows.gpu)):
        mine = rows.gpu == gpu
        low = mine & (at_work < max(IDLE_BELOW, np.sort(at_work[mine])[min(FEWEST, mine.sum()) - 1]))
        out[gpu] = max(1.0, float(np.percentile(left[low], IDLE_PERCENTILE)))
    return out


def fit(rows):
    """((busy, memory), idle power by GPU)"""
    networks = [rows.network == n for n in sorted(set(rows.network))]

    def loss(constants):
        errors = np.abs(power(constants, rows, idle_of(rows, constants)) / rows.watts - 1)
        return np.mean([errors[n].mean() for n in networks])

    best = min(((b, m) for b in np.arange(0.6, 1.11, 0.05) for m in np.arange(0.8, 2.01, 0.1)), key=loss)
    return best, idle_of(rows, best)


def mape(ratios):
    return float(np.mean(np.abs(np.asarray(ratios) - 1)))


def evaluate(rows):
    """Lines of the tables, and MAPE by what was left out."""
    lines, result = [], {}
    constants, own = fit(rows)
    intervals = []

    def table(title, key, idle_for):
        lines.extend(["", f"| {title} | runs | MAPE | idle at all times | the power limit |", "|---|---|---|---|---|"])
        held, order = [], []
        for name in sorted(set(getattr(rows, key))):
            left = getattr(rows, key) == name
            order.append(np.flatnonzero(left))
            test = rows.only(left)
            found, idle = fit(rows.only(~left))
            idle = idle_for(name, idle)
            held.append(
                np.stack([
                    power(found, test, idle) / test.watts,
                    np.array([idle[g] for g in test.gpu]) / test.watts, test.limit / test.watts
                ]))
            lines.append(f"| {name} | {left.sum()} | {' | '.join(tables.percent(mape(h)) for h in held[-1])} |")
        every = np.concatenate(held, axis=1)
        first, *rest = (tables.percent(mape(e)) for e in every)
        lines.append(f"| all | {every.shape[1]} | **{first}** | {' | '.join(rest)} |")
        intervals.append((title, getattr(rows, key)[np.concatenate(order)], every[0]))
        return every[0]

    def by_memory(name, others):
        same = [others[g] / GPUS[g][1] for g in others if GPUS[g][2] == GPUS[name][2]]
        return {name: sum(same) / len(same) * GPUS[name][1]}

    result["network"] = mape(table("leave-network-out", "network", lambda _, idle: idle))
    result["network, idle known"] = mape(
        table("leave-network-out, the GPU's idle power known", "network", lambda _, idle: own))
    held = table("leave-GPU-out", "gpu", by_memory)
    result["gpu"] = mape(held)
    result["factor"] = float(np.exp(np.percentile(np.abs(np.log(held)), 90)))
    lines += [
        "", f"Constants on all rows: busy {constants[0]:.2f}, memory {constants[1]:.2f}; idle " +
        ", ".join(f"{g} {w:.0f} W" for g, w in sorted(own.items())) +
        f"; 90 % of the left-out rows within a factor of {result['factor']:.2f}.", "",
        f"What the interval of power, × {POWER_INTERVAL:g}, covers of these left-out rows, and one whose factor comes "
        "from the other groups alone (90 % of their left-out rows); of energy it is joined with latency's:", "",
        "| | runs | covered | factor from the others | covered by it | groups below 70 % |", "|---|---|---|---|---|---|"
    ]
    for title, group, ratios in intervals:
        lines.append(covered_row(title, group, ratios))
    return lines, result


def covered_row(title, group, ratios):
    """A line of the table of intervals: `ratios` of predicted to measured power with their group left out."""
    off = np.abs(np.log(ratios))
    shipped, own, factors = off <= np.log(POWER_INTERVAL), np.zeros(len(off), bool), []
    for name in sorted(set(group)):
        factors.append(np.percentile(off[group != name], 90))
        own[group == name] = off[group == name] <= factors[-1]
    low = [name for name in sorted(set(group)) if shipped[group == name].mean() < 0.7]
    return (f"| {title} | {len(off)} | {100 * shipped.mean():.1f} % | × {np.exp(min(factors)):.2f} to "
            f"{np.exp(max(factors)):.2f} | {100 * own.mean():.1f} % | {', '.join(low) or 'none'} |")


def check(perfc, graphs, bound):
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(load_rows(perfc, graphs, pathlib.Path(folder), SAMPLE))
    table = {
        d["name"]: d
        for d in json.loads(subprocess.check_output([perfc, "devices", *(
            n for n, _, _ in GPUS.values()), "--json"]))["devices"]
    }
    devices = {g: table[name] for g, (name, _, _) in GPUS.items()}
    constants = tuple(np.array([devices[g][key] for g in rows.gpu]) for key in ("busy_power", "memory_power"))
    error = 100 * mape(power(constants, rows, {g: d["idle_w"] for g, d in devices.items()}) / rows.watts)
    print(f"average power, shipped constants, {len(rows.watts)} runs: MAPE {error:.2f} %, at most {bound:g} %")
    return 0 if error <= bound else 1


def main():
    args = fit_arguments.parse(__doc__)
    if args.check is not None:
        sys.exit(check(args.perfc, args.graphs, args.check))
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows(load_rows(args.perfc, args.graphs, pathlib.Path(folder)))
    lines, _ = evaluate(rows)
    tables.write_section("power", "studies/fit_power.py", [
        "## Average power: Zeus' training traces", "",
        "Six networks on four GPUs, batches 8 to 32768, power limits from 100 W. Step times are the traces' own "
        "(their epochs wait for",
        "data); how long the kernels work in a step is predicted. Baselines: idle power, and the power limit itself. "
        "The rule that finds",
        "idle power was chosen among seven, with leave-network-out errors from 8.8 to 10.5; the width of DeepSpeech2 "
        "is a guess from its",
        "step times (see the script).", *lines
    ])


if __name__ == "__main__":
    main()
