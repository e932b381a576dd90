"""Context constants of perfc's memory model, and how well it does; writes sections of docs/accuracy.md.

    python3 studies/fit_memory.py --graphs DIR [--perfc build/release/perfc] [--part mig|train|dippm] [--every 1]

What the allocator reserves is computed (whitebox/memory/memory.cpp), nothing of it is fitted. Fitted is what lies
outside: the context of a software stack, per resident thread, and what cuDNN loads, one constant each; they go into
data/stacks.json by hand.

mig    MIGProfiler's framebuffer (MIT), leave-model-out. ViT ran before PyTorch had fused attention: its
       attention is written out.
train  GPUMemNet's timm rows (CC-BY-4.0; clean ones), one training step with Adam, leave-family-out. From the other
       families come the context and how often a monitor sees cuDNN's search for algorithms (kSeenPerGib in
       whitebox/constants/memory.h), both shipped as fitted on all. Of several image sizes of an architecture the one
       is taken where the set's own FakeTensor column, which is no target, has its usual ratio to our activations.
dippm  The A100 points of DIPPM's paper with the shipped constants: test only.
amp    The batches at which timm trained under AMP on an RTX 3090 (Apache-2.0): test only. Its script starts at 512 and
       takes the next smaller one each time memory runs out, so what ran fits and the next larger does not.
interval  What the 90 % intervals cover on the rows of mig and train; kReservedInterval in whitebox/constants/memory.h.

DIR holds ../shared/graphs/timm_torchscript.tar.xz unpacked.
"""
import argparse
import collections
import csv
import gzip
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import fit_mig  # noqa: E402
import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
GPUMEMNET, GPUMEMNET_MIB = "a100-40gb", 40536  # the set says a GPU of 40 GB
THREADS_PER_SM = 2048  # of A100: devices/device_table.cpp
STACKS = {"A100-40g": "migprofiler-40gb", "A100-80g": "migprofiler-80gb", "train": "gpumemnet",
          "dippm": "migprofiler-40gb", "amp": "migprofiler-80gb"}
AMP_RUNS, AMP_DEVICE, AMP_STARTS, AMP_SAMPLE = "benchmark-train-amp-nchw-pt112-cu113-rtx3090.csv", "rtx3090", 512, 3
SEEN_PER_GIB, SHOWN_ODDS, UPPER_ODDS = 0.116, 0.1, 0.05  # whitebox/constants/memory.h
# Interval of the stacks that were measured (data/stacks.json): the context that other networks tell is off by 14 % at
# most, for MIGProfiler's bert-base, whose set's others convolve.
MEASURED_STACK = 1.15
COVERED = 0.9
PERCEPTRON_MIB = 22  # a small segment, and one with cuBLAS' workspace
FAR = 1.2  # times what the run needs: so much counts as a search that was seen
DIPPM = [  # graph, batch, MB, profile by Eq. 2 (../shared/formats/dippm.md, Table 4 and Table 5)
    ("densenet121_224", 8, 3272, "1g.5gb"), ("densenet121_224", 32, 6294, "2g.10gb"),
    ("swin_base_patch4_window7_224_224", 2, 2944, "1g.5gb"), ("swin_base_patch4_window7_224_224", 16, 6156, "2g.10gb"),
    # Its 1652 MB contradicts its shares: 61 % of 5 GB, 31 % of 10 GB, 16 % of 20 GB.
    ("convnext_base_224", 4, 3100, "1g.5gb"), ("convnext_base_224", 128, 30996, "7g.40gb"),
    ("efficientnet_b0_224", 32, 4772, None)]


def predict(perfc, arguments):
    """The one prediction of a call; None where perfc refuses the model."""
    done = subprocess.run([perfc, *arguments, "--predictor", "whitebox", "--opaque", "warn", "--json", "--top", "0"],
                          capture_output=True, text=True)
    return json.loads(done.stdout)["predictions"][0] if done.returncode == 0 else None


def beside_context(prediction):
    parts = prediction["memory_breakdown_mib"]
    return sum(parts.values()) - parts["context"] - parts.get("search", 0)


def searches(prediction):
    """[(MiB beside the context, GiB of data of this search and those above it)], most first, of what exceeds the
    need."""
    context = prediction["memory_breakdown_mib"]["context"]
    return [(mib - context, -math.log1p(-odds) / SEEN_PER_GIB) for mib, odds in prediction["memory_odds"] if odds < 1]


def scores(pairs):
    """MAPE, MAE, share more than 20 % below."""
    errors = [p / m - 1 for p, m in pairs]
    return statistics.mean(map(abs, errors)), statistics.mean(
        abs(p - m) for p, m in pairs), sum(e < -0.2 for e in errors) / len(errors)


def mig_rows(perfc, graphs, folder):
    rows = fit_mig.runs(graphs, folder)
    known = {}
    for r in rows:
        command = [
            a if "vit_" not in a else str(fit_mig.written_out(perfc, pathlib.Path(a), folder)) for a in r["command"]
        ]
        key = tuple(command)
        if key not in known:
            options = ["--device", "a100-80gb", "--stack", STACKS[r["set"]]]
            known[key] = beside_context(predict(perfc, [*command, *options]))
        r["rest"], r["sms"] = known[key], fit_mig.SMS[r["device"].split(":")[1][0]]
        r["convolves"] = float(r["model"] in fit_mig.VISION)
    return rows


def context_terms(rows):
    return np.array([[1, r["sms"], r["convolves"]] for r in rows])


def fit_context(rows):
    """MiB of context, per SM and where a model convolves: least relative squares. Where all models convolve the last is
    part of the first."""
    x, y = context_terms(rows), np.array([r["mib"] for r in rows])
    rest = np.array([r["rest"] for r in rows])
    used = [0, 1] + ([2] if 0 < x[:, 2].mean() < 1 else [])
    out = np.zeros(3)
    out[used] = np.linalg.lstsq(x[:, used] / y[:, None], (y - rest) / y, rcond=None)[0]
    return out


def with_context(constants, rows):
    return [(float(c + r["rest"]), r["mib"]) for c, r in zip(context_terms(rows) @ constants, rows)]


def mig_table(rows):
    lines = [
        "## Memory of inference: MIGProfiler's framebuffer", "",
        "A100 slices, fp32/TF32, PyTorch 1.x. The allocator's part is computed; leave-model-out: the stack's "
        "constants come",
        "from the set's other models. The model before, a factor on live activations, had 5.8 (../shared/findings.md).",
        "", "| set | model | runs | in sample, MAPE | leave-model-out, MAPE | MAE, MiB |", "|---|---|---|---|---|---|"
    ]
    held = []
    for name in fit_mig.SETS:
        part = [r for r in rows if r["set"] == name]
        whole = fit_context(part)
        for model in sorted({r["model"] for r in part}):
            members = [r for r in part if r["model"] == model]
            out = with_context(fit_context([r for r in part if fit_mig.network(r["model"]) != fit_mig.network(model)]),
                               members)
            held += out
            lines.append(
                f"| {name} | {model} | {len(members)} | {tables.percent(scores(with_context(whole, members))[0])} | "
                f"{tables.percent(scores(out)[0])} | {scores(out)[1]:.0f} |")
        fitted = {"context_mib": whole[0], "context_kib_per_thread": whole[1] * 1024 / THREADS_PER_SM,
                  "convolution_mib": whole[2]}
        lines.append(f"| {name} | constants | | "
                     f"`{json.dumps({key: round(float(v), 2) for key, v in fitted.items()})}` | | |")
    mape, mae, _ = scores(held)
    lines.append(f"| all | | {len(held)} | | **{tables.percent(mape)}** | **{mae:.0f}** |")
    return lines, (mape, mae)


def usual_ratio(found):
    """Of FakeTensor's estimate to ours, where only one image size is known: which size ran is told by what is nearest
    to it."""
    return statistics.median(ratio for sizes in found.values() if len(sizes) == 1 for ratio, _ in sizes)


def train_rows(perfc, graphs, every):
    with open(SHARED / "graphs/families.tsv", newline="") as f:
        families = {r["arch"]: r["family"] for r in csv.DictReader(f, delimiter="\t")}
    sizes = collections.defaultdict(list)
    for path in sorted(graphs.glob("*.json")):
        if ".reparam" not in path.name:
            sizes[path.stem.rsplit("_", 1)[0]].append(path)
    with open(SHARED / "data/memory/gpumemnet_timm_train_memory.csv", newline="") as f:
        runs = [r for r in csv.DictReader(f) if r["timm_model"] in sizes]
    by_model = collections.defaultdict(list)
    for r in runs:
        by_model[r["timm_model"]].append(r)
    by_model = {m: by_model[m] for m in sorted(by_model)[::every]}

    def step(path, run):
        return predict(perfc, [
            str(path), "--batch", run["batch_size"], "--dtype", "fp32", "--task", "train", "--cudnn-benchmark",
            "--device", GPUMEMNET, "--stack", STACKS["train"]
        ])

    ran = {
        m: {int(r["batch_size"]): float(r["max_gpu_memory_mib"]) for r in rows if r["suspect_failed_run"] == "False"}
        for m, rows in by_model.items()
    }
    found = collections.defaultdict(list)
    for model, rows in by_model.items():
        largest = max(rows, key=lambda r: (r["suspect_failed_run"] == "False", int(r["batch_size"])))
        for path in sizes[model]:
            if p := step(path, largest):
                parts = p["memory_breakdown_mib"]
                found[model].append(
                    (float(largest["faketensor_after_forward_mb"]) / (parts["weights"] + parts["activations"]), path))
    usual, out = usual_ratio(found), []
    for model, ratios in found.items():
        _, path = min(ratios, key=lambda r: abs(math.log(r[0] / usual)))
        for r in by_model[model]:
            batch, taken, p = int(r["batch_size"]), float(r["max_gpu_memory_mib"]), step(path, r)
            out.append({
                "family": families.get(model, "-"), "mib": taken, "rest": beside_context(p), "searches": searches(p),
                "shipped": p["memory_mib_interval"], "context": p["memory_breakdown_mib"]["context"], "fake": float(
                    r["faketensor_last_mb"]), "clean": r["suspect_failed_run"] == r["nonmonotone_in_batch"] == "False",
                "failed": r["suspect_failed_run"] == "True", "runs_out": any(
                    "out of memory" in w for w in p["warnings"]), "in_proportion": max(
                        ((b, m * batch / b) for b, m in ran[model].items() if b < batch), default=(0, 0.0))[1],
                "contradicted": any(b > batch and m < taken for b, m in ran[model].items())
            })
    return out


def smallest_perceptrons():
    """MiB that GPUMemNet's perceptrons of a few hundred parameters take beside the allocator's segments."""
    with gzip.open(SHARED / "data/memory/gpumemnet_mlp_step1.csv.gz", "rt", newline="") as f:
        rows = [float(r["Max GPU Memory (MiB)"]) for r in csv.DictReader(f) if int(r["Total Parameters"]) < 1000]
    return statistics.median(rows) - PERCEPTRON_MIB


def gib_above(row, mib):
    """Data of the searches that show at least so much beside the context."""
    return max((gib for seen, gib in row["searches"] if seen >= mib), default=0.0)


def fit_seen(rows, context):
    """Odds per GiB that a monitor sees a search: most likely, by which runs took FAR times what they need."""
    far = [(gib_above(r, FAR * (r["rest"] + context) - context), r["mib"] > FAR * (r["rest"] + context)) for r in rows]
    gib, hit = np.array([g for g, _ in far]), np.array([h for _, h in far])

    def likelihood(rate):
        seen = np.clip(1 - np.exp(-rate * gib), 1e-6, 1 - 1e-6)
        return np.log(np.where(hit, seen, 1 - seen)).sum()

    return float(max(np.geomspace(0.01, 1, 461), key=likelihood))


def shown(row, seen_per_gib, odds=SHOWN_ODDS):
    """MiB beside the context that a run exceeds with these odds."""
    return max(row["rest"], next((mib for mib, gib in row["searches"] if 1 - math.exp(-seen_per_gib * gib) >= odds),
                                 0.0))


def train_table(rows, every=1):
    clean = [r for r in rows if r["clean"]]
    families = sorted({r["family"] for r in clean})
    context = {f: statistics.median(r["mib"] - r["rest"] for r in clean if r["family"] != f) for f in families}
    rate = {f: fit_seen([r for r in clean if r["family"] != f], context[f]) for f in families}
    everywhere = fit_seen(clean, statistics.median(r["mib"] - r["rest"] for r in clean))

    def fake(rows):
        other = {f: statistics.median(r["mib"] - r["fake"] for r in clean if r["family"] != f) for f in families}
        return [(r["fake"] + other[r["family"]], r["mib"]) for r in rows]

    def need(rows):
        return [(r["rest"] + context[r["family"]], r["mib"]) for r in rows]

    def with_search(odds):
        return lambda rows: [(shown(r, rate[r["family"]], odds) + context[r["family"]], r["mib"]) for r in rows]

    def shipped(rows):
        return [(shown(r, SEEN_PER_GIB) + r["context"], r["mib"]) for r in rows]

    part = f" of one architecture in {every}" if every > 1 else ""
    lines = [
        "## Memory of training: GPUMemNet's timm rows", "",
        f"fp32, Adam, batches 8 to 128, a 40 GB-class GPU; clean rows{part}. Two constants come from the other "
        f"families: the context, and how",
        "often a monitor sees cuDNN's search for algorithms (below). The rest is computed; one size of workspaces, of "
        "four, was chosen on these rows.",
        "That perfc shows what one run in ten exceeds was decided with this table in sight. Baseline: PyTorch's "
        "FakeTensor estimate (the set's own",
        f"column) with a context found the same way. Context on all rows: "
        f"{statistics.median(r['mib'] - r['rest'] for r in clean):.0f} MiB; the set's smallest perceptrons, which do "
        f"not convolve, leave {smallest_perceptrons():.0f} MiB",
        f"beside their segments of {PERCEPTRON_MIB} MiB: both are the stack `{STACKS['train']}`.", "",
        "| predictor | runs | families | leave-family-out, MAPE | MAE, MiB | more than 20 % below the truth | 20 % "
        "above |",
        "|---|---|---|---|---|---|---|"
    ]
    for name, predicted, part in (("FakeTensor + context", fake, clean), ("perfc: what the run needs", need, clean),
                                  ("the same, rows that took no more than a larger batch did", need, [
                                      r for r in clean if not r["contradicted"]
                                  ]), ("perfc `--cudnn-benchmark`, if it showed what one run in two exceeds",
                                       with_search(0.5), clean), ("… one in five", with_search(0.2), clean),
                                  ("**perfc `--cudnn-benchmark`**: one in ten", with_search(SHOWN_ODDS), clean),
                                  (f"the same as it is shipped, `--stack {STACKS['train']}`", shipped, clean)):
        pairs = predicted(part)
        mape, mae, below = scores(pairs)
        above = sum(p > 1.2 * m for p, m in pairs) / len(pairs)
        lines.append(
            f"| {name} | {len(part)} | {len({r['family'] for r in part})} | {tables.percent(mape)} | {mae:.0f} | "
            f"{tables.percent(below)} % | {tables.percent(above)} % |"
        )
    most = [(max([r["rest"], *(mib for mib, _ in r["searches"])]) + context[r["family"]], r["mib"]) for r in clean]
    lines += [
        "",
        "What lies far below the truth took some GiB more than its neighbours, on one or two of five batches, as much "
        "as Fourier transforms take",
        "that cuDNN's autotuner tries on convolutions, 1×1 windows included: 2 · 8 bytes · P (P/2 + 1) · (C K + N (C "
        "+ K)) for images padded",
        "to P×P, or in tiles of P = 32 (2176, 4352 or 17080 MiB in a ResNet or Xception, whatever the batch). PyTorch "
        "gives them back after",
        "the search and tries only what there is room for, so no run fails for them; a monitor that looks now and "
        "then sees some. The mechanism was",
        "found on these rows, with no GPU at hand to watch it. Odds of a search at 1.2 times the need or more, "
        "constants from the other families, and how often one was seen:",
        "", "| predicted odds | runs | predicted | seen |", "|---|---|---|---|"
    ]
    far = []
    for r in clean:
        c = context[r["family"]]
        far.append((1 - math.exp(-rate[r["family"]] * gib_above(r,
                                                                FAR * (r["rest"] + c) - c)), r["mib"]
                    > FAR * (r["rest"] + c)))
    for low, high in ((0, 0), (0, 0.02), (0.02, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 1)):
        held = [(o, s) for o, s in far if (o == 0 if high == 0 else low < o <= high)]
        if held:
            name = f"{100 * low:g} to {100 * high:g} %" if high < 1 else f"above {100 * low:g} %"
            name = "0: no such search" if high == 0 else name
            lines.append(f"| {name} | {len(held)} | {sum(o for o, _ in held):.0f} | {sum(s for _, s in held)} |")
    lines += [
        "",
        f"{sum(m > FAR * p for p, m in most)} runs took {FAR:g} times the largest search or more. Odds per GiB of a "
        f"convolution's data: {everywhere:.3f} on all rows "
        f"({min(rate.values()):.3f} to {max(rate.values()):.3f} with families left out).", "",
        "What does fail is told by the need. A failed run counts if its network's largest batch that finished would "
        "not fit in proportion: the others",
        "failed of something else.", "", "| runs | | perfc: runs out of memory |", "|---|---|---|"
    ]
    finished, failed = ([r for r in rows if not r["failed"]], [
        r for r in rows if r["failed"] and r["in_proportion"] > GPUMEMNET_MIB
    ])
    lines += [
        f"| {name} | {len(part)} | {sum(r['runs_out'] for r in part)} |"
        for name, part in (("failed", failed), ("finished", finished))
    ]
    return lines, {"need": scores(need(clean)), "shown": scores(with_search(SHOWN_ODDS)(clean)), "rate": everywhere}


class Held:
    """Runs with the context that others told: MiB of context, of what the allocator reserves, of all as measured; how
    far up a search is expected; the group that was left out."""

    def __init__(self, rows):
        self.context, self.reserved, self.measured, self.search, self.group = (np.array(c) for c in zip(*rows))

    def inside(self, factor):
        """Which lie within the 90 % interval, as whitebox/memory/on_device.cpp makes it."""
        need = self.context + self.reserved

        def moved(context, reserved):
            return np.exp(np.hypot(np.log((self.context * context + self.reserved) / need),
                                   np.log((self.context + self.reserved * reserved) / need)))

        low, high = need / moved(1 / MEASURED_STACK, 1 / factor), need * moved(MEASURED_STACK, factor)
        self.width = np.maximum(high, self.search) / need
        return (self.measured >= low) & (self.measured <= np.maximum(high, self.search))


def held_mig(rows):
    out = []
    for name in fit_mig.SETS:
        part = [r for r in rows if r["set"] == name]
        for network in sorted({fit_mig.network(r["model"]) for r in part}):
            mine = [r for r in part if fit_mig.network(r["model"]) == network]
            constants = fit_context([r for r in part if fit_mig.network(r["model"]) != network])
            out += [(c, r["rest"], r["mib"], 0.0, f"{name} {network}")
                    for c, r in zip(context_terms(mine) @ constants, mine)]
    return Held(out)


def held_train(rows):
    clean = [r for r in rows if r["clean"]]
    out = []
    for family in sorted({r["family"] for r in clean}):
        others = [r for r in clean if r["family"] != family]
        context = statistics.median(r["mib"] - r["rest"] for r in others)
        rate = fit_seen(others, context)
        out += [(context, r["rest"], r["mib"], shown(r, rate, UPPER_ODDS) + context, family)
                for r in clean if r["family"] == family]
    return Held(out)


def reserved_factor(sets, left_out=None):
    """The smallest with which the sets' runs are covered in the mean, those of a group left out."""
    for factor in np.exp(np.arange(0.02, 1, 0.005)):
        if np.mean([s.inside(factor)[s.group != left_out].mean() for s in sets]) >= COVERED:
            return float(factor)
    raise ValueError("no factor covers them")


def interval_table(mig, train):
    """`mig`, `train`: rows of the two sets."""
    sets = {"MIGProfiler, inference": held_mig(mig), "GPUMemNet, training, `--cudnn-benchmark`": held_train(train)}
    factor = reserved_factor(sets.values())
    lines = [
        "## Intervals of memory", "",
        f"The context is uncertain by its stack's factor ({MEASURED_STACK:g} for these, which were measured), what the "
        f"allocator reserves by × {factor:.2f}: with it the runs of both sets lie within their interval, "
        f"{100 * COVERED:.0f} % in the mean,",
        "each network's context being told by the others. *Network left out*: that factor comes from other networks, "
        "too; *set left out*: from the other set alone. "
        f"In training the upper end is at least what one run in {1 / UPPER_ODDS:.0f} exceeds while cuDNN searches.", "",
        "| runs | | network left out | networks below 70 % | set left out | median width |", "|---|---|---|---|---|---|"
    ]
    result = {"factor": factor}
    for name, held in sets.items():
        others = [s for s in sets.values() if s is not held]
        groups = sorted(set(held.group))
        covered = np.zeros(len(held.group), bool)
        for g in groups:
            covered[held.group == g] = held.inside(reserved_factor(sets.values(), g))[held.group == g]
        low = [g for g in groups if (held.group == g).sum() >= 20 and covered[held.group == g].mean() < 0.7]
        other_set = held.inside(reserved_factor(others)).mean()
        held.inside(factor)
        lines.append(f"| {name} | {len(covered)} | {100 * covered.mean():.1f} % | {', '.join(low) or 'none'} | "
                     f"{100 * other_set:.1f} % | × {np.median(held.width):.2f} |")
        result[name] = float(covered.mean())
    shipped = [r["shipped"][0] <= r["mib"] <= r["shipped"][1] for r in train if r["clean"]]
    lines += ["", f"As it is shipped, `--stack {STACKS['train']}`: {100 * statistics.mean(shipped):.1f} % of "
              "GPUMemNet's runs. The stack of today was not measured: its factor is our choice."]
    return lines, result


def dippm_table(perfc, graphs):
    lines = [
        "## Memory on DIPPM's A100 points (test only)", "",
        "Measured on a whole A100-40GB with PyTorch's autograd on: `--task forward`, fp32. Nothing was fitted on them.",
        "", "| model | batch | measured, MB | perfc | error | profile by Eq. 2 | perfc |",
        "|---|---|---|---|---|---|---|"
    ]
    errors, right, covered = [], 0, 0
    for graph, batch, measured, profile in DIPPM:
        p = predict(perfc, [
            str(graphs / f"{graph}.json"), "--batch",
            str(batch), "--dtype", "fp32", "--task", "forward", "--device", "a100-40gb", "--stack", STACKS["dippm"]
        ])
        low, high = p["memory_mib_interval"]
        covered += low <= measured <= high
        errors.append(p["memory_mib"] / measured - 1)
        right += profile is not None and p["mig"]["dippm_profile"] == profile
        lines.append(
            f"| {graph} | {batch} | {measured} | {p['memory_mib']:.0f} | {100 * errors[-1]:+.1f} % | {profile or ''} | "
            f"{p['mig']['dippm_profile'] if profile else ''} |")
    lines += ["", f"{covered} of {len(DIPPM)} lie within their 90 % interval."]
    return lines, (errors, right)


def next_larger(batch):
    """What timm's benchmark.py tried before this batch: powers of two, and half-way between them."""
    power = 2 ** int(math.log2(batch))
    step = max(power // 2, 1)
    return batch + step if (batch - power) % step == 0 else None


def amp_table(perfc, graphs, every):
    with open(SHARED / "data/timm" / AMP_RUNS, newline="") as f:
        rows = [(graphs / f"{r['model'].split('.')[0]}_{r['train_img_size']}.json", int(r["train_batch_size"]))
                for r in csv.DictReader(f)]
    rows = [(path, batch) for path, batch in rows if path.exists() and batch < AMP_STARTS and next_larger(batch)]

    def runs_out(path, batch):
        p = predict(perfc, [str(path), "--batch", str(batch), "--dtype", "amp", "--task", "train", "--optimizer",
                            "momentum", "--device", AMP_DEVICE, "--stack", STACKS["amp"]])
        return None if p is None else any("out of memory" in w for w in p["warnings"])

    judged = [(runs_out(path, batch), runs_out(path, next_larger(batch))) for path, batch in rows[::AMP_SAMPLE * every]]
    judged = [j for j in judged if None not in j]
    ran, larger = zip(*judged)
    return [
        "## Memory of training under AMP: batches that fit (test only)", "",
        f"timm's training runs on an RTX 3090 (`{AMP_RUNS}`), SGD with momentum, `--stack {STACKS['amp']}`: the batch "
        "that ran, and the next larger that its script had tried before. Nothing was fitted on them; "
        f"one network in {AMP_SAMPLE * every}.", "",
        "| networks | runs at the batch that ran | runs out at the next larger | both |", "|---|---|---|---|",
        f"| {len(judged)} | {ran.count(False)} | {larger.count(True)} | {judged.count((False, True))} |"
    ], judged


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=pathlib.Path, required=True)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--part", choices=["mig", "train", "dippm", "amp", "interval"], help="only this section")
    p.add_argument("--every", type=int, default=1, help="train: every n-th architecture only")
    args = p.parse_args()
    script = "studies/fit_memory.py"
    with tempfile.TemporaryDirectory() as folder:
        mig, train = ([], [])
        if args.part in (None, "mig", "interval"):
            mig = mig_rows(args.perfc, args.graphs, pathlib.Path(folder))
        if args.part in (None, "train", "interval"):
            train = train_rows(args.perfc, args.graphs, args.every)
        if args.part in (None, "mig"):
            tables.write_section("memory-mig", script, mig_table(mig)[0])
        if args.part in (None, "dippm"):
            tables.write_section("memory-dippm", script, dippm_table(args.perfc, args.graphs)[0])
        if args.part in (None, "amp"):
            tables.write_section("memory-amp", script, amp_table(args.perfc, args.graphs, args.every)[0])
        if args.part in (None, "train"):
            tables.write_section("memory-train", script, train_table(train, args.every)[0])
        if args.part in (None, "interval"):
            tables.write_section("memory-interval", script, interval_table(mig, train)[0])


if __name__ == "__main__":
    main()
