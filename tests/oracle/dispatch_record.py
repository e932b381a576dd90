#!/usr/bin/env python3
"""Makes what tests/dispatch/dispatch_test.py compares: programs as users export them, and what PyTorch dispatches for
them.

usage: dispatch_record.py [--only PATTERN] [--folder build/dispatch]     needs torch, timm, torchvision, transformers,
diffusers

Per model a file build/dispatch/NAME.{pt2,json} (perfc.export, without weights) and NAME.record.json; what is there is
not made again. Then writes tests/dispatch/models.tar.xz and dispatched.jsonl.xz. With --only, models (and "operators")
whose names do not match stay as these two have them. tests/dispatch/README.md says how to set torch up.
"""
import argparse
import copy
import fnmatch
import json
import lzma
import pathlib
import re
import signal
import sys
import tarfile
import tempfile
import warnings
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = ROOT / "tests" / "dispatch"
sys.path[:0] = [str(HERE), str(ROOT / "python"), str(ROOT / "tests" / "torch")]
warnings.filterwarnings("ignore")

import torch  # noqa: E402

import dispatch  # noqa: E402
import dispatch_models  # noqa: E402
import packing  # noqa: E402
import timm_norms  # noqa: E402
from perfc.export import exported, torchscript  # noqa: E402

SECONDS = 240           # a model
#: Exported as TorchScript, as every second one of timm's and torchvision's; the others as .pt2.
AS_JSON = ("recurrent_*", "plain_unet", "nn_*", "pointnet", "wavenet", "espcn", "pix2pix_generator")
TRAINED = """timm_resnet18 timm_mobilenetv3_small_050 timm_efficientnet_b0 timm_convnext_atto timm_vit_tiny_patch16_224
timm_swin_tiny_patch4_window7_224
    timm_densenet121 timm_nfnet_l0 timm_mixer_s16_224 timm_poolformer_s12 timm_regnety_002 tv_resnet50 tv_googlenet
    tv_shufflenet_v2_x0_5 tv_lraspp_mobilenet_v3_large
    hf_bert hf_gpt2 hf_llama hf_qwen3 hf_gemma3 hf_t5 hf_bart hf_mamba hf_vit hf_wav2vec2 hf_whisper plain_unet
    sd_unet_condition
    recurrent_lstm recurrent_gru recurrent_cells graph_gcn graph_gat nn_transformer dlrm espcn wavenet""".split()


class TooSlow(Exception):
    pass


def export_pt2(module, inputs, path):
    """Returns the program, for it may compute something else than the module does eagerly."""
    with torch.no_grad():
        program = torch.export.export(module.eval(), tuple(inputs))
    with tempfile.TemporaryDirectory() as folder:
        complete, slim = pathlib.Path(folder) / "model.pt2", pathlib.Path(folder) / "slim.pt2"
        torch.export.save(program, complete)
        exported.strip(complete, slim)
        with zipfile.ZipFile(slim) as packed, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as flat:  # xz packs better
            for name in packed.namelist():
                flat.writestr(name,
                              without_stacks(packed.read(name)) if name.endswith("model.json") else packed.read(name))
    return program


def without_stacks(data: bytes) -> bytes:
    """Source lines are most of a program's bytes and nothing that perfc prices."""
    return re.sub(rb'"stack_trace": "(?:[^"\\]|\\.)*"', b'"stack_trace": ""', data)


def wants_json(name) -> bool:
    if any(fnmatch.fnmatch(name, p) for p in AS_JSON):
        return True
    listed = dispatch_models.TIMM if name.startswith("timm_") else dispatch_models.TORCHVISION
    bare = name.partition("_")[2]
    return bare in listed and name.startswith(("timm_", "tv_")) and listed.index(bare) % 2 == 1


def export(name, module, inputs, folder, forms=None):
    """The file, the .pt2's program and its device, what failed before."""
    failures = []
    for form in forms or (("json", "pt2") if wants_json(name) else ("pt2", "json")):
        path = folder / f"{name}.{form}"
        for device in ("meta", "cpu") if form == "pt2" else ("cpu",):
            moved = copy.deepcopy(module).to(device)
            examples = tuple(i.to(device) for i in inputs)
            try:
                if form == "pt2":
                    return path, (export_pt2(moved, examples, path), device), failures
                torchscript.write(torchscript.export_module(moved, examples, name=name), str(path))
                return path, None, failures
            except TooSlow:
                raise
            except Exception as error:
                failures.append(f"{form}, {device}: {str(error).strip().splitlines()[0][:200]}")
    return None, None, failures


def launching(calls):
    return [c for c in calls if "free" not in c]


def with_fast_norms(name):
    """Under autocast with timm's --fast-norm; nothing where the network's norms do not obey it."""
    if not name.startswith("timm_") or timm_norms.norms(name.removeprefix("timm_")) != "fast":
        return None
    from timm.layers import set_fast_norm
    set_fast_norm(True)
    try:
        return dispatch.pack(launching(dispatch.record(*dispatch_models.build(name), amp=True)))
    finally:
        set_fast_norm(False)


def make(name, folder):
    module, inputs = dispatch_models.build(name)
    path, program, failures = export(name, module, inputs, folder)
    record = {"model": name, "file": path.name if path else None, "export_failures": failures}
    train = copy.deepcopy(module) if name in TRAINED else None
    for width in ("amp", "bf16"):
        try:
            other, examples = copy.deepcopy(module), inputs
            if width == "bf16":
                other, examples = dispatch.in_bfloat16(other, inputs)
            record[width] = dispatch.pack(launching(dispatch.record(other, examples, amp=width == "amp")))
        except TooSlow:
            raise
        except Exception:  # some modules mix widths, or an operator has no kernel in this one
            pass
    if fast := with_fast_norms(name):
        record["fast-norm"] = fast
    calls = dispatch.record(module, inputs)
    record["eager"] = dispatch.pack(calls)
    if program is not None:
        try:
            again = dispatch.record(dispatch.moved_program(*program), inputs, evaluate=False)
            if [c["op"] for c in launching(again)] != [c["op"] for c in launching(calls)]:
                record["file_program"] = dispatch.pack(again)
        except TooSlow:
            raise
        except Exception as error:
            record["file_program_failure"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
    if train is not None:
        try:
            calls = dispatch.record(train, inputs, train=True)
            record["train"] = dispatch.pack(calls)
            record["train"]["forward"] = sum(c["pass"] == "forward" for c in calls)
        except TooSlow:
            raise
        except Exception as error:
            record["train_failure"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
    return record


def record_models(names, folder):
    def stop(*_):
        raise TooSlow(f"not done after {SECONDS} s")
    signal.signal(signal.SIGALRM, stop)
    for name in names:
        done = folder / f"{name}.record.json"
        if done.exists():
            continue
        signal.alarm(SECONDS)
        try:
            record = make(name, folder)
        except Exception as error:
            record = {
                "model": name, "file": None,
                "failure": f"{type(error).__name__}: "
                           f"{str(error).strip().splitlines()[0][:300] if str(error).strip() else ''}"
            }
        signal.alarm(0)
        done.write_text(json.dumps(record))
        count = lambda key: sum(not c[3] for c in record[key]["calls"]) if key in record else "-"  # noqa: E731
        print(name, record["file"], "eager", count("eager"), "file's program", count("file_program"), "train",
              count("train"), record.get("failure", ""), record.get("file_program_failure", ""),
              record.get("train_failure", ""),
              record.get("export_failures") or "", flush=True)


def record_operators(folder):
    """The programs of tests/torch/operators.jsonl, from the functions that made them."""
    done = folder / "operators.jsonl"
    if done.exists():
        return
    import make_operators
    known = {
        json.loads(line)["model"] for line in (ROOT / "tests" / "torch" / "operators.jsonl").read_text().splitlines()
    }
    torch.manual_seed(0)
    programs = {name: (make_operators.Function(f), inputs) for name, (f, inputs) in make_operators.CASES.items()
               } | make_operators.MODULES
    lines, failures = [], []
    for name, (module, inputs) in sorted(programs.items()):
        if name not in known:
            continue
        try:
            calls = dispatch.record(copy.deepcopy(module), inputs, default_device=True)
            lines.append(json.dumps({"operator": name, "eager": dispatch.pack(calls)}))
        except Exception as error:
            lines.append(
                json.dumps({
                    "operator": name, "failure": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"
                }))
            failures.append(name)
    done.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} operators, {len(failures)} cannot be recorded: {' '.join(failures)}")


def unpack(folder, wanted):
    """Puts back what was packed, for names that `wanted` does not match."""
    for line in lzma.decompress((TARGET / "dispatched.jsonl.xz").read_bytes()).decode().splitlines():
        row = json.loads(line)
        if "model" in row and not fnmatch.fnmatch(row["model"], wanted):
            (folder / f"{row['model']}.record.json").write_text(line)
        elif "operator" in row and not fnmatch.fnmatch("operators", wanted):
            with open(folder / "operators.jsonl", "a") as out:
                out.write(line + "\n")
    with tarfile.open(TARGET / "models.tar.xz") as tar:
        for member in tar:
            if not fnmatch.fnmatch(pathlib.PurePath(member.name).stem, wanted):
                (folder / member.name).write_bytes(tar.extractfile(member).read())


def pack(names, folder):
    rows = [
        json.loads((folder / f"{n}.record.json").read_text()) for n in names if (folder / f"{n}.record.json").exists()
    ]
    rows.sort(key=lambda r: r["model"])
    lines = [json.dumps(r, separators=(",", ":")) for r in rows] + [
        json.dumps(json.loads(line), separators=(",", ":"))
        for line in (folder / "operators.jsonl").read_text().splitlines()
    ]
    (TARGET / "dispatched.jsonl.xz").write_bytes(packing.compressed(("\n".join(lines) + "\n").encode()))
    with_file = sorted((r for r in rows if r["file"]), key=lambda r: (r["file"].rpartition(".")[2], r["model"]))
    (TARGET / "models.tar.xz").write_bytes(
        packing.archive((r["file"], (folder / r["file"]).read_bytes()) for r in with_file))
    for name in ("dispatched.jsonl.xz", "models.tar.xz"):
        print(f"{name}: {(TARGET / name).stat().st_size / 1e6:.2f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="names to make anew, as a shell pattern")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "dispatch")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.only != "*":
        for stale in args.folder.iterdir():
            stale.unlink()
        unpack(args.folder, args.only)
    record_models([n for n in dispatch_models.MODELS if fnmatch.fnmatch(n, args.only)], args.folder)
    record_operators(args.folder)
    pack(list(dispatch_models.MODELS), args.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
