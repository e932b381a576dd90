"""Run with torch: the programs of tests/torch/make_operators.py with their inputs, parameters and results.

usage: torch_programs.py FOLDER [--pt2] [--every N]

Writes NAME.json (TorchScript), with --pt2 also NAME.pt2 (torch.export), and NAME.npz: "in/0", "out/0", "weight/NAME".
"""
import argparse
import json
import pathlib
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "torch"), str(HERE.parents[1] / "python")]
import numpy as np  # noqa: E402
import torch  # noqa: E402

torch.manual_seed(0)  # of the inputs, which are drawn as the programs are read
import make_operators as programs  # noqa: E402


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (int, float, bool)):
        yield torch.tensor(value)
    elif isinstance(value, dict):
        for v in value.values():
            yield from tensors(v)
    elif isinstance(value, (list, tuple)):
        for v in value:
            yield from tensors(v)


def array(t: torch.Tensor):
    t = t.detach().dequantize() if t.is_quantized else t.detach()
    return (t.float() if t.dtype == torch.bfloat16 else t.resolve_conj()).numpy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pt2", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    cases = {name: (programs.Function(f), inputs) for name, (f, inputs) in programs.CASES.items()} | programs.MODULES
    for name, (module, inputs) in sorted(cases.items())[::args.every]:
        module = module.eval()
        try:
            torch.manual_seed(zlib.crc32(name.encode()))
            program = json.dumps(programs.export_module(module, inputs, name=name))
            given = [array(t.clone()) for t in tensors(inputs)]
            with torch.no_grad():
                first = [array(t.clone()) for t in tensors(module(*inputs))]
                again = [array(t.clone()) for t in tensors(module(*inputs))]
            if any(not np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(first, again)):
                continue  # it draws random numbers, or writes into its operands
            weights = {k: array(v) for k, v in module.state_dict().items() if isinstance(v, torch.Tensor)}
            if args.pt2:
                with torch.no_grad():
                    torch.export.save(torch.export.export(module, inputs, strict=False), args.folder / f"{name}.pt2")
        except Exception as e:  # noqa: BLE001: torch's own refusal
            print(f"{name}: {str(e).splitlines()[:1]}", file=sys.stderr)
            continue
        (args.folder / f"{name}.json").write_text(program)
        np.savez(args.folder / f"{name}.npz", **{f"in/{i}": a for i, a in enumerate(given)},
                 **{f"out/{i}": a for i, a in enumerate(first)}, **{f"weight/{k}": v for k, v in weights.items()})


if __name__ == "__main__":
    main()
