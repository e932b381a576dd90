"""python -m perfc.export MODEL: a PyTorch program as JSON for perfc."""
from __future__ import annotations

import argparse
import importlib
import pathlib
import sys

import torch

from . import torchscript


def parse_input(text: str) -> torch.Tensor:
    """"1,3,224,224" or "1,128:int64"."""
    shape, _, dtype = text.partition(":")
    try:
        dims = [int(d) for d in shape.split(",")] if shape else []
        kind = getattr(torch, dtype or "float32")
        return torch.zeros(dims, dtype=kind) if not isinstance(kind, type) else None
    except (ValueError, AttributeError, RuntimeError):
        raise argparse.ArgumentTypeError(f"'{text}' is not DIM,DIM,…[:dtype], such as 1,3,224,224 or 1,128:int64") from None


def from_factory(target: str, device: str):
    """module:factory -> the module, and example inputs if the factory gives some."""
    module_name, _, attribute = target.partition(":")
    sys.path.insert(0, "")
    factory = importlib.import_module(module_name)
    for part in attribute.split("."):
        factory = getattr(factory, part)
    if isinstance(factory, torch.nn.Module):
        return factory, None
    with torch.device(device):
        made = factory()
    if isinstance(made, tuple):
        return made[0], tuple(made[1]) if isinstance(made[1], (list, tuple)) else (made[1],)
    return made, None


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m perfc.export", description=__doc__.splitlines()[0],
        epilog="A factory returns a torch.nn.Module, or (module, example inputs). Without --script the module is "
               "traced, which records shapes; archives keep none: give --input, or --shape to perfc.")
    parser.add_argument("model", metavar="MODEL", help="archive of torch.jit.save (.pt), or module:factory in Python")
    parser.add_argument("-o", "--output", help="file to write; - for standard output (default: MODEL with .json)")
    parser.add_argument("-i", "--input", action="append", type=parse_input, metavar="DIMS[:DTYPE]", default=[],
                        help="shape of an example input, once per input: 1,3,224,224 or 1,128:int64")
    parser.add_argument("--script", action="store_true", help="script the module instead of tracing it: keeps control flow")
    parser.add_argument("--device", default="cpu", help="where the factory makes the module; meta needs no memory for weights")
    parser.add_argument("--name", default="", help="name of the model in the file")
    args = parser.parse_args(argv)

    inputs = tuple(args.input)
    if pathlib.Path(args.model).is_file():
        stem = pathlib.Path(args.model)
        result = torchscript.export_script(torchscript.load(args.model), name=args.name, inputs=inputs or None)
        output = args.output or str(stem.with_suffix(".json"))
    elif ":" in args.model:
        module, examples = from_factory(args.model, args.device)
        examples = inputs or examples
        if isinstance(module, torch.jit.ScriptModule):
            result = torchscript.export_script(module, name=args.name, inputs=examples)
        else:
            if examples is None and not args.script:
                parser.error("tracing needs example inputs: give --input, or let the factory return (module, inputs)")
            examples = tuple(e.to(args.device) if isinstance(e, torch.Tensor) else e for e in examples or ())
            result = torchscript.export_module(module, examples, name=args.name, script=args.script)
        output = args.output or args.model.rpartition(":")[2] + ".json"
    else:
        parser.error(f"'{args.model}' is neither a file nor module:factory")
    torchscript.write(result, output)
    if output != "-":
        print(f"{output}: {len(result['nodes'])} nodes, {len(result['parameters'])} parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
