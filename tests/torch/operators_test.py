#!/usr/bin/env python3
"""Traces of about one program per ATen operator, recorded with torch (make_operators.py):
each imports without a warning, so perfc's shapes and types are those torch recorded."""
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "corpus"), str(HERE.parent)]
import dump  # noqa: E402

MIN_PROGRAMS = 500


def main() -> int:
    programs = [json.loads(line) for line in (HERE / "operators.jsonl").read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for p in programs:
            files.append(str(pathlib.Path(folder, p["model"] + ".json")))
            pathlib.Path(files[-1]).write_text(json.dumps(p))
        results = dump.run(files)
    problems = []
    for program, result in zip(programs, results):
        found = result["errors"] + result["warnings"] + result.get("verify", [])
        if result["status"] != "ok":
            found = found or [result["status"]]
        elif result["opaque"]:
            found.append(f"opaque: {result['opaque']}")
        problems += [f"{program['model']}: {re.sub('^.*/', '', f)}" for f in found]
    operators = {n["op"] for p in programs for n in p["nodes"]}
    print(f"{len(programs)} programs, {len(operators)} operators, {len(problems)} problems")
    if len(programs) < MIN_PROGRAMS:
        problems.append(f"fewer than {MIN_PROGRAMS} programs")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
