#!/usr/bin/env python3
"""Every PaddlePaddle file of ../shared through the importer, held against tables.

usage: paddle_test.py [--update]

Reads ../shared/corpus/paddle and the Paddle models of ../shared/frameworks/models.tar.xz (unpacked into
build/frameworks). Files that do not import with all values typed must stand in paddle_explained.tsv
with their diagnostic and the reason; a row without its file, another diagnostic and a reason "?" fail.
Multiply-accumulates and parameters must equal, to the last digit, what ../shared/frameworks/TWINS.tsv and
MANIFEST.tsv hold, which were counted in PaddlePaddle; both formats of a model must predict the same, and
eight samples must take eight times the work of one.
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

EXPLAINED = HERE / "paddle_explained.tsv"
HEAD = ["file", "diagnostic", "reason"]
MIN_TYPED = 0.95
PREDICT = [support.PERFC, "predict", "--json", "--batch"]


def table(path: pathlib.Path) -> list[dict[str, str]]:
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    return [dict(zip(lines[0], row + [""] * len(lines[0]))) for row in lines[1:]]


def predict(path: pathlib.Path, batch: int) -> dict | str:
    """The prediction, or the first line of what went wrong."""
    run = subprocess.run([*PREDICT, str(batch), path], capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip().splitlines()[0] if run.stderr.strip() else f"exit code {run.returncode}"
    return json.loads(run.stdout)["predictions"][0]


def wanted_counts(frameworks: pathlib.Path) -> dict[str, tuple[int | None, int]]:
    """MACs (of one sample, where they were counted) and parameters by file; TWINS.tsv must agree with MANIFEST.tsv."""
    twins = {row["model"]: row for row in table(frameworks / "TWINS.tsv") if row["framework"].startswith("paddle")}
    out = {}
    for row in table(frameworks / "MANIFEST.tsv"):
        if not row["file"].startswith("paddle/"):
            continue
        macs, params = int(row["macs"]) if row["macs"] else None, int(row["params"])
        twin = twins.get(row["model"])
        assert not twin or (macs, params) == (int(twin["macs"]), int(twin["params_all"])), row["file"]
        out[row["file"].removeprefix("paddle/")] = (macs, params)
    return out


def check_counts(unpacked: pathlib.Path, frameworks: pathlib.Path) -> tuple[list[str], int]:
    problems, equal = [], 0
    batches = {row["file"].removeprefix("paddle/"): max(ast.literal_eval(row["input_shapes"])[0][0], 1)
               for row in table(frameworks / "MANIFEST.tsv") if row["file"].startswith("paddle/")}
    latency: dict[str, float] = {}
    for name, (macs, params) in sorted(wanted_counts(frameworks).items()):
        batch = batches[name]
        found, eightfold = predict(unpacked / name, batch), predict(unpacked / name, 8 * batch)
        if isinstance(found, str) or isinstance(eightfold, str):
            problems.append(f"{name}: {found if isinstance(found, str) else eightfold}")
            continue
        static, before = found["static"], len(problems)
        if macs is not None and static["macs"] != macs * batch:
            problems.append(f"{name}: {static['macs']:.0f} MACs, PaddlePaddle counts {macs * batch}")
        if static["params"] != params:
            problems.append(f"{name}: {static['params']:.0f} parameters, PaddlePaddle counts {params}")
        if eightfold["static"]["macs"] != 8 * static["macs"]:
            problems.append(
                f"{name}: {eightfold['static']['macs']:.0f} MACs at eight times the batch, {static['macs']:.0f} at once"
            )
        model = name.split(".")[0]
        if latency.setdefault(model, found["latency_ms"]) != found["latency_ms"]:
            problems.append(f"{name}: {found['latency_ms']} ms, another file of the same model {latency[model]} ms")
        equal += len(problems) == before
    return problems, equal


def main() -> int:
    corpus = support.shared("corpus") / "paddle"
    frameworks = support.shared("frameworks")
    unpacked = support.unpack_frameworks() / "paddle"
    files = {str(p): f"corpus/{p.relative_to(corpus)}" for p in sorted(corpus.rglob("*")) if p.is_file()}
    files |= {str(p): f"frameworks/{p.name}" for p in sorted(unpacked.iterdir()) if p.suffix in (".pdmodel", ".json")}
    results = {files[r["file"]]: corpus_test.flaw(r) for r in dump.run(list(files))}
    known = {row[0]: row for row in support.read_table(EXPLAINED, len(HEAD))}
    problems = []
    for name, flaw in sorted(results.items()):
        row = known.get(name)
        if flaw and (not row or row[1] != flaw):
            problems.append(f"{name}: {flaw}" + (f"\n    the table says: {row[1]}" if row else ""))
        if row and not flaw:
            problems.append(f"{name}: imports, but is in {EXPLAINED.name}")
        if row and row[2] == "?":
            problems.append(f"{name}: no reason given")
    problems += [f"{name}: in {EXPLAINED.name}, but not there" for name in sorted(known.keys() - results.keys())]
    if "--update" in sys.argv[1:]:
        rows = [[n, f, known[n][2] if n in known and known[n][1] == f else "?"] for n, f in sorted(results.items()) if f
               ]
        EXPLAINED.write_text("\n".join("\t".join(r) for r in [HEAD, *rows]) + "\n")
    count_problems, equal = check_counts(unpacked, frameworks)
    problems += count_problems
    typed = sum(not f for f in results.values())
    print(f"PaddlePaddle: {corpus_test.percent(typed, len(results))} import with all values typed; "
          f"MACs and parameters equal PaddlePaddle's own count in {equal} models")
    if typed < MIN_TYPED * len(results):
        problems.append(f"fewer than {MIN_TYPED:.0%} import")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
