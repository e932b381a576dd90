"""Context constants of perfc's memory model, and how well it does; writes sections of docs/accuracy.md.

    python3 data/fit_memory.py --graphs DIR [--perfc build/release/perfc] [--part mig|train|dippm] [--every 1]

What the allocator reserves is computed (features/memory.cpp), nothing of it is fitted. Fitted is what lies
outside: the CUDA context of a software stack, per SM of a slice, and what cuDNN loads, one constant each.

mig    MIGProfiler's framebuffer (MIT), leave-model-out. ViT ran before PyTorch had fused attention: its
       attention is written out. Constants go into data/devices.json by hand.
train  GPUMemNet's timm rows (CC-BY-4.0; clean ones), one training step with Adam, leave-family-out: the context
       comes from the other families. Nothing of this is shipped. Of several image sizes of an architecture the one is
       taken where the set's own FakeTensor column, which is no target, has its usual ratio to our activations.
dippm  The A100 points of DIPPM's paper with the shipped constants: test only.

DIR holds ../shared/graphs/timm_torchscript.tar.xz unpacked.
"""
import argparse
import collections
import csv
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
DIPPM = [  # graph, batch, MB, profile by Eq. 2 (../shared/formats/dippm.md, Table 4 and Table 5)
    ("densenet121_224", 8, 3272, "1g.5gb"), ("densenet121_224", 32, 6294, "2g.10gb"),
    ("swin_base_patch4_window7_224_224", 2, 2944, "1g.5gb"), ("swin_base_patch4_window7_224_224", 16, 6156, "2g.10gb"),
    # Its 1652 MB contradicts its shares: 61 % of 5 GB, 31 % of 10 GB, 16 % of 20 GB.
    ("convnext_base_224", 4, 3100, "1g.5gb"), ("convnext_base_224", 128, 30996, "7g.40gb"),
    ("efficientnet_b0_224", 32, 4772, None)]


def predict(perfc, arguments):
    """The one prediction of a call; None where perfc refuses the model."""
    done = subprocess.run([perfc, *arguments, "--predictor", "whitebox", "--opaque", "warn", "--json", "--top", "0"], capture_output=True, text=True)
    return json.loads(done.stdout)["predictions"][0] if done.returncode == 0 else None


def beside_context(prediction):
    parts = prediction["memory_breakdown_mib"]
    return sum(parts.values()) - parts["context"]


def scores(pairs):
    """MAPE, MAE, share more than 20 % below."""
    errors = [p / m - 1 for p, m in pairs]
    return statistics.mean(map(abs, errors)), statistics.mean(abs(p - m) for p, m in pairs), sum(e < -0.2 for e in errors) / len(errors)


def mig_rows(perfc, graphs, folder):
    rows = fit_mig.runs(graphs, folder)
    known = {}
    for r in rows:
        command = [a if "vit_" not in a else str(fit_mig.written_out(perfc, pathlib.Path(a), folder)) for a in r["command"]]
        key = tuple(command)
        if key not in known:
            known[key] = beside_context(predict(perfc, [*command, "--device", "a100-80gb"]))
        r["rest"], r["sms"] = known[key], fit_mig.SMS[r["device"].split(":")[1][0]]
        r["convolves"] = float(r["model"] in fit_mig.VISION)
    return rows


def context_terms(rows):
    return np.array([[1, r["sms"], r["convolves"]] for r in rows])


def fit_context(rows):
    """context_mib, context_mib_per_sm, convolution_mib: least relative squares. Where all models convolve
    the last is part of the first."""
    x, y = context_terms(rows), np.array([r["mib"] for r in rows])
    rest = np.array([r["rest"] for r in rows])
    used = [0, 1] + ([2] if 0 < x[:, 2].mean() < 1 else [])
    out = np.zeros(3)
    out[used] = np.linalg.lstsq(x[:, used] / y[:, None], (y - rest) / y, rcond=None)[0]
    return out


def with_context(constants, rows):
    return [(float(c + r["rest"]), r["mib"]) for c, r in zip(context_terms(rows) @ constants, rows)]


def mig_table(rows):
    lines = ["## Memory of inference: MIGProfiler's framebuffer", "",
             "A100 slices, fp32/TF32, PyTorch 1.x. The allocator's part is computed; leave-model-out: the context's constants come",
             "from the set's other models. The model before, a factor on live activations, had 5.8 (../shared/findings.md).", "",
             "| set | model | runs | in sample, MAPE | leave-model-out, MAPE | MAE, MiB |", "|---|---|---|---|---|---|"]
    held = []
    for name in fit_mig.SETS:
        part = [r for r in rows if r["set"] == name]
        whole = fit_context(part)
        for model in sorted({r["model"] for r in part}):
            members = [r for r in part if r["model"] == model]
            out = with_context(fit_context([r for r in part if fit_mig.network(r["model"]) != fit_mig.network(model)]), members)
            held += out
            lines.append(f"| {name} | {model} | {len(members)} | {tables.percent(scores(with_context(whole, members))[0])} | "
                         f"{tables.percent(scores(out)[0])} | {scores(out)[1]:.0f} |")
        lines.append(f"| {name} | constants | | `{json.dumps(dict(zip(('context_mib', 'context_mib_per_sm', 'convolution_mib'), [round(float(v), 2) for v in whole])))}` | | |")
    mape, mae, _ = scores(held)
    lines.append(f"| all | | {len(held)} | | **{tables.percent(mape)}** | **{mae:.0f}** |")
    return lines, (mape, mae)


def usual_ratio(found):
    """Of FakeTensor's estimate to ours, where only one image size is known: which size ran is told by what is nearest to it."""
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
        return predict(perfc, [str(path), "--batch", run["batch_size"], "--dtype", "fp32", "--task", "train", "--device", GPUMEMNET])

    ran = {m: {int(r["batch_size"]): float(r["max_gpu_memory_mib"]) for r in rows if r["suspect_failed_run"] == "False"} for m, rows in by_model.items()}
    found = collections.defaultdict(list)
    for model, rows in by_model.items():
        largest = max(rows, key=lambda r: (r["suspect_failed_run"] == "False", int(r["batch_size"])))
        for path in sizes[model]:
            if p := step(path, largest):
                parts = p["memory_breakdown_mib"]
                found[model].append((float(largest["faketensor_after_forward_mb"]) / (parts["weights"] + parts["activations"]), path))
    usual, out = usual_ratio(found), []
    for model, ratios in found.items():
        _, path = min(ratios, key=lambda r: abs(math.log(r[0] / usual)))
        for r in by_model[model]:
            batch, taken, p = int(r["batch_size"]), float(r["max_gpu_memory_mib"]), step(path, r)
            out.append({"family": families.get(model, "-"), "mib": taken, "rest": beside_context(p), "fake": float(r["faketensor_last_mb"]),
                        "clean": r["suspect_failed_run"] == r["nonmonotone_in_batch"] == "False", "failed": r["suspect_failed_run"] == "True",
                        "runs_out": any("out of memory" in w for w in p["warnings"]),
                        "in_proportion": max(((b, m * batch / b) for b, m in ran[model].items() if b < batch), default=(0, 0.0))[1],
                        "contradicted": any(b > batch and m < taken for b, m in ran[model].items())})
    return out


def train_table(rows, every=1):
    def held_out(key, rows):
        pairs = []
        for family in sorted({r["family"] for r in rows}):
            context = statistics.median(r["mib"] - r[key] for r in rows if r["family"] != family)
            pairs += [(r[key] + context, r["mib"]) for r in rows if r["family"] == family]
        return scores(pairs)

    part = f" of one architecture in {every}" if every > 1 else ""
    clean = [r for r in rows if r["clean"]]
    lines = ["## Memory of training: GPUMemNet's timm rows", "",
             f"fp32, Adam, batches 8 to 128, a 40 GB-class GPU; clean rows{part}. One constant, the context, from the other families;",
             "the rest is computed; one size of workspaces, of four, was chosen on these rows. Baseline: PyTorch's FakeTensor estimate (the set's own column) with a context found the same way.", "",
             "| predictor | runs | families | leave-family-out, MAPE | MAE, MiB | more than 20 % below the truth |", "|---|---|---|---|---|---|"]
    for name, key, part in (("FakeTensor + context", "fake", clean), ("**perfc**", "rest", clean),
                            ("perfc, rows that took no more than a larger batch did", "rest", [r for r in clean if not r["contradicted"]])):
        mape, mae, below = held_out(key, part)
        lines.append(f"| {name} | {len(part)} | {len({r['family'] for r in part})} | {tables.percent(mape)} | {mae:.0f} | {tables.percent(below)} % |")
    finished, failed = ([r for r in rows if not r["failed"]], [r for r in rows if r["failed"] and r["in_proportion"] > GPUMEMNET_MIB])
    lines += ["", "What lies far below took some GiB more than its neighbours, on one or two of five batches: PyTorch lets cuDNN's autotuner have as",
              "large a workspace as there is room for, and the fastest kernel of a run keeps it. No size of the model predicts that, and a run does not",
              "fail for it. What does fail is told. A failed run counts if its network's largest batch that finished would not fit in proportion: the others",
              "failed of something else.", "",
              "| runs | | perfc: runs out of memory |", "|---|---|---|"]
    lines += [f"| {name} | {len(part)} | {sum(r['runs_out'] for r in part)} |" for name, part in (("failed", failed), ("finished", finished))]
    return lines, held_out("rest", clean)


def dippm_table(perfc, graphs):
    lines = ["## Memory on DIPPM's A100 points (test only)", "",
             "Measured on a whole A100-40GB with PyTorch's autograd on: `--task forward`, fp32. Nothing was fitted on them.", "",
             "| model | batch | measured, MB | perfc | error | profile by Eq. 2 | perfc |", "|---|---|---|---|---|---|---|"]
    errors, right = [], 0
    for graph, batch, measured, profile in DIPPM:
        p = predict(perfc, [str(graphs / f"{graph}.json"), "--batch", str(batch), "--dtype", "fp32", "--task", "forward", "--device", "a100-40gb"])
        errors.append(p["memory_mib"] / measured - 1)
        right += profile is not None and p["mig"]["dippm_profile"] == profile
        lines.append(f"| {graph} | {batch} | {measured} | {p['memory_mib']:.0f} | {100 * errors[-1]:+.1f} % | {profile or ''} | "
                     f"{p['mig']['dippm_profile'] if profile else ''} |")
    return lines, (errors, right)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=pathlib.Path, required=True)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--part", choices=["mig", "train", "dippm"], help="only this section")
    p.add_argument("--every", type=int, default=1, help="train: every n-th architecture only")
    args = p.parse_args()
    script = "data/fit_memory.py"
    with tempfile.TemporaryDirectory() as folder:
        if args.part in (None, "mig"):
            tables.write_section("memory-mig", script, mig_table(mig_rows(args.perfc, args.graphs, pathlib.Path(folder)))[0])
        if args.part in (None, "dippm"):
            tables.write_section("memory-dippm", script, dippm_table(args.perfc, args.graphs)[0])
        if args.part in (None, "train"):
            tables.write_section("memory-train", script, train_table(train_rows(args.perfc, args.graphs, args.every), args.every)[0])


if __name__ == "__main__":
    main()
