#!/usr/bin/env python3
"""Models above protobuf's 2 GiB: `perfc opt -o` copies their weights in pieces, to one file beside the model.

usage: large_test.py [PERFC]

A table of 2.3 GiB (a sparse file: zeros but for some rows) and two products, as a model with external data. Held to:
- written into another folder, onnx.checker passes by path and onnxruntime computes what it does for the original;
- written into the same folder, the reference stays and nothing is copied;
- the program runs in MOST bytes of address space (RLIMIT_AS), so that it neither loads nor maps them;
- where the file system is full (RLIMIT_FSIZE) or the folder is read-only, nothing is left and an older output stays.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import support  # noqa: E402

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper
except ImportError:
    python = support.reference_python()
    if pathlib.Path(sys.executable) != pathlib.Path(python):
        os.execv(python, [python, *sys.argv])
    raise

ROWS, WIDTH = 620_000, 1000  #: float32: 2.31 GiB
MOST = 512 << 20             #: bytes of address space
FREE = 8 << 30               #: bytes of disk, should a file system fill holes
FULL = 1 << 28               #: bytes after which a file cannot grow
READ = [0, 7, 311_111, ROWS - 1]  #: rows that have numbers, and are looked up


def external(name, dims, offset):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    length = 4 * int(np.prod(dims))
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor, offset + length


def write_model(folder):
    folder.mkdir()
    rng = np.random.default_rng(0)
    table, behind = external("table", [ROWS, WIDTH], 0)
    first, behind = external("first", [WIDTH, 64], behind)
    second, end = external("second", [64, 16], behind)
    with open(folder / "weights.bin", "wb") as file:
        for row in READ:
            file.seek(4 * WIDTH * row)
            file.write(rng.standard_normal(WIDTH, np.float32).tobytes())
        file.seek(4 * WIDTH * ROWS)
        file.write(rng.standard_normal(WIDTH * 64 + 64 * 16, np.float32).tobytes())
        assert file.tell() == end
    nodes = [helper.make_node("Gather", ["table", "rows"], ["x"]), helper.make_node("MatMul", ["x", "first"], ["y"]),
             helper.make_node("Relu", ["y"], ["r"]), helper.make_node("MatMul", ["r", "second"], ["z"])]
    graph = helper.make_graph(nodes, "large", [helper.make_tensor_value_info("rows", TensorProto.INT64, [4])],
                              [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4, 16])],
                              [table, first, second])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def outputs(path):
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"rows": np.array(READ, np.int64)})[0]


def convert(perfc, model, out, limit=None):
    """(exit code, messages, seconds, peak bytes, which are this program's before the other one starts, or more)"""
    begin = time.monotonic()

    def before():
        resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = subprocess.Popen([perfc, "opt", str(model), "-o", str(out)], stderr=subprocess.PIPE, preexec_fn=before)
    messages = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, messages.strip(), time.monotonic() - begin, usage.ru_maxrss * 1024


def check(perfc, folder):
    model = write_model(folder / "source")
    expected = outputs(model)
    other = folder / "other"
    other.mkdir()
    out = other / "out.onnx"
    code, messages, seconds, peak = convert(perfc, model, out)
    print(f"other folder: {seconds:.1f} s, peak {peak / 2**20:.0f} MiB, files "
          f"{ {f.name: f.stat().st_size for f in sorted(other.iterdir())} }")
    if code or messages:
        yield f"exits with {code}: {messages}"
        return
    if sorted(f.name for f in other.iterdir()) != ["out.onnx", "out.onnx.data"]:
        yield "other files than out.onnx and out.onnx.data are there"
    onnx.checker.check_model(str(out))
    if not np.array_equal(outputs(out), expected) or not expected.any():
        yield "onnxruntime computes something else for the output"

    beside = model.parent / "out.onnx"
    code, messages, seconds, peak = convert(perfc, model, beside)
    print(f"same folder: {seconds:.1f} s, peak {peak / 2**20:.0f} MiB")
    if code or (model.parent / "out.onnx.data").exists() or not np.array_equal(outputs(beside), expected):
        yield f"in the same folder: exits with {code}, or copies weights, or computes something else: {messages}"

    old = {f.name: (f.stat().st_ino, f.stat().st_size) for f in other.iterdir()}
    code, messages, *_ = convert(perfc, model, out, FULL)
    print(f"full: exits with {code}: {messages}")
    if code != 1 or "out.onnx.data: cannot write" not in messages:
        yield f"a file that cannot grow: exits with {code}: {messages}"
    if {f.name: (f.stat().st_ino, f.stat().st_size) for f in other.iterdir()} != old:
        yield "a file that cannot grow: the older output did not stay as it was, or something was left"
    empty = folder / "empty"
    empty.mkdir()
    code, messages, *_ = convert(perfc, model, empty / "missing" / "out.onnx")
    if code != 1 or list(empty.iterdir()):
        yield f"a folder that is not there: exits with {code}: {messages}"


def main():
    perfc = sys.argv[1] if len(sys.argv) > 1 else str(support.PERFC)
    with tempfile.TemporaryDirectory() as name:
        if shutil.disk_usage(name).free < FREE:
            support.skip(f"{name} has less than {FREE >> 30} GiB free")
        problems = list(check(perfc, pathlib.Path(name)))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
