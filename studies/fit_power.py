"""The power model on measured runs: constants of the whitebox's energy, and a section of docs/accuracy.md.

    /tmp/venv/bin/python studies/fit_power.py --graphs DIR --exports MODELS [--perfc build/release/perfc]
    python3 studies/fit_power.py --check 11       # MAPE of the shipped constants on a sample; without --graphs not on
    resnet50

Zeus' training traces (../shared/data/energy, Apache-2.0) and the groups `fit` and `fit-training` of an H200's runs
(studies/hopper). The law is whitebox/price/power.h's:

    idle + (TDP − idle) · (active · kernels + matrix · products + memory · traffic) + vector · FLOP/s

held below 0.97 × the power limit. perfc predicts these times, and the FLOPs of vector units, in a step of each
network, batch and GPU; the step's time is that of the trace, whose epochs wait for data loading, or of the run. Fitted
are the four factors (`vector` in pJ) and each GPU's idle power, to the least mean error, every GPU with the same weight
and on it every network.

Leave-network-out: both BERTs are one network. Leave-GPU-out: idle is the share of the TDP that the other GPUs with the
same kind of memory (HBM or GDDR) take. DIR holds ../shared/graphs/timm_torchscript.tar.xz unpacked, MODELS is the
folder of `python -m perfc.export` with studies/hopper/fit.txt; the environment has numpy and scipy.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / part) for part in (".", "hopper")]
import bert_pir  # noqa: E402
import fit_arguments  # noqa: E402
import judge  # noqa: E402
import judging  # noqa: E402
import profiles  # noqa: E402
import shipped  # noqa: E402
import tables  # noqa: E402
from bert_pir import Text, convolution  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPUS = {  # perfc's name, TDP, kind of memory
    "V100": ("v100-16gb", 250, "HBM"), "P100": ("p100", 250, "HBM"), "RTX6000": ("rtx6000", 260, "GDDR"), "A40": (
        "a40", 300, "GDDR")
}
SAMPLES = {  # per epoch
    ("cifar100", "shufflenetv2"): 50000, ("imagenet", "resnet50"): 1281167, ("librispeech", "deepspeech2"): 281241,
    ("movielens-1m", "ncf"): 4970845, ("squad", "bert_base_uncased"): 88641,
    ("sentiment140", "bert_base_uncased"): 1600000
}
TOKENS = {"squad": 384, "sentiment140": 64}
H200, H200_MODELS = ("h200", 700, "HBM"), "the H200's models"
SHIPPED = shipped.constants()
LIMIT, SHARPNESS, POWER_INTERVAL = (SHIPPED[name] for name in ("kPowerLimit", "kPowerSharpness", "kPowerInterval"))
FACTORS = ("active", "matrix", "memory", "vector")
START, IDLE_START = (0.3, 1.2, 0.75, 6), 0.15  # idle: of the TDP. A simplex would start flat in the logarithm of 1
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


def sheets(perfc):
    """perfc's entries of the GPUs, by perfc's names."""
    names = [name for name, _, _ in (*GPUS.values(), H200)]
    return {d["name"]: d for d in json.loads(subprocess.check_output([perfc, "devices", *names, "--json"]))["devices"]}


def constants(sheet):
    """The factors that perfc has, in FACTORS' order."""
    return sheet["active_power"], SHIPPED["kMatrixPower"], sheet["memory_power"], SHIPPED["kVectorPicojoules"]


def loads(said, sheet):
    """Of a run as predicted: ms in which kernels, products and traffic keep the GPU, and GFLOPs of vector units."""
    watts = [said["power_breakdown_w"][k] for k in ("kernels", "matrix_units", "memory", "vector_units")]
    room = sheet["tdp_w"] - sheet["idle_w"]
    return np.array(watts) / constants(sheet) / (room, room, room, 1) * said["latency_ms"]


def row(gpu, network, watts, limit, tdp, ms, step_ms):
    full = max(1, ms[0] / step_ms)  # a kernel list that takes longer than the step fills it
    return {"gpu": gpu, "network": network, "watts": watts, "limit": limit, "tdp": tdp, "load": ms / step_ms / full}


def traces(perfc, graphs, folder, every=1):
    """Rows of Zeus' traces; without `graphs`, no resnet50."""
    with open(ROOT.parent / "shared/data/energy/zeus_power_traces.csv", newline="") as f:
        found = [r for r in csv.DictReader(f) if graphs or r["network"] != "resnet50"][::every]
    known, table = {}, sheets(perfc)
    for r in found:
        batch, (device, tdp, _) = int(r["batch_size"]), GPUS[r["gpu"]]
        key = (r["gpu"], r["dataset"], r["network"], r["batch_size"])
        if key not in known:
            asked = [*model(r["dataset"], r["network"], batch, graphs, folder), "--dtype", "fp32", "--task", "train",
                     "--optimizer", "sgd", "--device", device, "--predictor", "whitebox"]
            known[key] = loads(judging.predicted(perfc, *asked), table[device])
        step = float(r["time_per_epoch_s"]) * 1e3 * batch / SAMPLES[r["dataset"], r["network"]]
        yield row(r["gpu"], r["network"], float(r["average_power_w"]), float(r["power_limit_w"]), tdp, known[key], step)


def h200_runs(perfc, exports):
    """Rows of the H200's runs that make rules."""
    sheet, models = sheets(perfc)["h200"], judge.exported(exports)
    for r in profiles.labels("fit", "fit-training"):
        if r["energy_j"] and r["target"] in models:
            said = judging.predicted(perfc, models[r["target"]], *judge.options(r))
            ms = float(r["latency_ms"])
            yield row("H200", H200_MODELS, float(r["energy_j"]) / ms * 1e3, H200[1], H200[1], loads(said, sheet), ms)


class Rows:
    """Columns of rows, as arrays."""

    def __init__(self, rows):
        self.rows = list(rows)
        for name in ("watts", "limit", "tdp", "load", "gpu", "network"):
            setattr(self, name, np.array([r[name] for r in self.rows]))

    def only(self, mask):
        return Rows([r for r, m in zip(self.rows, mask) if m])


def power(factors, rows, idle):
    at_rest = np.array([idle[g] for g in rows.gpu])
    demand = at_rest + (rows.tdp - at_rest) * (rows.load[:, :3] @ factors[:3]) + rows.load[:, 3] * factors[3]
    return (demand ** -SHARPNESS + (LIMIT * rows.limit) ** -SHARPNESS) ** (-1 / SHARPNESS)


def fit(rows):
    """(FACTORS, idle power by GPU)"""
    from scipy.optimize import minimize
    gpus, weight = sorted(set(rows.gpu)), np.zeros(len(rows.watts))
    for g in gpus:
        networks = sorted(set(rows.network[rows.gpu == g]))
        for n in networks:
            mine = (rows.gpu == g) & (rows.network == n)
            weight[mine] = 1 / mine.sum() / len(networks) / len(gpus)

    def with_products(found):  # of which Zeus' traces, in float32 on old GPUs, have none on matrix units
        if not rows.load[:, 1].any():
            found[1] = START[1]
        return found

    def error(logs):
        found = with_products(np.exp(logs))
        predicted = power(found[:len(FACTORS)], rows, dict(zip(gpus, found[len(FACTORS):])))
        return weight @ np.abs(predicted / rows.watts - 1)

    start = np.log([*START, *(IDLE_START * rows.tdp[rows.gpu == g][0] for g in gpus)])
    for _ in range(2):  # once more from where the simplex has shrunk to
        start = minimize(error, start, method="Nelder-Mead", options={"maxfev": 6000, "xatol": 1e-4, "fatol": 1e-6}).x
    found = with_products(np.exp(start))
    return found[:len(FACTORS)], dict(zip(gpus, map(float, found[len(FACTORS):])))


def mape(ratios):
    return float(np.mean(np.abs(np.asarray(ratios) - 1)))


def evaluate(rows):
    """Lines of the tables, and MAPE by what was left out."""
    lines, result = [], {}
    factors, own = fit(rows)
    intervals = []

    def table(title, key, idle_for):
        lines.extend(["", f"| {title} | runs | MAPE | idle at all times | the power limit |", "|---|---|---|---|---|"])
        held, order = [], []
        for name in sorted(set(getattr(rows, key)) - {H200_MODELS}):
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
        known = {**GPUS, "H200": H200}
        same = [others[g] / known[g][1] for g in others if known[g][2] == known[name][2]]
        return {name: sum(same) / len(same) * known[name][1]}

    result["network"] = mape(table("leave-network-out", "network", lambda _, idle: idle))
    result["network, idle known"] = mape(
        table("leave-network-out, the GPU's idle power known", "network", lambda _, idle: own))
    held = table("leave-GPU-out", "gpu", by_memory)
    result["gpu"] = mape(held)
    result["factor"] = float(np.exp(np.percentile(np.abs(np.log(held)), 90)))
    lines += [
        "", "Constants on all rows: " + ", ".join(f"{n} {f:.2f}" for n, f in zip(FACTORS, factors)) + "; idle " +
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
        rows = Rows(traces(perfc, graphs, pathlib.Path(folder), SAMPLE))
    table = sheets(perfc)
    idle = {g: table[name]["idle_w"] for g, (name, _, _) in GPUS.items()}
    error = 100 * mape(power(constants(table["h200"]), rows, idle) / rows.watts)
    print(f"average power, shipped constants, {len(rows.watts)} runs: MAPE {error:.2f} %, at most {bound:g} %")
    return 0 if error <= bound else 1


def main():
    args = fit_arguments.parse(__doc__, exports=True)
    if args.check is not None:
        sys.exit(check(args.perfc, args.graphs, args.check))
    with tempfile.TemporaryDirectory() as folder:
        rows = Rows([*traces(args.perfc, args.graphs, pathlib.Path(folder)), *h200_runs(args.perfc, args.exports)])
    lines, _ = evaluate(rows)
    tables.write_section("power", "studies/fit_power.py", [
        "## Average power: Zeus' training traces", "",
        "Six networks on four GPUs, batches 8 to 32768, power limits from 100 W, and the runs of an H200 that make "
        "rules (those that judge are in",
        "[judged.md](judged.md#energy-and-power)). Step times are the traces' own (their epochs wait for data); how "
        "long kernels, their",
        "arithmetic and their traffic take is predicted. Baselines: idle power, and the power limit itself. The width "
        "of DeepSpeech2 is a",
        "guess from its step times (see the script). An H200's models stay where a network is left out.", *lines
    ])


if __name__ == "__main__":
    main()
