#!/usr/bin/env python3
"""Builds the fuzz targets (clang, ASan, UBSan), makes seed corpora and runs each target.

usage: fuzz/run.py [--seconds 20] [--build-only | --no-build] [TARGET…]
Findings lie in build/fuzz/findings; reproduce one with build/fuzz/fuzz/fuzz_TARGET FILE.
"""
import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "robustness")]
import hostile  # noqa: E402
import hostile_ir  # noqa: E402
import hostile_tf  # noqa: E402
import hostile_torch  # noqa: E402
from support import BUILD, SKIPPED, shared_folder, skip_part  # noqa: E402

TARGETS = {
    "onnx_binary": ".onnx", "onnx_text": ".onnxtxt", "tf_binary": ".pb", "tf_text": ".pbtxt",
    "paddle_program": ".pdmodel", "paddle_pir": ".json", "torchscript": ".json", "pt2": ".pt2",
    "stablehlo": ".mlir", "openvino": ".xml", "keras": ".keras", "pir": ".pir",
    "device_file": ".json", "nvidia_smi": ".xml", "checkpoint": ".safetensors", "counter_model": ".safetensors",
    "csv": ".csv", "hpctoolkit_db": ".db", "hpctoolkit_cct": ".db", "hpctoolkit_xml": ".xml", "papi": ".json",
    "perf_csv": ".csv", "perf_json": ".json", "caliper": ".json", "ncu": ".csv", "nvprof": ".csv", "profile_csv": ".csv"
}
# Profiles: globs below tests/fixtures/counters and ../shared/formats, a seed per match; several
# globs: a seed per folder, its first match of each.
PROFILES = {"hpctoolkit_db": ["meta.db", "profile.db"], "hpctoolkit_cct": ["meta.db", "cct.db"],
            "hpctoolkit_xml": ["experiment.xml", "*00000-*.metric-db", "*00001-*.metric-db"], "papi": ["rank_*.json"],
            "perf_csv": ["perf*.csv"], "perf_json": ["perf*.jsonl"], "caliper": ["caliper*.json"], "ncu": ["ncu*.csv"],
            "nvprof": ["nvprof*.csv"], "profile_csv": ["table.csv", "table_mapping.csv"]}
PATTERNS = {"paddle_program": "*model*"}  # __model__ too
MAX_SEED = 20_000
MAX_SEEDS = 400


def exported_programs(paths) -> list[bytes]:
    """Programs inside of archives of torch.export."""
    out = []
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            out += [
                archive.read(n) for n in archive.namelist()
                if n.endswith(("models/model.json", "exported_program.json"))
            ]
    return out


def keras_configs(paths) -> list[bytes]:
    """Models inside of archives of Keras."""
    out = []
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            out.append(archive.read("config.json"))
    return out


def profile_seeds(target: str) -> dict[str, bytes]:
    first, *rest = PROFILES[target]
    roots = (ROOT / "tests" / "fixtures" / "counters", shared_folder() / "formats")
    out = {}
    for path in sorted(p for root in roots for p in root.rglob(first)):
        files = [path] + [match for glob in rest for match in sorted(path.parent.glob(glob))[:1]]
        out[f"{len(out)}{path.suffix}"] = path.read_bytes() if not rest else b"".join(
            struct.pack("<I", f.stat().st_size) + f.read_bytes() for f in files)
    return out


def seeds(target: str) -> dict[str, bytes]:
    """Small real files of the reader's format, from the repository and ../shared."""
    if target in PROFILES:
        return profile_seeds(target)
    suffix, shared = TARGETS[target], shared_folder()
    folders = {
        "onnx_binary": [shared / "corpus" / "onnx"],
        "onnx_text": [shared / "corpus" / "onnx", ROOT / "tests" / "robustness" / "seeds"],
        "tf_binary": [shared / "corpus" / "tf_bin"],
        "tf_text": [shared / "corpus" / "tf_text"],
        # The archive's models, where the corpus test has unpacked them.
        "paddle_program": [shared / "corpus" / "paddle", BUILD / "frameworks_paddle"],
        "paddle_pir": [BUILD / "frameworks_paddle"],
        "stablehlo": [ROOT / "tests" / "golden", ROOT / "tests" / "robustness" / "seeds"],
        # The archives' models, where their tests have unpacked them.
        "openvino": [BUILD / "openvino_models"],
        "keras": [BUILD / "keras_models"],
        "pir": [ROOT / "tests" / "golden"],
        "device_file": [ROOT / "data", ROOT / "examples"],
        "torchscript": [],
        "pt2": [shared / "corpus" / "pt2"],
        "nvidia_smi": [shared / "formats" / "nvidia_smi", ROOT / "tests"],
        "checkpoint": [ROOT / "data" / "models"],
        "counter_model": [ROOT / "data" / "models"],
        "csv": [shared / "data" / "mig"]
    }[target]
    paths = sorted(p for f in folders for p in f.rglob(PATTERNS.get(target, f"*{suffix}"))
                   if p.stat().st_size < (1 << 20 if suffix == ".xml" else MAX_SEED))
    out = {f"{i}{suffix}": p.read_bytes() for i, p in enumerate(paths[:: max(len(paths) // MAX_SEEDS, 1)])}
    if target == "onnx_binary":
        out |= {n: data for n, (data, _) in hostile.BINARY.items() if len(data) < MAX_SEED}
    if target == "checkpoint":
        out["small"] = checkpoint()
    if target == "csv":
        out["small"] = b'model,batch,latency_ms\r\n"a ""b"",c",8,1.5e-3\n\n,,\n'
    if target == "tf_text":
        out |= {n: text.encode("latin-1") for n, (text, _) in hostile_tf.TEXT.items() if len(text) < MAX_SEED}
    if target == "torchscript":
        lines = (ROOT / "tests" / "torch" / "operators.jsonl").read_bytes().splitlines()
        out |= {f"{i}.json": line for i, line in enumerate(lines) if len(line) < MAX_SEED}
        out |= {n: text.encode("latin-1") for n, (text, _) in hostile_torch.SCRIPTS.items() if len(text) < MAX_SEED}
    if target == "pt2":  # the archive and, since bytes changed at random rarely unpack, the program alone
        out |= {f"program-{i}.json": program for i, program in enumerate(exported_programs(paths))}
        out |= {n: data for n, (data, _) in hostile_torch.ARCHIVES.items() if len(data) < MAX_SEED}
        out["small.json"] = json.dumps(hostile_torch.exported()).encode()
    if target == "openvino":
        out |= {n: text.encode() for n, (text, _) in hostile_ir.NETS.items() if len(text) < MAX_SEED}
        out["small.xml"] = hostile_ir.small_xml().encode()
    if target == "keras":  # the archive, and what it holds
        out |= {f"config-{i}.json": config for i, config in enumerate(keras_configs(paths))}
        out |= {n: data for n, (data, _) in hostile_ir.KERAS.items() if len(data) < MAX_SEED}
        out["small.json"] = json.dumps(hostile_ir.small_config()).encode()
    if target == "onnx_text":
        out |= {n: text.encode() for n, (text, _) in hostile.TEXT.items() if len(text) < MAX_SEED}
    return out


def checkpoint() -> bytes:
    """A whole checkpoint of 24 numbers."""
    column = {"name": "macs", "unit": "MAC", "scale": "log1p", "mean": 1.5, "deviation": 2}
    head = {
        "__metadata__": {
            "perfc.model": "pmgns-mlp", "perfc.tables": json.dumps([{"name": "dippm", "columns": [column]}]),
            "perfc.vocabulary": '["nn.conv2d"]', "perfc.outputs": '[{"name":"latency","unit":"ms","factor":1000}]',
            "perfc.settings": '{"graph_hidden":4}', "perfc.provenance": '{"licences":"MIT"}'
        }, "fc.weight": {"dtype": "F32", "shape": [4, 5], "data_offsets": [0, 80]},
        "fc.bias": {"dtype": "F32", "shape": [4], "data_offsets": [80, 96]}
    }
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + struct.pack("<24f", *range(24))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--no-build", action="store_true", help="run what was built before")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=" ".join(TARGETS))
    args = parser.parse_args()
    if unknown := set(args.targets) - TARGETS.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    if not shutil.which("clang++"):
        print("SKIP: clang++ is not installed")
        return SKIPPED
    targets = args.targets or list(TARGETS)
    if not args.no_build:
        subprocess.run(["cmake", "--preset", "fuzz", "--log-level=NOTICE"], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", "--preset", "fuzz", "--target", "perfc_import_dump",
                        *(f"fuzz_{t}" for t in targets)], cwd=ROOT, check=True)
    if args.build_only:
        return 0
    if missing := [t for t in targets if not (BUILD / "fuzz" / "fuzz" / f"fuzz_{t}").exists()]:
        print(f"not built: {', '.join(missing)}; fuzz/run.py --build-only builds them")
        return 1
    if not (shared_folder() / "corpus").exists():
        skip_part(f"{shared_folder() / 'corpus'} is not here; seeds are the repository's files")

    findings = BUILD / "fuzz" / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    failed = []
    for target in targets:
        corpus = BUILD / "fuzz" / "corpus" / target
        corpus.mkdir(parents=True, exist_ok=True)
        for name, data in seeds(target).items():
            (corpus / f"seed-{name}").write_bytes(data)
        done = subprocess.run([
            BUILD / "fuzz" / "fuzz" / f"fuzz_{target}", corpus, f"-max_total_time={args.seconds}", "-seed=1",
            "-runs=20000", "-timeout=300", "-rss_limit_mb=2048", f"-artifact_prefix={findings}/{target}-",
            "-print_final_stats=1"
        ], capture_output=True, text=True, errors="replace", env=os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"})
        stats = dict(
            line.removeprefix("stat::").split(":", 1) for line in done.stderr.splitlines() if line.startswith("stat::"))
        print(f"{target}: {stats.get('number_of_executed_units', '?').strip()} runs, exit {done.returncode}",
              flush=True)
        if done.returncode:
            failed.append(target)
            print("\n".join([line for line in done.stderr.splitlines() if not line.startswith("#")][-60:]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
