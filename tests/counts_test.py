#!/usr/bin/env python3
"""Models of a format, made by its framework, against what that framework knows of them.

usage: counts_test.py openvino|keras PERFC

Unpacks tests/FORMAT/models.tar.xz (tests/FORMAT/make_models.py makes it) and predicts every model of counts.tsv: all
values typed, no opaque operator, multiply-accumulates and parameters equal to the last digit, eight samples eight times
the work of one. Differences stand in explained.tsv with what perfc says and the reason, those of the batch by the
message or by the multiply-accumulates at 8; a row that no longer differs fails. twins.tsv names the same model in
another format of ../shared/frameworks: latencies within TOLERANCE, or as far apart as the row says and why.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import support  # noqa: E402

FORMAT, PERFC = sys.argv[1], sys.argv[2]
FOLDER = HERE / FORMAT
TOLERANCE = 0.02
FOLDED = ("--fold-batch-norm", "on")  # of twins: which norms a converter folded is not in every file


def table(name: str) -> list[dict[str, str]]:
    head, *rows = ((FOLDER / name).read_text().rstrip("\n").split("\n"))
    return [dict(zip(head.split("\t"), (row + "\t" * 8).split("\t"))) for row in rows]


def unpack() -> pathlib.Path:
    """The models; .small holds the constants of a .bin: where, how long, the bytes."""
    folder = support.BUILD / f"{FORMAT}_models"
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(FOLDER / "models.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    for path in folder.glob("*.small"):
        data, at = path.read_bytes(), 0
        with open(path.with_suffix(".bin"), "wb") as out:
            while at < len(data):
                offset, size = struct.unpack_from("<QI", data, at)
                out.seek(offset)
                out.write(data[at + 12:at + 12 + size])
                at += 12 + size
    return folder


def predict(path: pathlib.Path, batch: int, dims: str = "", *options: str) -> tuple[dict, str]:
    """The prediction, and what went to standard error, but for inputs that the batch leaves as they are (two texts and
    one image of CLIP); no prediction where it failed."""
    bound = [word for dim in dims.split() for word in ("--dim", dim)]
    run = subprocess.run([PERFC, "predict", "--json", "--batch", str(batch), *bound, *options, path],
                         capture_output=True, text=True)
    said = "\n".join(line for line in run.stderr.splitlines() if "warning: this input stays" not in line)
    return json.loads(run.stdout)["predictions"][0] if run.returncode == 0 else {}, said


def check(row: dict[str, str], folder: pathlib.Path, explained: dict[str, dict[str, str]]) -> list[str]:
    name = row["file"]
    said = explained.pop(name, None)
    one, errors = predict(folder / name, 1, row["dims"] if "dims" in row else "")
    if not one or errors:
        if said and said["perfc"] in errors:
            return []
        return [f"{name}: {errors.strip().splitlines()[0] if errors.strip() else 'no prediction'}"]
    problems = []
    static = one["static"]
    if row["macs"] and static["macs"] != int(row["macs"]):
        problems.append(f"{name}: {static['macs']:.0f} MACs instead of {row['macs']}")
    wanted = said["perfc"] if said else row["params"]
    if f"{static['params']:.0f}" != wanted:
        problems.append(f"{name}: {static['params']:.0f} parameters instead of {wanted}")
    if said and said["perfc"] == row["params"] and not said["batch"]:
        problems.append(f"{name}: stands in explained.tsv without a difference")
    eight, errors = predict(folder / name, 8, row["dims"] if "dims" in row else "")
    if not eight:
        if not (said and said["batch"] and said["batch"] in errors):
            problems.append(f"{name}: batch 8: {errors.strip().splitlines()[0]}")
    elif eight["static"]["macs"] != 8 * static["macs"] and not (said and
                                                                 said["batch"] == f"{eight['static']['macs']:.0f}"):
        problems.append(f"{name}: {eight['static']['macs']:.0f} MACs at batch 8, {static['macs']:.0f} at 1")
    return problems


def check_twins(folder: pathlib.Path) -> list[str]:
    if not (support.shared_folder() / "frameworks").exists():
        support.skip_part("twins: ../shared/frameworks is not here")
        return []
    others, problems = support.unpack_frameworks(), []
    for row in table("twins.tsv"):
        a, b = (predict(path, 1, "", *FOLDED)[0] for path in (folder / row["file"], others / row["twin"]))
        if not a or not b:
            problems.append(f"{row['file']}: the twin {row['twin']} does not predict")
            continue
        apart = a["latency_ms"] / b["latency_ms"] - 1
        print(f"{row['file']} beside {row['twin']}: {apart:+.2%}")
        if abs(apart) > (float(row["apart"]) if row["apart"] else TOLERANCE):
            problems.append(f"{row['file']}: {apart:+.2%} beside {row['twin']}")
    return problems


def main():
    folder = unpack()
    explained = {row["file"]: row for row in table("explained.tsv")}
    rows = table("counts.tsv")
    problems = [p for row in rows for p in check(row, folder, explained)]
    problems += [f"{name}: in explained.tsv, but no model" for name in explained] + check_twins(folder)
    print("\n".join(problems))
    print(f"{len(rows)} models of {FORMAT}, {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
