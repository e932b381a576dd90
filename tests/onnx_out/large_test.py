#!/usr/bin/env python3
"""Weights above protobuf's 2 GiB, and none: what `perfc opt -o` writes of a model with 2.4 GiB of external data loads in
onnxruntime and computes the same; so does, of zeros, what --strip-weights writes.

usage: large_test.py     not part of ./check: 8 GiB of disk, 10 GiB of memory
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import support  # noqa: E402

ROWS, COLUMNS, LAYERS = 20480, 10240, 3  # 0.8 GiB of float32 each


def make(folder: pathlib.Path) -> pathlib.Path:
    """A product, a slice of rows so that shapes chain, and so on; the weights hold few numbers that are not 0."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
    size = ROWS * COLUMNS * 4
    with open(folder / "weights.bin", "wb") as f:
        f.truncate(LAYERS * size)
        for layer in range(LAYERS):
            for row in range(0, ROWS, 997):
                f.seek(layer * size + row * COLUMNS * 4)
                f.write(np.random.default_rng(layer * ROWS + row).standard_normal(64).astype(np.float32).tobytes())
    nodes, value = [], "x"
    weights = []
    for layer in range(LAYERS):
        t = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS],
                        data_location=TensorProto.EXTERNAL)
        for key, what in (("location", "weights.bin"), ("offset", layer * size), ("length", size)):
            t.external_data.add(key=key, value=str(what))
        weights.append(t)
        nodes.append(helper.make_node("MatMul", [value, t.name], [f"p{layer}"]))
        nodes.append(helper.make_node("Concat", [f"p{layer}", f"p{layer}"], [f"c{layer}"], axis=1))
        value = f"c{layer}"
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, ROWS]) for n in ("x", value)]
    graph = helper.make_graph(nodes, "large", info[:1], info[1:], initializer=weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              str(folder / "large.onnx"))
    return folder / "large.onnx"


def work():
    import numpy as np

    import runs
    with tempfile.TemporaryDirectory(prefix="onnx_out") as name:
        source = make(pathlib.Path(name))
        written, stripped = pathlib.Path(name) / "out" / "out.onnx", pathlib.Path(name) / "stripped.onnx"
        written.parent.mkdir()
        for command in (["-o", written], ["--strip-weights", "-o", stripped]):
            subprocess.run([support.PERFC, "opt", source, *command], check=True)
        feed = {"x": np.random.default_rng(0).standard_normal((1, ROWS)).astype(np.float32)}
        results = [next(iter(runs.run(runs.session(str(f)), feed).values())) for f in (source, written, stripped)]
        bytes_of = {f.name: f.stat().st_size for f in (written, written.with_name("out.onnx.data"), stripped)}
        print(bytes_of)
        assert bytes_of["out.onnx.data"] > 2 << 30, "the weights are not in a file of their own"
        assert bytes_of["stripped.onnx"] < 10_000, "--strip-weights leaves weights"
        assert results[0].any(), "the original computes nothing"
        assert runs.difference(results[0], results[1], 0) is None, "the copy computes something else"
        assert not results[2].any(), "the weights are not zeros"
        problem = runs.checker_error(written)
        assert not problem, problem
        print("equal")


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
    else:
        sys.exit(subprocess.run([support.reference_python(), __file__, "--worker"], env=dict(os.environ)).returncode)
