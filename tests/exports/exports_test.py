#!/usr/bin/env python3
"""34 models as people export them from PyTorch today: each predicts, its five forms cost the same, its work is torch's.

usage: exports_test.py [PERFC] [--model PATTERN] [--folder DIR] [--verbose] [--update]

models.tar.xz holds the forms (make_exports.py): .pt2 static, with an open batch and after run_decompositions(),
TorchScript JSON, ONNX by the dynamo exporter; transformers of 12 layers, or 6 and 6. Held to:
- PREDICT of the files predict at batches 1 and 8 without another flag than those of OPTIONS;
- ALIKE of the pairs of forms of a model cost the same within 5 %, eagerly and compiled, at batch 8, batch-norms folded
  (the dynamo exporter folds them, so that its files are faster eagerly by their kernels);
- of the other pairs each is one of a form that stands in apart.tsv: what the file truly lacks or has, and how much
  longer it takes than the static .pt2 for that, which still has to hold within RATIO;
- multiply-accumulates are those of torch's FlopCounter within 0.1 %;
- files that do not predict, or have other work, stand in explained.tsv with the reason, and no row of either table is
  idle.
The shares are what is reached, a floor. --verbose lists latencies and the pairs, and by operator how many kernels the
forms of apart.tsv have more or fewer than the static .pt2.
--update rewrites the tables, new rows with the reason `?`, which the test refuses. --folder: files of make_exports.py
that are not packed yet.
"""
import argparse
import collections
import csv
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

EXPLAINED, APART = HERE / "explained.tsv", HERE / "apart.tsv"
FORMS = ("static.pt2", "dynamic.pt2", "core_aten.pt2", "trace.json", "dynamo.onnx")
BATCHES = (1, 8)
COMPARED = 8            #: the batch at which forms are compared
MODES = ("eager", "compiled")
#: what a person says of a model's inputs: time-major ones have the batch in their second dim
OPTIONS = {"time_major_lstm": ["--batch-axis", "x=1"]}
PREDICT, ALIKE, WITHIN, RATIO, MACS = 1.0, 0.903, 0.05, 0.02, 1e-3
SETTINGS = [
    "--fold-batch-norm", "on", "--device", "a100-40gb", "--predictor", "whitebox", "--json", "--top", "0", "--quiet"
]


def predict(perfc, path, mode, options):
    """(batch → prediction, None) or (None, the first error)."""
    batches = ",".join(map(str, BATCHES))
    done = subprocess.run([perfc, str(path), "--batch", batches, "--mode", mode, *options, *SETTINGS],
                          capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line] or [f"exit {done.returncode}"]
        return None, errors[0].replace(str(path.parent) + "/", "")
    return dict(zip(BATCHES, json.loads(done.stdout)["predictions"], strict=True)), None


def measure(perfc, folder, name, about):
    """form → {"errors": […], "macs": {batch: …}, mode: ms}, for the forms that torch makes."""
    found = {}
    for form in FORMS:
        path = folder / f"{name}.{form}"
        if form in about["failed"]:
            continue
        row = found[form] = {"errors": [], "macs": {}}
        for mode in MODES:
            predictions, error = predict(perfc, path, mode, OPTIONS.get(name, []))
            if error:
                row["errors"].append(f"{mode}: {error}")
                continue
            row["macs"] = {batch: p["static"]["macs"] for batch, p in predictions.items()}
            row[mode] = predictions[COMPARED]["latency_ms"]
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
            if not alike(forms[a][mode], forms[b][mode]):
                apart.append((name, a, b, mode, forms[b][mode] / forms[a][mode]))
    return out, apart, pairs


def alike(a, b):
    return abs(b / a - 1) <= WITHIN


def same_work(forms, a, b):
    """False: other multiply-accumulates, which is differences()' to tell."""
    return alike(forms[a]["macs"][COMPARED], forms[b]["macs"][COMPARED])


def over_first(forms, form, mode):
    """Its latency over the static .pt2's."""
    return forms[form][mode] / forms[FORMS[0]][mode]


def unexplained(measured, apart, rows):
    """Pairs that no row explains; rows that no pair needs, or that say another ratio."""
    bare, idle, used = [], [], set()
    for name, a, b, mode, ratio in apart:
        forms = measured[name]
        if not same_work(forms, a, b):
            continue
        said = {form: rows.get((name, form, mode)) for form in (a, b)}
        used |= {(name, form, mode) for form, row in said.items() if row}
        left = [forms[form][mode] / float(row[0]) if row else forms[form][mode] for form, row in said.items()]
        if not alike(*left):
            bare.append(f"{name}: {a}, {b}, {mode}: × {ratio:.3f}")
    for (name, form, mode), (ratio, why) in sorted(rows.items()):
        if (name, form, mode) not in used:
            idle.append(f"{name}: {form}, {mode}: explained, but no longer apart")
            continue
        now = over_first(measured[name], form, mode)
        if abs(now - float(ratio)) > RATIO or why == "?":
            idle.append(f"{name}: {form}, {mode}: × {now:.3f} of the static .pt2, explained × {ratio} by {why}")
    return bare, idle


def kernels(perfc, path, mode, options):
    """operator → how many kernels do it."""
    done = subprocess.run([perfc, str(path), "--batch", str(COMPARED), "--mode", mode, "--emit", "kernels", *options,
                           *SETTINGS[:4]], capture_output=True, text=True, check=True)
    lines = (line for line in done.stdout.splitlines() if not line.startswith("#"))
    return collections.Counter(o for row in csv.DictReader(lines) for o in row["operators"].split())


def lacks(perfc, folder, name, form, mode):
    """"arange -5, take +1": what a form has more or fewer than the static .pt2."""
    options = OPTIONS.get(name, [])
    first, other = (kernels(perfc, folder / f"{name}.{f}", mode, options) for f in (FORMS[0], form))
    return ", ".join(f"{o} {other[o] - first[o]:+d}" for o in sorted(first | other) if other[o] != first[o])


def update_apart(measured, apart, rows):
    """Rows for the forms that most pairs are of, until no pair is left; known reasons stay."""
    left = [pair for pair in apart if same_work(measured[pair[0]], *pair[1:3])]
    made = {key: row for key, row in rows.items() if key[0] not in measured}
    while left:
        votes = collections.Counter((name, form, mode) for name, a, b, mode, _ in left for form in (a, b)
                                    if form != FORMS[0] and (name, form, mode) not in made)
        key = max(sorted(votes), key=lambda k: (votes[k], k in rows, FORMS.index(k[1])))
        made[key] = (f"{over_first(measured[key[0]], *key[1:]):.3f}", rows.get(key, ("", "?"))[1])
        left = [p for p in left if not alike(*(
            measured[p[0]][form][p[3]] / float(made.get((p[0], form, p[3]), (1,))[0]) for form in p[1:3]))]
    head = [line for line in APART.read_text().splitlines() if line.startswith(("#", "model\t"))]
    APART.write_text("\n".join(head + ["\t".join([*key, *made[key]]) for key in sorted(made)]) + "\n")


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
    found, apart, files, predicted, pairs, measured = {}, [], 0, 0, 0, {}
    of_table = {(m, form, mode): (ratio, why) for m, form, mode, ratio, why in support.read_table(APART, 5)}
    rows = {key: row for key, row in of_table.items() if fnmatch.fnmatch(key[0], args.model)}
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
            forms = measured[name] = measure(args.perfc, folder, name, about)
            different, differ, more = differences(name, forms, about)
            apart, files, pairs = apart + differ, files + len(forms), pairs + more
            predicted += sum(not row["errors"] for row in forms.values())
            found |= different
            if args.verbose:
                for mode in MODES:
                    print(f"{name:34} {mode:9}", *(f"{form} {row[mode]:.4f}" if mode in row else f"{form} -"
                                                   for form, row in forms.items()))
        if args.verbose:
            for name, a, b, mode, ratio in apart:
                print(f"{name}: {a}, {b}, {mode}: × {ratio:.3f}")
            for name, form, mode in sorted(rows):
                print(f"{name}: {form}, {mode}: {lacks(args.perfc, folder, name, form, mode)}")
    share = 1 - len(apart) / max(pairs, 1)
    bare, idle = unexplained(measured, apart, rows)
    problems = [pair + ", explained by nothing" for pair in bare] + idle
    print(f"{len(models)} models, {files} files: {predicted} predict at batches {BATCHES} ({predicted / files:.1%})")
    print(f"{pairs} pairs of forms: {pairs - len(apart)} within 5 % ({share:.1%}), "
          f"{len(apart) - len(bare)} of {len(apart)} others explained")
    print(f"{sum(what.endswith(' macs') for _, what in found)} files with other MACs than FlopCounter's")
    if args.update:
        update(found)
        update_apart(measured, apart, of_table)
        return 0
    rows = {(model, what): why for model, what, why in support.read_table(EXPLAINED, 3)}
    problems += [f"{model}: {what}: {found[model, what]}" for model, what in sorted(found)
                if rows.get((model, what), "?") == "?"]
    if args.model == "*":
        problems += [f"{model}: {what}: explained, but no longer so" for model, what in sorted(set(rows) - set(found))]
        if predicted < PREDICT * files:
            problems.append(f"only {100 * predicted / files:.1f} % of the files predict")
        if share < ALIKE:
            problems.append(f"only {share:.1%} of the pairs are within 5 %")
    print(f"{len(problems)} problems")
    for problem in problems:
        print("  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
