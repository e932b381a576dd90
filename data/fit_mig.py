"""Fits the A100's constants on MIGProfiler's runs (../shared/data/mig/migprofiler.csv) and says how well.

    python3 data/fit_mig.py --graphs DIR [--perfc build/release/perfc] [--rounds 3]

The 40 GB and the 80 GB set ran on different hosts with different software, so each
fits its own entry of data/devices.json: shares of peak and host time per operator
(memory: data/fit_memory.py). Errors are given in sample and leave-model-out: the
constants come from the other models of the set. Writes data/calibration_mig.md; the constants go into data/devices.json by hand.

The launch overhead stays the default: on one slice it cannot be told from host time. The
40 GB set computed in TF32; the 80 GB set convolved in TF32 and multiplied in fp32
(../shared/findings.md). DIR holds ../shared/graphs/timm_torchscript.tar.xz unpacked.
"""
import argparse
import collections
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bert_pir  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
BERTS = {  # layers, hidden, heads, ffn, vocabulary (the models' Hugging Face configurations)
    "bert-base": (12, 768, 12, 3072, 30522),
    "bert-base-multilingual-cased": (12, 768, 12, 3072, 119547),
    "distiluse-base-multilingual-cased-v1": (6, 768, 12, 3072, 119547),
    "distiluse-base-multilingual-cased-v2": (6, 768, 12, 3072, 119547),
    "paraphrase-multilingual-MiniLM-L12-v2": (12, 384, 12, 1536, 250037),
    "paraphrase-multilingual-mpnet-base-v2": (12, 768, 12, 3072, 250002),
}
VISION = {"resnet50": ("resnet50_224.json", "tf32"), "vision_transformer": ("vit_base_patch16_224_224.json", "fp32")}
SETS = {"A100-40g": "a100-40gb", "A100-80g": "a100-80gb"}
SLICE_GB = {"5": "1g.5gb", "10": "2g.10gb", "20": "3g.20gb", "40": "7g.40gb"}
SMS = {"1": 14, "2": 28, "3": 42, "4": 56, "7": 98}
STEPS = {"host_us_eager": 1.3, "matmul": 1.15, "convolution": 1.15, "bandwidth": 1.15}


def runs(graphs, folder):
    """Measured rows, each with the command line that predicts it."""
    with open(ROOT.parent / "shared/data/mig/migprofiler.csv") as f:
        rows = [r for r in csv.DictReader(f) if r["task"] == "infer"]
    out = []
    for r in rows:
        batch, tokens = int(r["batch_size"]), int(r["seq_length"] or 0)
        if r["gpu"] == "A100-80g" and r["model"] == "bert-base" and tokens in (256, 512):
            continue  # anomalous runs, ../shared/findings.md
        if r["model"] in BERTS:
            layers, hidden, heads, ffn, words = BERTS[r["model"]]
            path = folder / f"{r['model']}-{batch}-{tokens}.pir"
            if not path.exists():
                path.write_text(bert_pir.encoder(batch, tokens, hidden, layers, heads, ffn, words))
            command = [str(path), "--dtype", "tf32" if r["gpu"] == "A100-40g" else "fp32"]
        else:
            file, dtype = VISION[r["model"]]
            command = [str(graphs / file), "--batch", str(batch), "--dtype", dtype]
        out.append({"set": r["gpu"], "model": r["model"], "device": f"{SETS[r['gpu']]}:{SLICE_GB.get(r['mig'], r['mig'])}",
                    "command": command, "ms": float(r["latency_ms"]), "mib": float(r["fb_used_mean_mib"] or 0)})
    return out


class Predictor:
    def __init__(self, perfc):
        self.perfc = perfc
        self.table = json.loads(subprocess.check_output([perfc, "devices", *SETS.values(), "--json"]))

    def __call__(self, rows, constants):
        """Latency in ms per row, all slices of one command in one call."""
        for d in self.table["devices"]:
            for key, value in constants.items():
                (d["efficiency"] if key in d["efficiency"] else d)[key] = value
        by_command = collections.defaultdict(list)
        for i, r in enumerate(rows):
            by_command[tuple(r["command"])].append(i)
        out = [None] * len(rows)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(self.table, f)
            f.flush()
            for command, members in by_command.items():
                devices = [x for i in members for x in ("--device", rows[i]["device"])]
                done = subprocess.run([self.perfc, *command, *devices, "--device-file", f.name, "--json", "--top", "0"],
                                      capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"{command}: {done.stderr}")
                for i, p in zip(members, json.loads(done.stdout)["predictions"]):
                    out[i] = p["latency_ms"]
        return out


def mape(pairs):
    return 100 * sum(abs(p / m - 1) for p, m in pairs) / len(pairs)


def fit(predict, rows, start, rounds):
    constants = dict(start)

    def loss(c):
        return mape([(p, r["ms"]) for p, r in zip(predict(rows, c), rows)])

    best = loss(constants)
    for n in range(rounds):
        for key, step in STEPS.items():
            for factor in (step ** (0.5 ** n), step ** -(0.5 ** n)):
                while True:
                    trial = dict(constants, **{key: round(constants[key] * factor, 4)})
                    value = loss(trial)
                    if value >= best - 0.005 or trial[key] > 1 and key in ("matmul", "convolution", "bandwidth"):
                        break
                    best, constants = value, trial
    return constants


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=pathlib.Path, required=True)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--rounds", type=int, default=3)
    args = p.parse_args()
    predict = Predictor(args.perfc)
    lines = ["# Calibration of the A100 on MIG slices", "",
             "Written by `data/fit_mig.py`; labels: MIGProfiler (MIT). Latency, MAPE in %.", "",
             "| set | model | runs | in sample | leave-model-out | median ratio |",
             "|---|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        all_rows = runs(args.graphs, pathlib.Path(folder))
        for name, device in SETS.items():
            rows = [r for r in all_rows if r["set"] == name]
            base = next(d for d in predict.table["devices"] if d["name"] == device)
            start = {k: base["efficiency"].get(k, base.get(k)) for k in STEPS}
            whole = fit(predict, rows, start, args.rounds)
            inside = predict(rows, whole)
            shown = {k: round(float(v), 3) for k, v in whole.items()}
            print(name, shown, "MAPE", round(mape([(p, r["ms"]) for p, r in zip(inside, rows)]), 2), file=sys.stderr)
            lines.append(f"| {name} | constants `{json.dumps(shown)}` | | | | |")
            for model in sorted({r["model"] for r in rows}):
                members = [i for i, r in enumerate(rows) if r["model"] == model]
                # v1 and v2 of a model are one network.
                others = [r for r in rows if r["model"].removesuffix("-v1").removesuffix("-v2") != model.removesuffix("-v1").removesuffix("-v2")]
                out = predict([rows[i] for i in members], fit(predict, others, whole, args.rounds))
                lines.append("| {} | {} | {} | {:.1f} | {:.1f} | {:.2f} |".format(
                    name, model, len(members), mape([(inside[i], rows[i]["ms"]) for i in members]),
                    mape([(p, rows[i]["ms"]) for i, p in zip(members, out)]), statistics.median(p / rows[i]["ms"] for i, p in zip(members, out))))
    (ROOT / "data/calibration_mig.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
