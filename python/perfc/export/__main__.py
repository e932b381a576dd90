"""python -m perfc.export MODEL…: PyTorch programs as files for perfc."""
from __future__ import annotations

import argparse
import os
import pathlib
import sys

import torch

from perfc import files
from . import batch, exported, onnx, targets, torchscript
from .errors import ExportError


def shape(text: str) -> torch.Tensor:
    try:
        return targets.parse_input(text)
    except ExportError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


ONNX = ("onnx", "onnx-legacy")


def export(args) -> tuple[str, dict]:
    """The file written, and the program in it."""
    model, form = args.models[0], args.format[0]
    inputs = tuple(e.to(args.device) for e in args.input)
    if pathlib.Path(model).is_file():
        if form != "json":
            raise ExportError(f"an archive of torch.jit.save becomes JSON; --format {form} needs a module:factory")
        output = args.output or str(pathlib.Path(model).with_suffix(".json"))
        module, examples = torchscript.load(model), inputs
    else:
        made = targets.build(model, args.device)
        module, examples = made.module, inputs or made.inputs
        output = args.output or model.rpartition(":")[2].rpartition("/")[2] + batch.SUFFIX[form]
        if not isinstance(module, torch.jit.ScriptModule):
            if examples is None and not args.script:
                raise ExportError(
                    "example inputs are missing: give --input, or let the factory return (module, inputs)")
            examples = tuple(e.to(args.device) if isinstance(e, torch.Tensor) else e for e in examples or ())
            if form != "json" and output == "-":
                raise ExportError(f"--format {form} does not write text: name a file with --output")
            if form == "pt2":
                return output, exported.export_archive(module, examples, output)
            if form in ONNX:
                return output, onnx.export_onnx(module, examples, output, dynamo=form == "onnx")
            result = torchscript.export_module(module, examples, name=args.name, script=args.script)
            torchscript.write(result, output)
            return output, result
    if form != "json":
        raise ExportError(f"script modules become JSON; --format {form} needs a plain module")
    result = torchscript.export_script(module, name=args.name, inputs=examples, method=args.method)
    torchscript.write(result, output)
    return output, result


def export_one(args) -> int:
    model = args.models[0]
    try:
        output, result = export(args)
    except ExportError as error:
        print(f"{model}: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"{model}: error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    count = {
        key: value if isinstance(value, int) else len(value) for key, value in result.items()
        if key in ("nodes", "parameters")
    }
    if output != "-":
        print(f"{output}: {count['nodes']} nodes, {count['parameters']} parameters")
    open_inputs = [
        v["name"] for v in result.get("inputs", ()) if v.get("type", "Tensor") == "Tensor" and "shape" not in v
    ]
    if open_inputs:
        print(f"{output}: note: no shape is known of {', '.join(open_inputs)}: give it here with --input, "
              f"or to perfc, for example --shape {open_inputs[0]}=1,3,224,224", file=sys.stderr)
    return 0


def export_many(args) -> int:
    try:
        entries = [e for path in args.list for e in targets.read_list(path)] + [targets.Entry(m) for m in args.models]
        entries = list({e.target: e for e in entries}.values())
        rows = batch.export_list(entries, args.format, args.out, jobs=args.jobs, memory_mib=args.memory_limit,
                                 timeout_s=args.timeout, retry_failed=args.retry_failed, device=args.device)
    except ExportError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    good = sum(r["status"] == "ok" for r in rows)
    print(f"{pathlib.Path(args.out) / batch.MANIFEST}: {good} files, {len(rows) - good} failed")
    return 0 if good == len(rows) else 1


def formats(text: str) -> list[str]:
    chosen = text.split(",")
    for form in chosen:
        if form not in batch.SUFFIX:
            raise argparse.ArgumentTypeError(f"'{form}' is none of {', '.join(batch.SUFFIX)}")
    return chosen


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="python -m perfc.export", description=__doc__.splitlines()[0],
        epilog="MODEL is an archive of torch.jit.save (.pt), timm/NAME, torchvision/NAME, transformers/NAME, or "
        "module:factory in Python: a function that returns a torch.nn.Module, or (module, example inputs). Without "
        "--script the module is traced, which records shapes; archives keep none: give --input, or --shape to perfc. "
        "No weights are written. With --out a list of models is exported, in parallel; what the manifest in that "
        "folder has is not exported again.")
    parser.add_argument("models", metavar="MODEL", nargs="*", help="see below")
    parser.add_argument("-o", "--output",
                        help="file to write; - for standard output (default: MODEL with .json, .pt2 or .onnx)")
    parser.add_argument("-i", "--input", action="append", type=shape, metavar="DIMS[:DTYPE]", default=[],
                        help="shape of an example input, once per input: 1,3,224,224 or 1,128:int64")
    parser.add_argument(
        "--format", type=formats, default=["json"], metavar="FORM[,FORM]",
        help="json: TorchScript; pt2: what torch.export gives; onnx: torch's dynamo exporter; onnx-legacy: the one "
        "that traces; several with --out (default: json)")
    parser.add_argument("--script", action="store_true",
                        help="script the module instead of tracing it: keeps control flow")
    parser.add_argument("--method", default="forward", help="method of a script module to export (default: forward)")
    parser.add_argument(
        "--device", default="cpu", help="where the factory makes the module; meta, with --format pt2 or "
        "--script, needs no memory for weights")
    parser.add_argument("--name", default="", help="name of the model in the file")
    several = parser.add_argument_group("several models")
    several.add_argument("--out", metavar="DIR", help=f"folder for the files and {batch.MANIFEST}")
    several.add_argument("--list", action="append", default=[], metavar="FILE",
                         help="one model a line: MODEL [family=NAME] [input=DIMS[:DTYPE]]…")
    several.add_argument("--jobs", type=int,
                         default=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
                         help="models at the same time (default: one per core)")
    several.add_argument("--memory-limit", type=float, metavar="MIB", help="of each export")
    several.add_argument("--timeout", type=float, default=600, metavar="SECONDS",
                         help="of each export (default: %(default)s)")
    several.add_argument("--retry-failed", action="store_true", help="try again what failed in an earlier run")
    args = parser.parse_args(argv)
    if args.out:
        if not args.models and not args.list:
            parser.error("--out needs models: name some, or give --list")
        if args.output or args.input or args.script or args.name or args.method != "forward":
            parser.error(
                "--output, --input, --script, --method and --name are for one model; a list says input= itself")
        for model in args.models:
            if not targets.is_target(model):
                parser.error(f"'{model}' is none of timm/NAME, torchvision/NAME, transformers/NAME, module:factory")
        return args
    if len(args.models) != 1 or args.list or len(args.format) != 1:
        parser.error("one MODEL and one --format, or a folder for several with --out")
    if not pathlib.Path(args.models[0]).is_file() and not targets.is_target(args.models[0]):
        parser.error(
            f"'{args.models[0]}' is neither a file nor module:factory, timm/NAME, torchvision/NAME or transformers/NAME"
        )
    if args.format[0] != "json" and (args.script or args.method != "forward"):
        parser.error("--script and --method are for --format json")
    return args


def main(argv=None) -> int:
    args = parse(argv)
    return export_many(args) if args.out else export_one(args)


if __name__ == "__main__":
    files.exit_with(main)
