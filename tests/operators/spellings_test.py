#!/usr/bin/env python3
"""One operator is one eager kernel of one name, whichever front end reads it and however its exporter writes it.

usage: spellings_test.py

A line of spellings.tsv is an operator; a cell, how programs of that format say it, written as the table's head
explains.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from support import PERFC, read_table  # noqa: E402

FORMATS = ["onnx", "torch", "tf", "paddle"]
SHAPE = [4, 8]
EAGER = [
    "--emit=kernels", "--mode", "eager", "--dtype", "fp32", "--predictor", "whitebox", "--device", "a100-40gb",
    "--quiet"
]
CALL = re.compile(r"(\w+)\(([^)]*)\)")


def parse(cell: str) -> list[tuple[str, list[str]]]:
    return [(name, [a for a in args.split(", ") if a]) for name, args in CALL.findall(cell)]


def numbers(calls) -> list[str]:
    return sorted({a for _, args in calls for a in args if a.startswith("n=")})


def inputs(calls) -> list[str]:
    return sorted({a for _, args in calls for a in args if a in ("x", "y", "z")})


def onnx(calls) -> str:
    tensor = "type { tensor_type { elem_type: %d shape { " + "".join(
        f"dim {{ dim_value: {d} }} " for d in SHAPE) + "} } }"
    out = "ir_version: 9\nopset_import { version: 20 }\ngraph {\n"
    for i, (op, args) in enumerate(calls, 1):
        out += f'node {{ name: "n{i}" op_type: "{op}" ' + "".join(
            f'input: "{a}" ' for a in args) + f'output: "{i}" }}\n'
    for n in numbers(calls):
        out += f'initializer {{ name: "{n}" data_type: 1 float_data: {n[2:]} }}\n'
    for x in inputs(calls):
        out += f'input {{ name: "{x}" {tensor % 1} }}\n'
    is_bool = calls[-1][0] in ("Not", "IsNaN")
    return out + f'output {{ name: "{len(calls)}" {tensor % (9 if is_bool else 1)} }}\n}}\n'


def torch(calls) -> str:
    float_type = {"dtype": "float32", "shape": SHAPE}
    nodes = [{
        "op": "prim::Constant", "inputs": [], "attributes": {"value": float(n[2:])},
        "outputs": [{"name": n, "type": "float"}]
    } for n in numbers(calls)]
    for i, (op, args) in enumerate(calls, 1):
        kind = {**float_type, "dtype": "bool"} if op in ("ne", "isnan") else float_type
        nodes.append({"op": f"aten::{op}", "inputs": args, "attributes": {}, "outputs": [{"name": str(i), **kind}]})
    return json.dumps({
        "format": "torchscript-json", "version": 1, "producer": "torch", "model": "m", "parameters": [],
        "inputs": [{"name": x, **float_type} for x in inputs(calls)], "outputs": nodes[-1]["outputs"], "nodes": nodes
    })


def tf(calls) -> str:
    shape = "shape { " + "".join(f"dim {{ size: {d} }} " for d in SHAPE) + "}"
    out = "".join(f'node {{ name: "{x}" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} '
                  f'attr {{ key: "shape" value {{ {shape} }} }} }}\n' for x in inputs(calls))
    for i, (op, args) in enumerate(calls, 1):
        out += f'node {{ name: "n{i}" op: "{op}" ' + "".join(f'input: "{a}" ' for a in args) + "}\n"
    return out


def paddle(calls) -> str:
    def result(number, kind="t_f32"):
        return {"%": number, "TT": {"#": "0.t_dtensor", "D": [{"#": f"0.{kind}"}, SHAPE, "NCHW", [], 0]}}
    ids = {x: i for i, x in enumerate(inputs(calls), 1)}
    ops = [{"#": "1.data", "A": [{"N": "name", "AT": {"#": "0.a_str", "D": x}}], "I": [], "O": [result(i)]}
           for x, i in ids.items()]
    for i, (op, args) in enumerate(calls, 1):
        ids[str(i)] = 100 + i
        ops.append({
            "#": f"1.{op}", "A": [], "I": [{"%": ids[a]} for a in args],
            "O": [result(100 + i, "t_bool" if op in ("not_equal", "isnan") else "t_f32")]
        })
    ops.append({
        "#": "1.fetch", "A": [{"N": "name", "AT": {"#": "0.a_str", "D": "out"}},
                              {"N": "col", "AT": {"#": "0.a_i32", "D": 0}}], "I": [{"%": 100 + len(calls)}],
        "O": [result(9000)]
    })
    return json.dumps(
        {"base_code": {"magic": "pir", "version": 4}, "program": {"regions": [{"blocks": [{"args": [], "ops": ops}]}]}})


SUFFIX = {"onnx": "m.onnxtxt", "torch": "m.json", "tf": "m.pbtxt", "paddle": "p.json"}


def main() -> int:
    problems, checked = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for kernel, *cells in read_table(HERE / "spellings.tsv", 1 + len(FORMATS)):
            for form, cell in zip(FORMATS, cells):
                if cell == "-":
                    continue
                path = pathlib.Path(folder, SUFFIX[form])
                path.write_text(globals()[form](parse(cell)))
                run = subprocess.run([PERFC, str(path), *EAGER], capture_output=True, text=True)
                checked += 1
                lines = run.stdout.splitlines()
                head = lines[0].split(",") if lines else []
                found = [line.split(",")[head.index("operators")] for line in lines[1:]]
                if run.returncode != 0 or found != [kernel]:
                    problems.append(f"{kernel}, {form}: {cell}: {found or run.stderr.strip()[:300]}")
    print(f"{checked} spellings, {len(problems)} problems")
    for p in problems:
        print("PROBLEM", p)
    return 1 if problems or checked < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
