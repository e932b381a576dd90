#!/usr/bin/env python3
"""perfc's eager kernels beside the calls that PyTorch dispatches, in number and order.

usage: dispatch_test.py [PERFC] [--model PATTERN] [--verbose] [--summary] [--train] [--update]

models.tar.xz holds whole models as their users export them, dispatched.jsonl.xz what PyTorch does for them on CUDA
(tests/oracle/dispatch_record.py; README.md); neither torch nor a GPU is needed here. Per model one line: calls that
eager PyTorch dispatches, those of the file's program where the exporter wrote another one, perfc's, and the first
difference: from what eager PyTorch does, or from the file's program where perfc is nearer to that. Then the same under
autocast ("amp:…"), so with timm's --fast-norm ("fast-norm:…") and with all floats in bfloat16 ("bf16:…") for the file
in float32, less what differs in float32, and whatever the order: which argument's cast comes first is C++'s choice.
rules.py says which kernels are which calls.
What differs stands in explained.tsv with the reason, and no row there is idle. --update rewrites that table, new rows
with the reason `?`, which the test refuses. --model: names as a shell pattern; --verbose: calls side by side;
--summary: differences of all models by ATen operators, the most frequent first, and single operators
(tests/torch/operators.jsonl) that perfc prices as several kernels or none; --train: how many calls a training step
has, a report only.
"""
import argparse
import collections
import csv
import fnmatch
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import typing

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import rules  # noqa: E402
import support  # noqa: E402
from rules import base, calls_of, match  # noqa: E402

EXPLAINED = HERE / "explained.tsv"
MIN_MODELS = 235
EAGER = [
    "--emit=kernels", "--mode", "eager", "--predictor", "whitebox", "--device", "a100-40gb", "--opaque=warn", "--quiet"
]
#: Key of a record → how perfc is asked for the same, of the file in float32.
WIDTHS = {"amp": ["--dtype", "amp"], "bf16": ["--dtype", "bf16"], "fast-norm": ["--dtype", "amp", "--norms", "half"]}

# -------------------------------------------------------------------------------------------- the comparison


def align(ours: list[dict], theirs: list[dict]) -> list[tuple[int, int]]:
    """Pairs (PyTorch's, perfc's) of calls that match, in both orders; as many as possible."""
    n, m = len(theirs), len(ours)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below, their = best[i], best[i + 1], theirs[i]
        for j in range(m - 1, -1, -1):
            row[j] = 1 + below[j + 1] if match(their, ours[j]) else below[j] if below[j] > row[j + 1] else row[j + 1]
    pairs, i, j = [], 0, 0
    while i < n and j < m:
        if match(theirs[i], ours[j]):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


class Differences(typing.NamedTuple):
    found: collections.Counter = collections.Counter()  #: what PyTorch does → what perfc does instead, with how often
    only: int = 0                                       #: calls that one side alone makes
    moved: int = 0                                      #: calls that come in another order
    first: str = ""
    operators: collections.Counter = collections.Counter(
    )  #: (ATen operator, what perfc does instead, or also), how often


def differences(theirs: list[dict], ours: list[dict]) -> Differences:
    head = 0
    while head < min(len(theirs), len(ours)) and match(theirs[head], ours[head]):
        head += 1
    if head == len(theirs) == len(ours):
        return Differences()
    pairs = align(ours, theirs)
    gaps, i, j = [], 0, 0
    for a, b in pairs + [(len(theirs), len(ours))]:
        if a > i or b > j:
            gaps.append((list(range(i, a)), list(range(j, b))))
        i, j = a + 1, b + 1
    # What is left over on both sides is the same call at another place. Gaps in which one side has nothing first:
    # in the others, the sides are rather two ways to compute the same.
    moved, alone = 0, [j for left, right in gaps if not left for j in right]
    free = set(j for _, right in gaps for j in right)
    for candidates in (alone, sorted(free)):
        for left, right in sorted(gaps, key=lambda gap: len(gap[1])):
            for i in list(left):
                found = next((j for j in candidates if j in free and match(theirs[i], ours[j])), None)
                if found is not None:
                    free.remove(found)
                    left.remove(i)
                    moved += 1
    found, operators, only, first = collections.Counter(), collections.Counter(), 0, ""
    for left, right in gaps:
        right = [j for j in right if j in free]
        only += len(left) + len(right)
        instead = " ".join(sorted({ours[j]["op"] for j in right})) or "nothing"
        operators.update((theirs[i]["op"].rstrip("_"), instead) for i in left)
        if not left:
            operators.update((source(ours[j]["node"]).rstrip("_"), "also " + ours[j]["op"]) for j in right)
        if left or right:
            # Nothing of PyTorch's stands for it: the operator in the file that it is part of says more.
            what = text([theirs[i]["op"] for i in left],
                        [ours[j]["op"] + ("" if left else "@" + source(ours[j]["node"])) for j in right])
            found[what] += 1
            node = f", {ours[right[0]]['node']}" if right else ""
            first = first or f"{what} (call {left[0] if left else right[0]}{node})"
    if not first:
        at = theirs[head]["op"] if head < len(theirs) else "the end"
        first = f"order, from call {head}: {at}, perfc {ours[head]['op'] if head < len(ours) else 'the end'}"
    return Differences(found, only, moved, first, operators)


SHOWN = 12


def source(node: str) -> str:
    """The operator in the file, which perfc's names of nodes end in."""
    return node.rpartition("/")[2]


def text(left: list[str], right: list[str]) -> str:
    """"pow mean add rsqrt mul mul → nn.rms_norm"."""
    side = lambda words: " ".join(words[:SHOWN]) + (f" … {len(words) - SHOWN} more"
                                                    if len(words) > SHOWN else "") or "nothing"  # noqa: E731
    return f"{side(left)} → {side(right)}"


def elements_of(kind: str) -> int:
    """Of "float32[2,3]"."""
    dims = kind[kind.index("[") + 1:-1]
    out = 1
    for d in dims.split(",") if dims else []:
        out *= int(d) if d.isdigit() else 0
    return out


def dispatched(packed: dict) -> list[dict]:
    """Calls that launch something."""
    sizes = [elements_of(t) for t in packed["types"]]
    return [{"op": base(packed["ops"][op]), "elements": sizes[outs[0]] if outs else 0}
            for op, _, outs, free in packed["calls"] if not free]


class Compared:
    """One model: counts, differences. `name`: as in explained.tsv. `in_full`: the same in float32, where this is
    another width."""

    def __init__(self, name, record, path, width="", in_full=None):
        self.name = f"{width}:{name}" if in_full else name
        key = width if in_full else "eager"
        self.eager = dispatched(record[key]) if key in record else []
        self.file = dispatched(record["file_program"]) if not in_full and "file_program" in record else None
        self.in_full = in_full
        asked = WIDTHS[width] if in_full else ["--dtype", "fp32"]
        run = subprocess.run([rules.PERFC, str(path), *EAGER, *asked], capture_output=True, text=True)
        self.refused = run.returncode != 0
        self.reference = self.eager
        self.ours, self.kernels = [], 0
        if self.refused:
            why = re.sub(r"^.*?error: ", "",
                         next((line for line in run.stderr.splitlines() if "error" in line), "no reason given"))
            self.differences = Differences(collections.Counter({f"refused: {why[:120]}": 1}), len(self.eager), 0,
                                           f"refused: {why}")
            return
        rows = list(csv.DictReader(run.stdout.splitlines()))
        self.ours, self.kernels = calls_of(rows), len(rows)
        self.differences = self.from_eager = differences(self.eager, self.ours)
        if in_full:
            self.differences = self.differences._replace(
                found=self.differences.found - in_full.from_eager.found, moved=0)
        if self.file is not None and not self.equal():
            of_file = differences(self.file, self.ours)
            if of_file.only < self.differences.only:
                self.reference, self.differences = self.file, of_file

    def equal(self) -> bool:
        return not self.differences.found if self.in_full else self.differences == Differences()

    def rows(self) -> list[str]:
        order = [f"order: {self.differences.moved} calls"] if self.differences.moved else []
        return [f"{count} × {difference}" for difference, count in sorted(self.differences.found.items())] + order

    def line(self) -> str:
        other = f" (file {len(self.file)})" if self.file is not None else ""
        verdict = "equal" if self.equal() else self.differences.first
        return f"{self.name:36} {len(self.eager):5}{other:12} / {len(self.ours):5}  {verdict}"


# -------------------------------------------------------------------------------------------------- the test


def records() -> list[dict]:
    return [
        json.loads(line) for line in lzma.decompress((HERE / "dispatched.jsonl.xz").read_bytes()).decode().splitlines()
    ]


def compare_all(folder: pathlib.Path) -> tuple[list[Compared], list[Compared], list[Compared], list[dict]]:
    """Models, single operators, models in other widths, records."""
    all_records = records()
    with tarfile.open(HERE / "models.tar.xz") as tar:
        for member in tar:
            if member.isfile() and "/" not in member.name:
                (folder / member.name).write_bytes(tar.extractfile(member).read())
    programs = {
        json.loads(line)["model"]: line
        for line in (HERE.parent / "torch" / "operators.jsonl").read_text().splitlines()
    }
    models, operators, widths = [], [], []
    for record in all_records:
        if "model" in record and record["file"] and "eager" in record and fnmatch.fnmatch(
                record["model"], OPTIONS.model):
            models.append(Compared(record["model"], record, folder / record["file"]))
            widths += [Compared(record["model"], record, folder / record["file"], width, models[-1])
                       for width in WIDTHS if width in record and not models[-1].refused]
        elif "operator" in record and "eager" in record and record["operator"] in programs and fnmatch.fnmatch(
                "op:" + record["operator"], OPTIONS.model):
            path = folder / f"operator.{record['operator']}.json"
            path.write_text(programs[record["operator"]])
            operators.append(Compared("op:" + record["operator"], record, path))
    return models, operators, widths, all_records


def check(compared: list[Compared], complete: bool) -> list[str]:
    table = {(name, difference): why for name, difference, why in support.read_table(EXPLAINED, 3)
            } if EXPLAINED.exists() else {}
    today = {(c.name, row) for c in compared for row in c.rows()}
    if OPTIONS.update:
        names = {c.name for c in compared}
        bare = lambda row: row.partition(" × ")[2] or row.partition(":")[0]  # noqa: E731
        reasons = {(name, bare(row)): why for (name, row), why in table.items()}   # a reason outlives another count
        kept = {key: why for key, why in table.items() if key in today or (not complete and key[0] not in names)}
        kept |= {key: table.get(key, reasons.get((key[0], bare(key[1])), "?")) for key in today}
        EXPLAINED.write_text("\n".join(["model\tdifference (how often × PyTorch's calls → perfc's)\treason"] +
                                       ["\t".join([*key, why]) for key, why in sorted(kept.items())]) + "\n")
        return []
    problems = [
        f"{name}: differs without a reason: {row}" for name, row in sorted(today) if table.get((name, row), "?") == "?"
    ]
    names = {c.name for c in compared}
    return problems + [
        f"{name}: a row of {EXPLAINED.name} that no longer applies: {row}"
        for name, row in sorted(set(table) - today) if complete or name in names
    ]


def summarize(models, operators, all_records):
    by_difference, models_of = collections.Counter(), collections.defaultdict(set)
    by_op, ops_of, instead = collections.Counter(), collections.defaultdict(set), collections.defaultdict(
        collections.Counter)
    for c in models:
        for difference, count in c.differences.found.items():
            by_difference[difference] += count
            models_of[difference].add(c.name)
        for (op, what), count in c.differences.operators.items():
            by_op[op] += count
            ops_of[op].add(c.name)
            instead[op][what] += count
    print("\nATen operators, what perfc does instead of them: how often, in how many models")
    for op, count in sorted(by_op.items(), key=lambda x: (-len(ops_of[x[0]]), -x[1]))[:OPTIONS.top]:
        print(f"{count:6} {len(ops_of[op]):4}  {op:36} " +
              ", ".join(f"{what} ({n})" for what, n in instead[op].most_common(4)))
    print("\nPyTorch's calls → perfc's: how often, in how many models")
    for difference, count in sorted(by_difference.items(), key=lambda x: (-len(models_of[x[0]]), -x[1]))[:OPTIONS.top]:
        print(f"{count:6} {len(models_of[difference]):4}  {difference}")
    moved = [c.differences for c in models if c.differences.moved > 0]
    print(f"\nanother order: {sum(d.moved for d in moved)} calls in {len(moved)} models; "
          f"nothing but order: {sum(not d.found for d in moved)} models")
    wrong = [c for c in operators if len(c.reference) == 1 and len(c.ours) != 1]
    print(f"\nsingle operators: {len(operators)}, equal {sum(c.equal() for c in operators)}; one call of PyTorch's, of "
          "perfc's:")
    for count, group in sorted(collections.Counter(len(c.ours) for c in wrong).items()):
        print(f"  {count} ({group}): " + " ".join(f"{c.name[3:]}" for c in wrong if len(c.ours) == count))
    for what in ("failure", "file_program_failure", "train_failure"):
        for r in all_records:
            if what in r:
                print(f"{what}: {r.get('model') or r.get('operator')}: {r[what]}")
    for r in all_records:
        if r.get("export_failures") and not r["file"]:
            print(f"not exported: {r['model']}: {'; '.join(r['export_failures'])}")


def training(all_records, folder):
    """Calls of a step, forward and backward; perfc's beside them without the optimizer's, which are those of
    parameters. A convolution's gradients are one call (convolution_backward)."""
    for r in all_records:
        if "train" not in r or not r["file"] or not fnmatch.fnmatch(r["model"], OPTIONS.model):
            continue
        together = len(dispatched(r["train"]))
        forward = sum(not c[3] for c in r["train"]["calls"][:r["train"]["forward"]])
        runs = [
            subprocess.run([rules.PERFC, str(folder / r["file"]), *EAGER, "--dtype", "fp32", *task],
                           capture_output=True, text=True) for task in ((), ("--task", "train"))
        ]
        infer, train = [list(csv.DictReader(run.stdout.splitlines())) for run in runs]
        nodes = {k["node"] for k in infer}
        ours = calls_of([k for k in train[len(infer):] if k["node"] in nodes])
        backward = sum(
            not (i and c["op"].startswith("nn.conv") and c["node"] == ours[i - 1]["node"]) for i, c in enumerate(ours))
        print(f"train {r['model']:36} forward {forward:5} / {len(calls_of(infer)):5}  "
              f"backward {together - forward:5} / {backward:5}")


def main() -> int:
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfc", nargs="?")
    parser.add_argument("--model", default="*")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--top", type=int, default=60, help="lines of each part of the summary")
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--update", action="store_true")
    OPTIONS = parser.parse_args()
    rules.PERFC = str(OPTIONS.perfc or support.PERFC)
    complete = OPTIONS.model == "*"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models, operators, widths, all_records = compare_all(folder)
        if OPTIONS.train:
            training(all_records, folder)
    for c in models + widths + (operators if not complete or OPTIONS.verbose else []):
        print(c.line())
        if OPTIONS.verbose and not complete:
            side_by_side(c)
    if OPTIONS.summary:
        summarize(models, operators, all_records)
    problems = check(models + operators + widths, complete)
    print(
        f"{len(models)} models, {sum(c.equal() for c in models)} equal, "
        f"{sum(c.file is not None for c in models)} whose file holds another program than eager PyTorch runs; "
        f"{len(operators)} operators, {sum(c.equal() for c in operators)} equal; " + "".join(
            f"in {width} {sum(c.name.startswith(width) for c in widths)} models, "
            f"{sum(c.name.startswith(width) and c.equal() for c in widths)} equal; " for width in WIDTHS) +
        f"{len(problems)} problems")
    if complete and len(models) < MIN_MODELS:
        problems.append(f"fewer than {MIN_MODELS} models")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems else 0


def side_by_side(c: Compared):
    i = j = 0
    for a, b in align(c.ours, c.reference) + [(len(c.reference), len(c.ours))]:
        for k in range(i, a):
            print(f"    - {c.reference[k]['op']} {c.reference[k]['elements']}")
        for k in range(j, b):
            print(f"    + {'':40} {c.ours[k]['op']} {c.ours[k]['elements']} {c.ours[k]['node']}")
        if a < len(c.reference) and b < len(c.ours):
            theirs, ours = c.reference[a], c.ours[b]
            print(f"      {theirs['op'] + ' ' + str(theirs['elements']):40} {ours['op']} {ours['elements']} "
                  f"{ours['node']}")
        i, j = a + 1, b + 1


if __name__ == "__main__":
    sys.exit(main())
