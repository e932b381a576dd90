#!/usr/bin/env python3
"""--batch 32 on every single-input vision model of the corpus, whatever batch the file has.

A vision model here: one static input of rank 4 and at least one multiply-accumulate.
Every output must lead with 32, and the MACs of every operator that depends on the
input grow by exactly the factor (perfc_import_dump --rebatch lists where not). timm_test.py
checks the same of whole architectures.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import dump  # noqa: E402
from corpus_test import files_and_root  # noqa: E402

BATCH = 32
MIN_MODELS = 50    # 53 today; fewer means that the choice is broken
IMAGE = re.compile(r"Tensor\[\(\d+, \d+, \d+, \d+\), \w+\]")


def is_vision(result) -> bool:
    return (result["status"] == "ok" and len(result["params"]) == 1 and result["macs"] > 0
            and all(IMAGE.fullmatch(t) for t in result["params"].values()))


def flaws(rebatch) -> list[str]:
    if rebatch["status"] != "ok":
        return [f"{rebatch['status']}: {rebatch.get('messages')}"]
    return [*rebatch["wrong"], *(f"output {r}" for r in rebatch["results"] if not r.startswith(f"Tensor[({BATCH}"))]


def main() -> int:
    files, _ = files_and_root()
    models = [r for r in dump.run(files, "--rebatch", str(BATCH)) if is_vision(r)]
    problems = [f"{r['file']}: {flaw}" for r in models for flaw in flaws(r["rebatch"])]
    if len(models) < MIN_MODELS:
        problems.append(f"only {len(models)} vision models found, at least {MIN_MODELS} expected")
    print(f"{len(models)} vision models at batch {BATCH}; {len(problems)} problems")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
