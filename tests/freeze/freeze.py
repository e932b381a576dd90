#!/usr/bin/env python3
"""Golden outputs of real models: reports, IR, kernels and features of about 400 files, byte for byte.

usage: freeze.py check              every output is as frozen (the test)
       freeze.py update             freezes this build's outputs, after a change that is meant to change them
       freeze.py against PROGRAM    this build beside another one, report of the built-in networks included

What is run stands in `runs.tsv`: a file of ../shared and options; `freeze.py choose` wrote it. Kept are, for every run,
one hash per kind of output in frozen.tsv.xz, and the whole texts of every tenth run in texts.tar.xz, of which a change
shows as a diff. Frozen reports are the whitebox's: the networks' sums depend on the processor's vector width.
"""
import concurrent.futures
import difflib
import hashlib
import io
import lzma
import os
import pathlib
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

RUNS, HASHES, TEXTS = HERE / "runs.tsv", HERE / "frozen.tsv.xz", HERE / "texts.tar.xz"
RUN_COLUMNS, HASH_COLUMNS = 2, 3
EMITS = {"json": ["--json", "--predictor", "whitebox"], "ir": ["--emit=ir"], "kernels": ["--emit=kernels"],
         "features": ["--emit=features"]}
NETWORKS = {"networks": ["--json"]}
WITH_TEXT = 10          # every so many runs
SHOWN_LINES = 40        # of a diff
TIMEOUT_S = 120

DEVICES = ["a100-40gb", "rtx4090", "t4", "rtx3090", "h100-sxm", "v100-16gb", "a100-40gb:2g.10gb", "l4"]
EXTRA = [[], ["--mode", "compiled"], ["--dtype", "fp32"], ["--task", "train"], ["--dtype", "bf16", "--layout", "nhwc"],
         ["--mode", "compiled", "--dtype", "fp16"], ["--dtype", "tf32", "--norms", "half"],
         ["--task", "forward", "--layout", "nhwc"], ["--batch", "4"], ["--dtype", "int8"],
         ["--batch", "32", "--mode", "compiled", "--layout", "nhwc"],
         ["--batch", "2", "--task", "train", "--optimizer", "sgd"]]
SOURCES = [("timm", "*.onnx", 70), ("timm_torchscript", "*.json", 110), ("timm_variants", "*.onnx", 20),
           ("frameworks", "*", 130), ("corpus", "*", 70)]


def folders() -> dict[str, pathlib.Path]:
    """The name that a run's path starts with → where that is on this machine."""
    return {"timm": support.unpack("graphs", "timm.tar.xz", into="timm"),
            "timm_variants": support.unpack("graphs", "variants.tar.xz", into="timm_variants"),
            "timm_torchscript": support.unpack("graphs", "timm_torchscript.tar.xz", into="timm_torchscript"),
            "frameworks": support.unpack_frameworks(), "corpus": support.shared("corpus")}


def outputs(program: pathlib.Path, file: pathlib.Path, options: list[str], emits: dict) -> dict[str, str]:
    """Kind → exit code, standard output and standard error; paths of this machine left out."""
    found = {}
    for kind, flags in emits.items():
        run = subprocess.run([program, file.name, *options, *flags], cwd=file.parent, capture_output=True, text=True,
                             errors="backslashreplace", timeout=TIMEOUT_S, env={**os.environ, "NO_COLOR": "1"})
        if run.returncode < 0:
            raise SystemExit(f"{file} {' '.join([*options, *flags])}: ended by signal {-run.returncode}")
        found[kind] = f"{run.stdout}---- stderr\n{run.stderr}---- exit {run.returncode}\n"
    return found


def runs() -> list[tuple[str, list[str]]]:
    return [(path, options.split()) for path, options in support.read_table(RUNS, RUN_COLUMNS)]


def every_output(program: pathlib.Path, emits: dict) -> list[dict[str, str]]:
    where = folders()

    def one(run):
        source, _, rest = run[0].partition("/")
        return outputs(program, where[source] / rest, run[1], emits)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, runs()))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def diff(expected: str, got: str, title: str) -> list[str]:
    lines = list(
        difflib.unified_diff(expected.splitlines(True), got.splitlines(True), f"{title}: frozen", f"{title}: now"))
    return lines[:SHOWN_LINES] + ([f"… {len(lines) - SHOWN_LINES} more lines\n"] if len(lines) > SHOWN_LINES else [])


def title_of(index: int, kind: str) -> str:
    path, options = runs()[index]
    return f"{path} {' '.join(options)} [{kind}]"


def check() -> int:
    with lzma.open(HASHES, "rt") as f:
        frozen = {(path, kind): value for path, kind, value in (line.rstrip("\n").split("\t") for line in f)}
    with tarfile.open(TEXTS) as tar:
        texts = {m.name: tar.extractfile(m).read().decode() for m in tar if m.isfile()}
    changed = []
    for index, found in enumerate(every_output(support.PERFC, EMITS)):
        for kind, text in found.items():
            if frozen.pop((f"{index}", kind), None) != digest(text):
                changed.append((index, kind, text))
    for index, kind, text in changed:
        name = f"{index}.{kind}"
        if name in texts:
            sys.stdout.writelines(diff(texts[name], text, title_of(index, kind)))
        else:
            print(f"changed: {title_of(index, kind)}")
    print(f"{len(runs()) * len(EMITS) - len(changed)} of {len(runs()) * len(EMITS)} outputs are as frozen")
    if frozen:
        print(f"{len(frozen)} frozen outputs are of no run: update")
    return 1 if changed or frozen else 0


def update() -> int:
    found = every_output(support.PERFC, EMITS)
    with lzma.open(HASHES, "wt", preset=9) as f:
        for index, kinds in enumerate(found):
            for kind, text in kinds.items():
                f.write(f"{index}\t{kind}\t{digest(text)}\n")
    with tarfile.open(TEXTS, "w:xz", preset=9) as tar:
        for index in range(0, len(found), WITH_TEXT):
            for kind, text in found[index].items():
                member = tarfile.TarInfo(f"{index}.{kind}")
                data = text.encode()
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    fine = sum(text.endswith("---- exit 0\n") for kinds in found for text in kinds.values())
    print(f"{len(found)} runs, {len(found) * len(EMITS)} outputs, {fine} of them with exit code 0")
    return 0


def against(other: pathlib.Path) -> int:
    different = 0
    emits = EMITS | NETWORKS
    ours, theirs = every_output(support.PERFC, emits), every_output(other, emits)
    for index, (mine, its) in enumerate(zip(ours, theirs)):
        for kind in emits:
            if mine[kind] != its[kind]:
                different += 1
                sys.stdout.writelines(diff(its[kind], mine[kind], title_of(index, kind)))
    print(f"{len(ours) * len(emits) - different} of {len(ours) * len(emits)} outputs are equal, byte for byte")
    return 1 if different else 0


def choose() -> int:
    """A spread of files: by source the same share of each folder, options in turn."""
    where, rows = folders(), []
    for source, pattern, wanted in SOURCES:
        files = sorted(p for p in where[source].rglob(pattern) if p.is_file() and not p.name.startswith("."))
        if source == "corpus":  # whole models rather than cases of one operator
            files = [p for p in files if p.suffix not in (".tsv", ".md") and 4_000 < p.stat().st_size < 30_000_000]
        step = max(len(files) / wanted, 1)
        for i in range(min(wanted, len(files))):
            file = files[int(i * step)]
            k = len(rows)
            options = ["--device", DEVICES[k % len(DEVICES)], *EXTRA[k % len(EXTRA)]]
            rows.append(f"{source}/{file.relative_to(where[source])}\t{' '.join(options)}")
    RUNS.write_text("file\toptions\n" + "\n".join(rows) + "\n")
    print(f"{len(rows)} runs")
    return 0


def main() -> int:
    commands = {"check": check, "update": update, "choose": choose}
    match sys.argv[1:]:
        case [name] if name in commands:
            return commands[name]()
        case ["against", program]:
            return against(pathlib.Path(program).resolve())
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
