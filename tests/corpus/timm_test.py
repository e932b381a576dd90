#!/usr/bin/env python3
"""timm architectures without weights: types, MACs, parameters and rebatching.

usage: timm_test.py [--all]      a spread of 150 of ../shared/graphs/timm.tar.xz, or all 1625

Every graph imports fully static without a warning, at batch 1 and at batch 32;
rebatching multiplies the MACs of every operator that depends on the input by
exactly 32 and leaves those on weights alone. MACs and parameters are held
against ../shared/graphs/MANIFEST.tsv; docs/testing.md explains what deviates.
timm_explained.tsv lists the graphs for which this does not hold, and why.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import dump  # noqa: E402
import support  # noqa: E402
from support import PERFC, read_table, shared  # noqa: E402

SPREAD = 150
THROUGH_PROGRAM = 15
BATCH = 32
MIN_GMACS = 0.5
MACS_TOLERANCE, PARAMS_TOLERANCE = 0.02, 0.01
MIN_MACS_SHARE, MIN_PARAMS_SHARE = 0.90, 0.98
EXPLAINED = HERE / "timm_explained.tsv"


def unpack() -> pathlib.Path:
    return support.unpack("graphs", "timm.tar.xz", into="timm")


def manifest() -> dict[str, dict]:
    with open(shared("graphs", "MANIFEST.tsv"), newline="") as f:
        return {pathlib.Path(row["file"]).name: row for row in csv.DictReader(f, delimiter="\t")}


def flaws(result) -> list[str]:
    """What must hold of every graph and does not."""
    if result["status"] != "ok":
        return [f"{result['status']}: {' '.join(result['errors'])}"]
    out = [f"warning: {w}" for w in result["warnings"]]
    if result["dataflow_static"] != result["dataflow"]:
        out.append(f"{result['dataflow'] - result['dataflow_static']} values are not static")
    out += [f"verifier: {v}" for v in result["verify"]]
    rebatch = result["rebatch"]
    out += [f"rebatch: {m}" for m in rebatch.get("messages", [])]
    if rebatch["status"] != "ok":
        return out or [f"rebatch: {rebatch['status']}"]
    out += [f"rebatch: {w}" for w in rebatch["wrong"]]
    if not rebatch["static"]:
        out.append(f"at batch {BATCH} some values are not static")
    return out


def unexplained(name, found, explained) -> list[str]:
    """Flaws beside those of EXPLAINED; a row that no longer applies is one too."""
    row = explained.get(name)
    if row is None:
        return found
    return [] if any(row in f for f in found) else [f"{EXPLAINED.name} expects: {row}", *found]


def share_within(pairs, tolerance) -> tuple[float, list]:
    """Share of (file, ours, theirs) that agree, and those that do not."""
    off = sorted((ours / theirs - 1, file) for file, ours, theirs in pairs if abs(ours / theirs - 1) > tolerance)
    return 1 - len(off) / max(len(pairs), 1), off


def program_agrees(result) -> list[str]:
    """The report of perfc itself at batch 32 has the MACs of the rebatched graph."""
    done = subprocess.run([PERFC, result["file"], "--batch", str(BATCH), "--json"], capture_output=True, text=True)
    if done.returncode:
        return [f"perfc --batch {BATCH}: exit {done.returncode}: {done.stderr.strip()}"]
    macs = json.loads(done.stdout)["predictions"][0]["static"]["macs"]
    expected = result["rebatch"]["macs"]
    return [] if abs(macs -
                     expected) <= 1e-6 * expected else [f"perfc reports {macs:.6g} MACs, expected {expected:.6g}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    rows = manifest()
    files = sorted(str(p) for p in unpack().rglob("*.onnx"))
    if not args.all:
        files = files[:: max(len(files) // SPREAD, 1)]
    explained = {row[0]: row[1] for row in read_table(EXPLAINED, 3)}
    results = dump.run(files, "--rebatch", str(BATCH))

    problems, macs, params = [], [], []
    for result in results:
        name = pathlib.Path(result["file"]).name
        problems += [f"{name}: {flaw}" for flaw in unexplained(name, flaws(result), explained)]
        row = rows.get(name)
        if result["status"] != "ok" or row is None:
            continue
        if "parameters" in result:
            params.append((name, result["parameters"], float(row["params"])))
        if float(row["gmacs_csv"] or 0) >= MIN_GMACS:
            macs.append((name, result["macs"] / 1e9, float(row["gmacs_csv"])))
    if PERFC.exists():
        usable = [r for r in results if r["status"] == "ok" and r["rebatch"]["status"] == "ok"]
        for result in usable[:: max(len(usable) // THROUGH_PROGRAM, 1)]:
            problems += [f"{pathlib.Path(result['file']).name}: {p}" for p in program_agrees(result)]

    macs_share, macs_off = share_within(macs, MACS_TOLERANCE)
    params_share, params_off = share_within(params, PARAMS_TOLERANCE)
    print(f"{len(results)} graphs; {len(problems)} problems")
    print(f"MACs within 2 % of the manifest's: {100 * macs_share:.1f} % of {len(macs)} graphs of 0.5 GMACs or more")
    print(f"parameters within 1 %: {100 * params_share:.1f} % of {len(params)} graphs")
    for what, off in (("MACs", macs_off), ("parameters", params_off)):
        for deviation, file in [*off[:3], *off[-3:]] if len(off) > 6 else off:
            print(f"    {what} {100 * deviation:+.1f} %  {file}")
    if macs_share < MIN_MACS_SHARE:
        problems.append("fewer than 90 % of the graphs have the manifest's MACs")
    if params_share < MIN_PARAMS_SHARE:
        problems.append(f"fewer than {100 * MIN_PARAMS_SHARE:.0f} % of the graphs have the manifest's parameters")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
