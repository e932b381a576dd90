#!/usr/bin/env python3
"""Every TensorFlow file of ../shared through the importer, held against tables.

usage: tf_test.py [--update]

Reads ../shared/corpus/{tf_text,tf_bin} and the TensorFlow models of ../shared/frameworks/models.tar.xz
(unpacked into build/frameworks). Files that do not import with all values typed must stand in
tf_explained.tsv with (a part of) their diagnostic and the reason; a row without its file, another diagnostic and a
reason "?" fail; no model of frameworks may stand there. Where ../shared/frameworks/MANIFEST.tsv and
TWINS.tsv give MACs and parameters, which were counted in TensorFlow, the prediction's must be equal to
the last digit.
"""
import ast
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import corpus_test  # noqa: E402
import dump  # noqa: E402
import support  # noqa: E402

EXPLAINED = HERE / "tf_explained.tsv"
HEAD = ["file", "diagnostic", "reason"]
MIN_TYPED = 0.95
FOLDERS = ("tf_text", "tf_frozen", "tf_bin")
MIN_EQUAL = 60
# Constants that a frozen graph holds beside its weights, which it does not tell apart: mean and
# deviation of the input.
FROZEN_TABLES = {"convnext_tiny": 6}


def batch_of(shapes: str) -> int:
    """Leading extent of the first input; open ones are predicted at 1."""
    if not shapes.startswith("["):
        return 1
    first = ast.literal_eval(shapes)[0]
    first = first[0] if isinstance(first[0], tuple) else first
    return first[0] or 1


def manifest(path: pathlib.Path) -> list[dict[str, str]]:
    """Rows of a table by column; files as they are called once unpacked."""
    head, *lines = [line.split("\t") for line in path.read_text().splitlines()]
    rows = [dict(zip(head, line)) for line in lines]
    for row in rows:
        if "file" in row:
            row["file"] = row["file"].removesuffix(".xz")
    return rows


def check_counts(unpacked: pathlib.Path, frameworks: pathlib.Path) -> tuple[list[str], int, int]:
    """MACs of every model, and MACs and parameters of those in TWINS.tsv; problems, and what was equal."""
    twins = {
        row["model"]: row for row in manifest(frameworks / "TWINS.tsv") if row["framework"].startswith("tensorflow")
    }
    problems, equal, equal_twins, seen = [], 0, 0, set()
    for row in manifest(frameworks / "MANIFEST.tsv"):
        name, twin = row["file"], twins.get(row["model"])
        if name.split("/")[0] not in FOLDERS or not row["macs"]:
            continue
        batch = batch_of(row["input_shapes"])
        # MACs in the tables are of one sample.
        run = subprocess.run([support.PERFC, "predict", "--json", "--batch",
                              str(batch), unpacked / name], capture_output=True, text=True)
        if run.returncode:
            problems.append(f"{name}: {run.stderr.strip().splitlines()[0] if run.stderr.strip() else run.returncode}")
            continue
        static = json.loads(run.stdout)["predictions"][0]["static"]
        macs = int(twin["macs"] if twin else row["macs"]) * batch
        if static["macs"] != macs:
            problems.append(f"{name}: {static['macs']:.0f} MACs, TensorFlow counts {macs}")
            continue
        equal += 1
        if not twin:
            continue
        wanted = int(twin["params_all"]) + (FROZEN_TABLES.get(row["model"], 0) if "frozen" in name else 0)
        if static["params"] != wanted:
            problems.append(f"{name}: {static['params']:.0f} parameters, TensorFlow counts {wanted}")
        else:
            equal_twins += 1
            seen.add(row["model"])
    problems += [
        f"{model}: a row of TWINS.tsv, but no export of it has its counts" for model in sorted(twins.keys() - seen)
    ]
    return problems, equal, equal_twins


def main() -> int:
    corpus = support.shared("corpus")
    frameworks = support.shared("frameworks")
    unpacked = support.unpack_frameworks()
    files = {str(p): f"{folder}/{p.relative_to(corpus / folder)}" for folder in ("tf_text", "tf_bin")
             for p in sorted((corpus / folder).rglob("*")) if p.suffix in (".pb", ".pbtxt", ".txt")}
    files |= {str(p): f"frameworks/{p.relative_to(unpacked)}" for folder in FOLDERS
              for p in sorted((unpacked / folder).rglob("*")) if p.suffix in (".pb", ".pbtxt")}
    results = {files[r["file"]]: corpus_test.flaw(r) for r in dump.run(list(files))}
    known = {row[0]: row for row in support.read_table(EXPLAINED, len(HEAD))} if EXPLAINED.exists() else {}
    problems = []
    for name, flaw in sorted(results.items()):
        row = known.get(name)
        if flaw and (not row or row[1] not in flaw):
            problems.append(f"{name}: {flaw}" + (f"\n    the table says: {row[1]}" if row else ""))
        if row and not flaw:
            problems.append(f"{name}: imports, but is in {EXPLAINED.name}")
        if row and row[2] == "?":
            problems.append(f"{name}: no reason given")
    problems += [f"{name}: in {EXPLAINED.name}, but not there" for name in sorted(known.keys() - results.keys())]
    if "--update" in sys.argv[1:]:
        rows = [
            [n, f, "?"] if n not in known or known[n][1] not in f else known[n] for n, f in sorted(results.items()) if f
        ]
        EXPLAINED.write_text("\n".join("\t".join(r) for r in [HEAD, *rows]) + "\n")
    count_problems, equal, twins = check_counts(unpacked, frameworks)
    problems += count_problems
    problems += [
        f"{name}: the models of frameworks must all import" for name in known if name.startswith("frameworks/")
    ]
    typed = sum(not f for f in results.values())
    print(f"TensorFlow: {corpus_test.percent(typed, len(results))} import with all values typed; "
          f"MACs equal TensorFlow's own count in {equal} models, parameters in {twins} exports of the twins")
    if equal < MIN_EQUAL:
        problems.append(f"MACs were compared for {equal} models only, not {MIN_EQUAL}")
    if typed < MIN_TYPED * len(results):
        problems.append(f"fewer than {MIN_TYPED:.0%} import")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
