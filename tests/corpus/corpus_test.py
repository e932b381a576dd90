#!/usr/bin/env python3
"""Every ONNX file of ../shared/corpus through the importer, held against tables.

usage: corpus_test.py imports     what imports, what does not and why
       corpus_test.py compare     types beside those of the onnx package
       … --update                 rewrites the rows that changed, reason "?", for review

explained.tsv      files meant to be well-formed that do not import with all values typed
malformed.tsv      files broken on purpose, by name or because their project expects them to be
                   refused: the cause that the diagnostic must name, or "imports" with the reason
                   why accepting is right
disagreements.tsv  values that both type statically but differently
A file that is not as its row says, a row without its file and a reason "?" fail.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402
sys.path.insert(0, str(HERE))
import dump  # noqa: E402

MALFORMED_NAME = re.compile(r"invalid|negative_test|error|mismatch|wrong", re.IGNORECASE)
STATIC = re.compile(r"^Tensor\[\((\d+(, \d+)*,?)?\), \w+\]$")
LIMITS = {"min_typed": 0.97, "min_refused": 0.80}  # of the well-formed, twice: by name and by table; of the broken
BROKEN = ("crashed", "timeout", "memory")
EXPLAINED, MALFORMED, DISAGREEMENTS = (HERE / f"{n}.tsv" for n in ("explained", "malformed", "disagreements"))
HEADS = {EXPLAINED: ["file", "diagnostic", "reason"], MALFORMED: ["file", "cause", "reason"],
         DISAGREEMENTS: ["file", "value", "perfc", "onnx", "reason"]}


def files_and_root():
    root = support.shared("corpus", "onnx")
    return sorted(str(p) for p in root.rglob("*") if p.suffix in (".onnx", ".onnxtxt")), root


def rows(path):
    return support.read_table(path, len(HEADS[path])) if path.exists() else []


def write_rows(path, table):
    comment = [line for line in path.read_text().splitlines() if line.startswith("#")] if path.exists() else []
    lines = comment + ["\t".join(r) for r in [HEADS[path], *sorted(table)]]
    path.write_text("\n".join(lines) + "\n")


def message(result) -> str:
    """The first error without file and place, so that rows survive moves: 'op: what is wrong'."""
    text = result["errors"][0] if result["errors"] else ""
    text = re.sub(r"^.*?\berror: ", "", text, count=1)
    return text.replace("\t", " ")


def flaw(result) -> str | None:
    """Why a file does not count as imported with all values typed."""
    if result["status"] != "ok":
        return message(result) or result["status"]
    if result["typed"] < result["values"]:
        return "untyped: " + result["untyped"][0]
    return None


def percent(part, whole) -> str:
    return f"{part} of {whole} ({100 * part / max(whole, 1):.1f} %)"


def imports(update: bool) -> int:
    files, root = files_and_root()
    results = dump.run(files)
    name = lambda r: str(pathlib.Path(r["file"]).relative_to(root))  # noqa: E731
    problems = []

    malformed = {row[0]: row for row in rows(MALFORMED)}
    on_purpose = [r for r in results if MALFORMED_NAME.search(pathlib.Path(r["file"]).name) or name(r) in malformed]
    others = [r for r in results if r not in on_purpose]
    for r in results:
        if r["status"] in BROKEN:
            problems.append(f"{name(r)}: {r['status']}: {' '.join(r['errors'])}")
        elif r["status"] == "ok" and r["verify"]:
            problems.append(f"{name(r)}: imports, but the verifier says: {r['verify'][0]}")

    # Files that are to be well-formed: what does not import must be explained, row by row.
    explained = {row[0]: row for row in rows(EXPLAINED)}
    flaws = {name(r): why for r in others if (why := flaw(r))}
    for file, why in flaws.items():
        if file not in explained:
            problems.append(f"{file}: {why}\n    not in {EXPLAINED.name}")
        elif explained[file][1] not in why:
            problems.append(f"{file}: {why}\n    {EXPLAINED.name} expects: {explained[file][1]}")
    problems += [f"{f}: {EXPLAINED.name} has a row, but all is well" for f in explained if f not in flaws]

    # Files broken on purpose: refused, and for the right cause.
    right = accepted = 0
    for r in on_purpose:
        row = malformed.get(name(r))
        expected = row[1] if row else None
        if r["status"] == "ok":
            accepted += 1
            if expected != "imports":
                problems.append(f"{name(r)}: imports; {MALFORMED.name} expects: {expected}")
        elif expected is None or expected == "imports" or not any(expected in e for e in r["errors"]):
            problems.append(f"{name(r)}: {message(r)}\n    {MALFORMED.name} expects: {expected}")
        else:
            right += 1
    known = {name(r) for r in on_purpose}
    problems += [f"{f}: {MALFORMED.name} has a row, but there is no such file" for f in malformed if f not in known]
    for table in (EXPLAINED, MALFORMED):
        problems += [f"{table.name}: {row[0]}: no reason given" for row in rows(table) if row[-1] in ("", "?")]

    if update:
        write_rows(EXPLAINED, [[f, why[:120], explained.get(f, ["", "", "?"])[2]] for f, why in flaws.items()])
        write_rows(MALFORMED, [
            malformed[name(r)] if name(r) in malformed and (
                (malformed[name(r)][1] == "imports") == (r["status"] == "ok")) and (
                r["status"] == "ok" or any(malformed[name(r)][1] in e for e in r["errors"]))
            else [name(r), "imports" if r["status"] == "ok" else message(r)[:120], "?"] for r in on_purpose])

    typed = len(others) - len(flaws)
    ok = [r for r in results if r["status"] == "ok"]
    static, dataflow = sum(r["dataflow_static"] for r in ok), sum(r["dataflow"] for r in ok)
    ranked, values = sum(r["ranked"] for r in ok), sum(r["values"] for r in ok)
    print(f"{'files':<58}{len(results)}")
    print(f"{'well-formed, imported with all values typed (≥ 97 %)':<58}{percent(typed, len(others))}")
    by_name = [r for r in results if not MALFORMED_NAME.search(pathlib.Path(r["file"]).name)]
    typed_by_name = sum(not flaw(r) for r in by_name)
    print(f"{'  … where only names decide what is well-formed (≥ 97 %)':<58}{percent(typed_by_name, len(by_name))}")
    print(f"{'broken on purpose, refused for the right cause (≥ 80 %)':<58}{percent(right, len(on_purpose))}")
    print(f"{'  … accepted, with a reason':<58}{accepted}")
    print(f"{'values of known rank':<58}{percent(ranked, values)}")
    print(f"{'tensors computed in main graphs, of static type':<58}{percent(static, dataflow)}")
    print(f"{'largest memory, longest time':<58}{max(r['rss_mib'] for r in results):.0f} MiB, "
          f"{max(r['cpu_ms'] for r in results):.0f} ms")
    if typed < LIMITS["min_typed"] * len(others):
        problems.append("fewer than 97 % of the well-formed files import with all values typed")
    if typed_by_name < LIMITS["min_typed"] * len(by_name):
        problems.append("fewer than 97 % of the files whose names do not say malformed import with all values typed")
    if right < LIMITS["min_refused"] * len(on_purpose):
        problems.append("fewer than 80 % of the malformed files are refused for the right cause")
    return finish(problems)


def oracle(files) -> dict[str, dict]:
    """Results of oracle.py, computed once per version of it and list of files."""
    python = support.reference_python()
    script = HERE / "oracle.py"
    cache = support.BUILD / "corpus" / "oracle.jsonl"
    newest = max(script.stat().st_mtime, (HERE.parent / "requirements.txt").stat().st_mtime)

    def read():
        return {r["file"]: r for r in map(json.loads, cache.read_text().splitlines())}

    if not cache.exists() or cache.stat().st_mtime < newest or set(read()) != set(files):
        cache.parent.mkdir(parents=True, exist_ok=True)
        part = cache.with_suffix(".part")
        subprocess.run([python, str(script), str(part)], input="\n".join(files), text=True, check=True)
        part.rename(cache)
    return read()


def value_types(result, nodes) -> dict[str, str]:
    """perfc's types by the names of the file: outputs, and results of nodes where the
    file's node list and perfc's agree (the last operator of a node has its results)."""
    types = {}
    last = {n["node"]: n["types"] for n in result["nodes"]}
    for index, outputs in enumerate(nodes):
        types |= {o: t for o, t in zip(outputs, last.get(index, [])) if o}
    return types | dict(result["results"])


def compare(update: bool) -> int:
    files, root = files_and_root()
    theirs = oracle(files)
    ours = {r["file"]: r for r in dump.run(files, "--types")}
    explained = {(row[0], row[1]): row for row in rows(DISAGREEMENTS)}
    found, problems, both = {}, [], 0
    for file in files:
        mine, reference = ours[file], theirs[file]
        if mine["status"] != "ok" or reference["status"] != "ok":
            continue
        name = str(pathlib.Path(file).relative_to(root))
        for value, type_ in value_types(mine, reference["nodes"] if reference["flat"] else []).items():
            other = reference["types"].get(value, "")
            if not STATIC.match(type_) or not STATIC.match(other):
                continue
            both += 1
            if type_ != other:
                found[name, value] = [name, value, type_, other]
    for key, row in found.items():
        if key not in explained or explained[key][:4] != row:
            problems.append(f"{row[0]}: '{row[1]}': perfc {row[2]}, onnx {row[3]}\n    not in {DISAGREEMENTS.name}")
    problems += [
        f"{f}: '{v}': {DISAGREEMENTS.name} has a row, but both agree" for f, v in explained if (f, v) not in found
    ]
    problems += [f"{DISAGREEMENTS.name}: {r[0]}: no reason given" for r in explained.values() if r[4] in ("", "?")]
    if update:
        write_rows(DISAGREEMENTS, [[*row, explained.get(key, ["?"])[-1]] for key, row in found.items()])

    binary = [f for f in files if f.endswith(".onnx")]
    good = [f for f in binary if theirs[f]["status"] == "ok"]
    mine = [f for f in binary if ours[f]["status"] == "ok"]
    stuck = [f for f in binary if theirs[f]["status"] == "timeout"]
    ratio = lambda part, whole, fs, rs: sum(rs[f][part] for f in fs) / max(sum(rs[f][whole]
                                                                               for f in fs), 1)  # noqa: E731
    common = [f for f in good if f in set(mine)]
    print(f"{'':<46}{'onnx 1.23.2':>12}{'perfc':>10}")
    print(f"{f'of {len(binary)} .onnx files, typed':<46}{len(good):>12}{len(mine):>10}")
    ours_static = ratio("dataflow_static", "dataflow", mine, ours)
    theirs_static = ratio("static", "values", good, theirs)
    print(f"{'values static, in the files each one types':<46}{100 * theirs_static:>11.1f}%{100 * ours_static:>9.1f}%")
    print(f"{f'values static, in the {len(common)} files both type':<46}"
          f"{100 * ratio('static', 'values', common, theirs):>11.1f}%"
          f"{100 * ratio('dataflow_static', 'dataflow', common, ours):>9.1f}%")
    print(f"{'no answer within 20 s':<46}{len(stuck):>12}{sum(ours[f]['status'] == 'timeout' for f in binary):>10}")
    print(f"{'values both type statically':<46}{both:>22}")
    print(f"{'… of those they disagree on, each explained':<46}{len(found):>22}")
    if len(mine) <= len(good):
        problems.append("perfc imports no more files than onnx types")
    if ours_static <= theirs_static:
        problems.append("perfc types a smaller share of values statically than onnx")
    return finish(problems)


def finish(problems) -> int:
    for p in problems:
        print("PROBLEM", p)
    print(f"{len(problems)} problems" if problems else "as the tables say")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["imports", "compare"])
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    return {"imports": imports, "compare": compare}[args.part](args.update)


if __name__ == "__main__":
    sys.exit(main())
