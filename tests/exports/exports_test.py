#!/usr/bin/env python3
"""34 models as people export them from PyTorch today: each predicts, its five forms cost the same, its work is torch's.

usage: exports_test.py [PERFC] [--model PATTERN] [--folder DIR] [--verbose] [--update]

models.tar.xz holds the forms (make_exports.py): .pt2 static, with an open batch and after run_decompositions(),
TorchScript JSON, ONNX by the dynamo exporter. Held to:
- PREDICT of the files predict at batches 1 and 8 without another flag than those of OPTIONS;
- ALIKE of the pairs of forms of a model cost the same within 5 %, eagerly and compiled, at batch 8, batch-norms folded
  (the dynamo exporter folds them, so that its files are faster eagerly by their kernels);
- multiply-accumulates are those of torch's FlopCounter within 0.1 %;
- files that do not predict, or have other work, stand in explained.tsv with the reason, and no row there is idle.
The shares are what is reached, a floor; issue 22 asks for 97 % and 90 %. --verbose lists latencies and the pairs.
--update rewrites that table, new rows with the reason `?`, which the test refuses. --folder: files of make_exports.py
that are not packed yet.
"""
import argparse
import fnmatch
import itertools
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

EXPLAINED = HERE / "explained.tsv"
FORMS = ("static.pt2", "dynamic.pt2", "core_aten.pt2", "trace.json", "dynamo.onnx")
BATCHES = (1, 8)
COMPARED = 8            #: the batch at which forms are compared
MODES = ("eager", "compiled")
#: what a person says of a model's inputs: time-major ones have the batch in their second dim
OPTIONS = {"time_major_lstm": ["--batch-axis", "x=1"]}
PREDICT, ALIKE, WITHIN, MACS = 1.0, 0.76, 0.05, 1e-3
SETTINGS = [
    "--fold-batch-norm", "on", "--device", "a100-40gb", "--predictor", "whitebox", "--json", "--top", "0", "--quiet"
]


def predict(perfc, path, batch, mode, options):
    """(prediction, None) or (None, the first error)."""
    done = subprocess.run([perfc, str(path), "--batch", str(batch), "--mode", mode, *options, *SETTINGS],
                          capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line] or [f"exit {done.returncode}"]
        return None, errors[0].replace(str(path.parent) + "/", "")
    return json.loads(done.stdout)["predictions"][0], None


def measure(perfc, folder, name, about):
    """form → {"errors": […], "macs": {batch: …}, mode: ms}, for the forms that torch makes."""
    found = {}
    for form in FORMS:
        path = folder / f"{name}.{form}"
        if form in about["failed"]:
            continue
        row = found[form] = {"errors": [], "macs": {}}
        for batch, mode in itertools.product(BATCHES, MODES):
            prediction, error = predict(perfc, path, batch, mode, OPTIONS.get(name, []))
            if error:
                row["errors"].append(f"batch {batch}, {mode}: {error}")
                continue
            row["macs"][batch] = prediction["static"]["macs"]
            if batch == COMPARED:
                row[mode] = prediction["latency_ms"]
    return found


def differences(name, forms, about):
    """(model, what) → message of refused files and other MACs; the pairs that differ; how many pairs there are."""
    out, apart, pairs = {}, [], 0
    for form, row in forms.items():
        if row["errors"]:
            out[name, form] = row["errors"][0]
            continue
        for batch in BATCHES:
            expected = about["macs"][str(batch)]
            if abs(row["macs"][batch] - expected) > MACS * expected:
                out[name, form + " macs"] = f"batch {batch}: {row['macs'][batch]:.0f}, FlopCounter {expected}"
    for a, b in itertools.combinations(forms, 2):
        for mode in MODES:
            if mode not in forms[a] or mode not in forms[b]:
                continue
            pairs += 1
            ratio = forms[b][mode] / forms[a][mode]
            if abs(ratio - 1) > WITHIN:
                apart.append(f"{name}: {a}, {b}, {mode}: × {ratio:.3f}")
    return out, apart, pairs


def update(found):
    rows = {(model, what): why for model, what, why in support.read_table(EXPLAINED, 3)}
    head = [line for line in EXPLAINED.read_text().splitlines() if line.startswith(("#", "model\t"))]
    EXPLAINED.write_text("\n".join(head + ["\t".join([*key, rows.get(key, "?")]) for key in sorted(found)]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfc", nargs="?", default=str(support.PERFC))
    parser.add_argument("--model", default="*")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    found, apart, files, predicted, pairs = {}, [], 0, 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder
        if folder is None:
            folder = pathlib.Path(temporary)
            with tarfile.open(HERE / "models.tar.xz") as tar:
                tar.extractall(folder, filter="data")
            models = json.loads((folder / "models.json").read_text())
        else:
            models = {p.stem: json.loads(p.read_text()) for p in sorted(folder.glob("*.json")) if "." not in p.stem}
        models = {name: about for name, about in models.items() if fnmatch.fnmatch(name, args.model)}
        for name, about in models.items():
            forms = measure(args.perfc, folder, name, about)
            different, differ, more = differences(name, forms, about)
            apart, files, pairs = apart + differ, files + len(forms), pairs + more
            predicted += sum(not row["errors"] for row in forms.values())
            found |= different
            if args.verbose:
                for mode in MODES:
                    print(f"{name:34} {mode:9}", *(f"{form} {row[mode]:.4f}" if mode in row else f"{form} -"
                                                   for form, row in forms.items()))
    if args.verbose:
        print("\n".join(apart))
    alike = 1 - len(apart) / max(pairs, 1)
    print(f"{len(models)} models, {files} files: {predicted} predict at batches {BATCHES} ({predicted / files:.1%})")
    print(f"{pairs} pairs of forms: {pairs - len(apart)} within 5 % ({alike:.1%})")
    print(f"{sum(what.endswith(' macs') for _, what in found)} files with other MACs than FlopCounter's")
    if args.update:
        update(found)
        return 0
    rows = {(model, what): why for model, what, why in support.read_table(EXPLAINED, 3)}
    problems = [f"{model}: {what}: {found[model, what]}" for model, what in sorted(found)
                if rows.get((model, what), "?") == "?"]
    if args.model == "*":
        problems += [f"{model}: {what}: explained, but no longer so" for model, what in sorted(set(rows) - set(found))]
        if predicted < PREDICT * files:
            problems.append(f"only {100 * predicted / files:.1f} % of the files predict")
        if alike < ALIKE:
            problems.append(f"only {alike:.1%} of the pairs are within 5 %")
    print(f"{len(problems)} problems")
    for problem in problems:
        print("  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
