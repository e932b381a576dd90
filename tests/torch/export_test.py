#!/usr/bin/env python3
"""python -m perfc.export, and perfc on what it writes: traces, scripts with control
flow, archives of torch.jit.save, torch.export archives, quantised modules, mistakes.

Needs torch (support.torch_python).
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "corpus"), str(HERE.parent)]
import dump  # noqa: E402
from support import ROOT, torch_python  # noqa: E402

SAVE = """
import sys, torch, export_models as m
torch.jit.save(torch.jit.script(m.Recurrence().eval()), "loop.pt")
torch.jit.save(torch.jit.freeze(torch.jit.trace(m.Network().eval(), torch.zeros(1, 3, 8, 8))), "frozen.pt")
torch.jit.save(torch.jit.script(m.Methods().eval()), "methods.pt")
torch.save(m.Network().state_dict(), "weights.pt")
"""


class Test:
    def __init__(self, python: str, folder: str):
        self.python, self.folder, self.problems, self.checks = python, pathlib.Path(folder), [], 0
        self.env = {
            **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(HERE)]), "PYTHONWARNINGS": "ignore"
        }

    def run(self, *args: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.python, *args], cwd=self.folder, env=self.env, capture_output=True, text=True)

    def expect(self, what: str, found, wanted):
        self.checks += 1
        if found != wanted:
            self.problems.append(f"{what}: {found!r}, expected {wanted!r}")

    def export(self, *args: str, file: str, says: str) -> pathlib.Path:
        done = self.run("-m", "perfc.export", *args, "-o", file)
        self.expect(" ".join(args), (done.returncode, done.stdout, done.stderr.count("Error")),
                    (0, f"{file}: {says}\n", 0))
        return self.folder / file

    def refused(self, *args: str, code: int, says: str):
        done = self.run("-m", "perfc.export", *args)
        last = done.stderr.strip().splitlines()[-1:]
        self.expect(" ".join(args), (done.returncode, last[0].startswith(says) if last else False), (code, True))
        if last and not last[0].startswith(says):
            self.problems.append(f"  it says: {last[0]}")

    def imports(self, file: pathlib.Path, *options: str, macs: float, parameters: float, results: list[str]) -> dict:
        """Imports without a warning: what torch recorded is what perfc infers."""
        result = dump.run([str(file)], *options)[0]
        warnings = [w for w in result["warnings"] if ": note: " not in w]
        found = (result["status"], result["errors"], warnings, result.get("verify"), result.get("opaque"))
        self.expect(f"{file.name} imports", found, ("ok", [], [], [], {}))
        if result["status"] == "ok":
            self.expect(f"{file.name} MACs", result["macs"], macs)
            self.expect(f"{file.name} parameters", result.get("parameters"), parameters)
            self.expect(f"{file.name} results", [t for _, t in result["results"]], results)
        return result


def check(t: Test):
    saved = t.run("-c", SAVE)
    t.expect("models are made", (saved.returncode, saved.stderr[-400:]), (0, ""))
    network = 2 * (32 * 32 * 8 * 27 + 80)
    # 224 + 90 of the layers; scale and shift of the batch-norm are folded into the convolution
    out = ["Tensor[(2, 10), float32]"]
    trace = t.export("export_models:network_with_input", file="trace.json", says="22 nodes, 8 parameters")
    t.imports(trace, macs=network, parameters=314, results=out)
    program = json.loads(trace.read_text())
    t.expect("shapes of a trace", program["inputs"][0]["shape"], [2, 3, 32, 32])
    t.expect("every tensor of a trace has its shape",
             [v["name"] for n in program["nodes"] for v in n["outputs"] if "type" not in v and "shape" not in v], [])
    given = t.export("export_models:network", "-i", "2,3,32,32", file="given.json", says="22 nodes, 8 parameters")
    t.imports(given, macs=network, parameters=314, results=out)
    scripted = t.export("export_models:network", "--script", "-i", "2,3,32,32", file="script.json",
                        says="31 nodes, 9 parameters")
    t.imports(scripted, macs=network, parameters=314, results=out)
    archive = t.export("export_models:network_with_input", "--format", "pt2", file="net.pt2",
                       says="16 nodes, 9 parameters")
    t.imports(archive, macs=network, parameters=314, results=out)

    # One million parameters per megabyte of weights: none of them is written.
    for name, options in (("large.json", ()), ("large.pt2", ("--format", "pt2"))):
        large = t.export("export_models:large", *options, file=name,
                         says="5 nodes, 2 parameters" if options else "1 nodes, 2 parameters")
        t.imports(large, macs=2048 * 2048, parameters=2048 * 2049, results=["Tensor[(1, 2048), float32]"])
        t.expect(f"{name} holds no weights", large.stat().st_size < 20_000, True)
    meta = t.export("export_models:two_layers", "--format", "pt2", "--device", "meta", file="meta.pt2",
                    says="8 nodes, 4 parameters")
    t.imports(meta, macs=2 * 2 * 256, parameters=2 * 272, results=["Tensor[(2, 16), float32]"])

    several = t.run("-m", "perfc.export", "--out", "several", "--format", "pt2", "--device", "meta",
                    "export_models:of_terabytes")
    t.expect("--device of several models", (several.returncode, several.stdout),
             (0, "several/manifest.csv: 1 files, 0 failed\n"))
    t.imports(t.folder / "several/of_terabytes.pt2", macs=2**40, parameters=2**40 + 2**20,
              results=["Tensor[(1, 1048576), float32]"])

    wrong = t.export("export_models:wrong_types", "--format", "pt2", "--device", "meta", file="wrong.pt2",
                     says="15 nodes, 2 parameters")
    said = dump.run([str(wrong)])[0]
    t.expect("an error once, not of what depends on it", [e.split(": error: ")[1] for e in said["errors"]],
             ["nn.dense: operands 0 and 1 differ in type: int64 and bfloat16"])

    pair = ["Tensor[(2, 16), float32]"] * 2
    t.imports(t.export("export_models:tied", file="tied.json", says="15 nodes, 2 parameters"), macs=2 * 3 * 256,
              parameters=512, results=pair)
    t.imports(t.export("export_models:tied", "--format", "pt2", file="tied.pt2", says="11 nodes, 3 parameters"),
              macs=2 * 3 * 256, parameters=512, results=pair)
    # The bias of a quantised convolution is an int32 in the IR, which counts as none.
    t.imports(t.export("export_models:quantised", file="quantised.json", says="24 nodes, 4 parameters"),
              macs=7 * 7 * 8 * 27 + 40, parameters=8 * 27 + 40 + 5, results=["Tensor[(1, 5), float32]"])

    t.imports(t.export("export_models:with_object", "--script", "-i", "2,4", file="object.json",
                       says="21 nodes, 0 parameters"), macs=0, parameters=0, results=["Tensor[(2, 4), float32]"])

    loop = t.export("loop.pt", file="loop.json", says="4 nodes, 4 parameters")
    operators = [n["op"] for n in json.loads(loop.read_text())["nodes"]]
    t.expect("control flow stays", operators, ["prim::Constant"] * 3 + ["prim::Loop"])
    t.imports(loop, "--shape", "x.1=2,4", macs=0, parameters=40, results=["Tensor[(2, 4), float32]"])
    t.imports(t.export("loop.pt", "-i", "2,4", file="loop4.json", says="4 nodes, 4 parameters"),
              macs=0, parameters=40, results=["Tensor[(2, 4), float32]"])
    t.imports(t.export("frozen.pt", "-i", "2,3,32,32", file="frozen.json", says="20 nodes, 0 parameters"),
              macs=network, parameters=314, results=out)
    t.imports(t.export("methods.pt", "--method", "decode", "-i", "5", file="decode.json", says="3 nodes, 0 parameters"),
              macs=0, parameters=0, results=["Tensor[(5,), float32]"])

    t.refused("export_models:network", code=1,
              says="export_models:network: error: example inputs are missing: give --input")
    t.refused("export_models:network", "-i", "2,5,8,8", code=1,
              says="export_models:network: error: the module fails on the example inputs: RuntimeError: Given groups=1")
    t.refused("export_models:none", code=1, says="export_models:none: error: 'export_models' has no 'none'; it has ")
    t.refused("export_models:fails", code=1,
              says="export_models:fails: error: 'export_models:fails' failed: ValueError: no such size (at ")
    t.refused("export_models:number", code=1,
              says="export_models:number: error: 'export_models:number' gives an object of type int")
    t.refused("no_such_module:x", code=1,
              says="no_such_module:x: error: cannot import 'no_such_module': ModuleNotFoundError")
    t.refused("methods.pt", code=1,
              says="methods.pt: error: the module has no method 'forward'; give --method decode or encode")
    t.refused("weights.pt", code=1, says="weights.pt: error: not a TorchScript archive that torch ")
    t.refused("loop.pt", "-i", "2,4", "-i", "1", "-i", "1", code=1,
              says="loop.pt: error: 3 inputs are given, but forward has 2: x.1, rounds.1")
    t.refused("loop.pt", "--format", "pt2", code=1, says="loop.pt: error: an archive of torch.jit.save becomes JSON")
    t.refused("export_models:network", "-i", "1,x", code=2,
              says="python -m perfc.export: error: argument -i/--input: '1,x' is not DIM")
    t.refused("missing.pt", code=2,
              says="python -m perfc.export: error: 'missing.pt' is neither a file nor module:factory")
    note = t.run("-m", "perfc.export", "frozen.pt", "-o", "open.json")
    t.expect(
        "note on open shapes", note.stderr, "open.json: note: no shape is known of x.1: give it here with --input, "
        "or to perfc, for example --shape x.1=1,3,224,224\n")


def main() -> int:
    python = torch_python()
    with tempfile.TemporaryDirectory() as folder:
        t = Test(python, folder)
        check(t)
    print(f"{t.checks} checks, {len(t.problems)} problems")
    for p in t.problems:
        print("PROBLEM", p)
    return 1 if t.problems else 0


if __name__ == "__main__":
    sys.exit(main())
