"""python -m perfc.export MODEL: a PyTorch program as a file for perfc."""
from __future__ import annotations

import argparse
import importlib
import pathlib
import sys

import torch

from . import exported, torchscript
from .errors import ExportError, blame


def parse_input(text: str) -> torch.Tensor:
    """"1,3,224,224" or "1,128:int64"."""
    shape, _, dtype = text.partition(":")
    kind = getattr(torch, dtype or "float32", None)
    try:
        dims = [int(d) for d in shape.split(",")] if shape else []
        if not isinstance(kind, torch.dtype):
            raise ValueError(dtype)
        return torch.zeros(dims, dtype=kind)
    except (ValueError, RuntimeError):
        raise argparse.ArgumentTypeError(f"'{text}' is not DIM,DIM,…[:dtype], such as 1,3,224,224 or 1,128:int64") from None


def from_factory(target: str, device: str):
    """module:factory -> the module, and example inputs if the factory gives some."""
    module_name, _, attribute = target.partition(":")
    sys.path.insert(0, "")
    try:
        factory = importlib.import_module(module_name)
    except Exception as error:
        raise blame(f"cannot import '{module_name}'", error) from None
    for part in attribute.split("."):
        if not hasattr(factory, part):
            names = ", ".join(n for n in dir(factory) if not n.startswith("_"))
            raise ExportError(f"'{module_name}' has no '{attribute}'; it has {names[:400]}")
        factory = getattr(factory, part)
    made = factory
    if not isinstance(factory, torch.nn.Module):
        if not callable(factory):
            raise ExportError(f"'{target}' is of type {type(factory).__name__}; a factory is a function, or a torch.nn.Module")
        try:
            with torch.device(device):
                made = factory()
        except Exception as error:
            raise blame(f"'{target}' failed", error) from None
    examples = None
    if isinstance(made, tuple) and len(made) == 2:
        made, examples = made
        examples = tuple(examples) if isinstance(examples, (list, tuple)) else (examples,)
    if not isinstance(made, torch.nn.Module):
        raise ExportError(f"'{target}' gives an object of type {type(made).__name__}; "
                          "a factory returns a torch.nn.Module, or (module, example inputs)")
    return made, examples


def export(args) -> tuple[str, dict]:
    """The file written, and the program in it."""
    inputs = tuple(e.to(args.device) for e in args.input)
    if pathlib.Path(args.model).is_file():
        if args.format == "pt2":
            raise ExportError("an archive of torch.jit.save becomes JSON; --format pt2 needs a module:factory")
        output = args.output or str(pathlib.Path(args.model).with_suffix(".json"))
        module, examples = torchscript.load(args.model), inputs
    else:
        module, examples = from_factory(args.model, args.device)
        examples = inputs or examples
        output = args.output or args.model.rpartition(":")[2] + (".pt2" if args.format == "pt2" else ".json")
        if not isinstance(module, torch.jit.ScriptModule):
            if examples is None and not args.script:
                raise ExportError("example inputs are missing: give --input, or let the factory return (module, inputs)")
            examples = tuple(e.to(args.device) if isinstance(e, torch.Tensor) else e for e in examples or ())
            if args.format == "pt2":
                if output == "-":
                    raise ExportError("a .pt2 is an archive: name a file with --output")
                return output, exported.export_archive(module, examples, output)
            result = torchscript.export_module(module, examples, name=args.name, script=args.script)
            torchscript.write(result, output)
            return output, result
    if args.format == "pt2":
        raise ExportError("script modules become JSON; --format pt2 needs a plain module")
    result = torchscript.export_script(module, name=args.name, inputs=examples, method=args.method)
    torchscript.write(result, output)
    return output, result


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m perfc.export", description=__doc__.splitlines()[0],
        epilog="A factory returns a torch.nn.Module, or (module, example inputs). Without --script the module is "
               "traced, which records shapes; archives keep none: give --input, or --shape to perfc. "
               "No weights are written.")
    parser.add_argument("model", metavar="MODEL", help="archive of torch.jit.save (.pt), or module:factory in Python")
    parser.add_argument("-o", "--output", help="file to write; - for standard output (default: MODEL with .json or .pt2)")
    parser.add_argument("-i", "--input", action="append", type=parse_input, metavar="DIMS[:DTYPE]", default=[],
                        help="shape of an example input, once per input: 1,3,224,224 or 1,128:int64")
    parser.add_argument("--format", choices=("json", "pt2"), default="json",
                        help="json: TorchScript; pt2: what torch.export gives (default: json)")
    parser.add_argument("--script", action="store_true", help="script the module instead of tracing it: keeps control flow")
    parser.add_argument("--method", default="forward", help="method of a script module to export (default: forward)")
    parser.add_argument("--device", default="cpu", help="where the factory makes the module; meta, with --format pt2 or "
                                                        "--script, needs no memory for weights")
    parser.add_argument("--name", default="", help="name of the model in the file")
    args = parser.parse_args(argv)
    if not pathlib.Path(args.model).is_file() and (":" not in args.model or args.model.endswith(":")):
        parser.error(f"'{args.model}' is neither a file nor module:factory")
    if args.format == "pt2" and (args.script or args.method != "forward"):
        parser.error("--script and --method are for --format json")
    try:
        output, result = export(args)
    except ExportError as error:
        print(f"{args.model}: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{args.model}: error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    count = {key: value if isinstance(value, int) else len(value) for key, value in result.items() if key in ("nodes", "parameters")}
    if output != "-":
        print(f"{output}: {count['nodes']} nodes, {count['parameters']} parameters")
    open_inputs = [v["name"] for v in result.get("inputs", ()) if v.get("type", "Tensor") == "Tensor" and "shape" not in v]
    if open_inputs:
        print(f"{output}: note: no shape is known of {', '.join(open_inputs)}: give it here with --input, "
              f"or to perfc, for example --shape {open_inputs[0]}=1,3,224,224", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
