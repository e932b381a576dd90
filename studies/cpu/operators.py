#!/usr/bin/env python3
"""Times single operators in ONNX Runtime's CPU provider by its own profile: what operators.csv has.

usage: taskset -c 1 chrt -f 50 python operators.py --threads 1 -o operators.csv     needs onnx, onnxruntime, numpy

A row per node that the session runs for a case, those that convert layouts among them; us is the median.
"""
import argparse
import collections
import csv
import json
import os
import statistics
import tempfile
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(0)
SECONDS, REST_S = 0.06, 0.05    # of runs of a case; others have the machine in between


def floats(*shape):
    return (RANDOM.standard_normal(shape) * 0.1).astype(np.float32)


def model(op: str, inputs: list, weights: dict, **attributes) -> bytes:
    """One call; `inputs`: (name, element type, shape), before the weights."""
    node = helper.make_node(op, [*(name for name, _, _ in inputs), *weights], ["y"], **attributes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(w, name) for name, w in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString()


def convolution(batch, inputs, outputs, window, stride, size, groups=1):
    high, wide = window if isinstance(window, tuple) else (window, window)
    pads = [high // 2, wide // 2] * 2 if wide < stride or wide % 2 else [0] * 4
    text = f"{batch}x{inputs}x{size}x{size} to {outputs}, {high}x{wide}, stride {stride}, groups {groups}"
    return text, model("Conv", [("x", TensorProto.FLOAT, [batch, inputs, size, size])],
                       {"w": floats(outputs, inputs // groups, high, wide), "b": floats(outputs)},
                       kernel_shape=[high, wide], strides=[stride] * 2, pads=pads, group=groups)


def convolutions():
    for b in (1, 4):
        for c, size in ((16, 112), (24, 56), (32, 112), (64, 56), (128, 28), (256, 14), (512, 7), (48, 28), (20, 28),
                        (96, 56), (160, 14)):
            yield convolution(b, c, c, 3, 1, size)
        for c, o, size in ((3, 32, 224), (32, 64, 112), (64, 128, 56), (128, 256, 28), (3, 16, 224)):
            yield convolution(b, c, o, 3, 2, size)
        for case in ((3, 64, 7, 2, 224), (3, 96, 4, 4, 224), (3, 192, 16, 16, 224), (3, 16, 3, 1, 112),
                     (96, 192, 2, 2, 28), (128, 256, 1, 2, 28), (16, 32, 5, 1, 28), (192, 192, (1, 7), 1, 17),
                     (192, 192, (7, 1), 1, 17)):
            yield convolution(b, *case)
        for c, o, size in ((16, 96, 112), (96, 24, 56), (24, 144, 56), (64, 256, 56), (256, 64, 56), (128, 512, 28),
                           (512, 2048, 7), (1024, 256, 14), (40, 120, 28), (960, 160, 7), (2048, 512, 7), (480, 20, 1),
                           (20, 480, 1), (256, 255, 13), (18, 36, 28), (64, 64, 14), (256, 256, 1)):
            yield convolution(b, c, o, 1, 1, size)
        for window, stride, c, size in ((3, 1, 32, 112), (3, 2, 96, 112), (3, 1, 144, 56), (3, 1, 192, 28),
                                        (3, 1, 384, 14), (3, 1, 960, 7), (5, 1, 120, 28), (5, 2, 240, 28),
                                        (5, 1, 672, 14), (7, 1, 96, 56), (7, 1, 384, 14), (3, 1, 24, 56),
                                        (3, 1, 40, 28), (3, 2, 72, 56), (9, 1, 64, 28), (3, 1, 18, 28)):
            yield convolution(b, c, c, window, stride, size, c)
        for c, groups, size in ((64, 8, 56), (64, 4, 56), (96, 4, 28), (128, 4, 28), (128, 32, 56), (256, 32, 28),
                                (512, 32, 14), (72, 3, 28), (320, 20, 14), (60, 5, 28)):
            yield convolution(b, c, c, 3, 1, size, groups)
    for b, c, o, size in ((1, 64, 32, 56), (1, 256, 128, 16), (4, 64, 32, 56)):
        yield f"{b}x{c}x{size}x{size} to {o}, 2x2, stride 2", model(
            "ConvTranspose", [("x", TensorProto.FLOAT, [b, c, size, size])], {"w": floats(c, o, 2, 2), "b": floats(o)},
            kernel_shape=[2, 2], strides=[2, 2])


def products():
    cases = [(m, k, n) for m in (1, 2, 4, 8, 16, 49, 128, 197, 512, 784, 3136)
             for k, n in ((192, 576), (768, 768), (64, 256), (768, 3072), (3072, 768)) if m * k * n < 2e9]
    cases += [(m, k, n) for k, n in ((2048, 1000), (25088, 4096), (1280, 1000), (400, 10000), (1024, 1024))
              for m in (1, 4)]
    for m, k, n in cases:
        yield f"{m}x{k} by weights {k}x{n}", model("MatMul", [("x", TensorProto.FLOAT, [m, k])], {"w": floats(k, n)})
    for b, m, k, n in ((3, 197, 64, 197), (3, 197, 197, 64), (12, 128, 64, 128), (12, 128, 128, 64), (12, 512, 64, 512),
                       (192, 49, 32, 49), (192, 49, 49, 32), (8, 64, 16, 64), (8, 1, 64, 128), (32, 196, 16, 196),
                       (4, 196, 196, 32)):
        yield f"{b} times {m}x{k} by {k}x{n}", model("MatMul", [("x", TensorProto.FLOAT, [b, m, k]),
                                                                ("w", TensorProto.FLOAT, [b, k, n])], {})


def call(op, shape, weights=(), count=1, **attributes):
    named = {f"w{i}": w for i, w in enumerate(weights)}
    told = "".join(f", {k} {v}" for k, v in attributes.items())
    inputs = [(f"x{i}", TensorProto.FLOAT, list(shape)) for i in range(count)]
    others = "".join(f" by {list(w.shape)}" for w in weights)
    return f"{op} of {list(shape)}{others}{told}", model(op, inputs, named, **attributes)


def elementwise():
    for size in (1000, 30000, 300000, 3000000):
        for op in ("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Sqrt", "HardSwish", "HardSigmoid", "LeakyRelu", "Neg",
                   "Gelu"):
            yield call(op, (size,))
        for op in ("Add", "Mul", "Div", "Sub"):
            yield call(op, (size,), count=2)
        for op in ("Pow", "Mul"):
            yield call(op, (size,), [np.array(2, np.float32)])


def rows():
    for m, n in ((197, 768), (784, 96), (3136, 64), (49, 512), (128, 256), (12544, 32)):
        yield call("LayerNormalization", (1, m, n), [floats(n), floats(n)])
        yield call("Add", (1, m, n), [floats(n)])
        yield call("ReduceMean", (1, m, n), [np.array([-1])], keepdims=1)
    for m, n in ((1536, 128), (591, 197), (1, 1000), (9408, 49), (2364, 197), (64, 10000)):
        yield call("Softmax", (m, n), axis=-1)
    for shape in ((1, 197, 3, 64), (4, 197, 3, 64), (1, 128, 12, 64), (4, 128, 12, 64)):
        yield call("Transpose", shape, perm=[0, 2, 1, 3])
        yield call("Transpose", shape, perm=[0, 2, 3, 1])
    yield call("Transpose", (8, 8, 7, 7, 96), perm=[0, 2, 1, 3, 4])
    yield call("Transpose", (1, 197, 3, 3, 64), perm=[2, 0, 3, 1, 4])
    for n, width, count in ((30522, 256, 128), (10000, 400, 64)):
        yield f"Gather of {count} from {n}x{width}", model("Gather", [("x", TensorProto.FLOAT, [n, width]),
                                                                      ("i", TensorProto.INT64, [count])], {})


def planes():
    sizes = np.array([1, 1, 2, 2], np.float32)
    for c, size in ((64, 56), (256, 14), (960, 7), (32, 112)):
        for b in (1, 4):
            shape = (b, c, size, size)
            yield call("BatchNormalization", shape, [floats(c), floats(c), floats(c), np.abs(floats(c)) + 0.5])
            yield call("GlobalAveragePool", shape)
            yield call("MaxPool", shape, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
            yield call("AveragePool", shape, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
            yield call("MaxPool", shape, kernel_shape=[2, 2], strides=[2, 2])
            yield call("Mul", shape, [floats(1, c, 1, 1)])
            yield call("Transpose", shape, perm=[0, 2, 3, 1])
            yield call("Transpose", (b, size, size, c), perm=[0, 3, 1, 2])
            yield call("InstanceNormalization", shape, [floats(c), floats(c)])
            yield call("ReduceMean", shape, [np.array([2, 3])], keepdims=1)
            for mode in ("nearest", "linear"):
                yield call("Resize", shape, [np.zeros(0, np.float32), sizes], mode=mode)
            yield call("Concat", shape, count=2, axis=1)
            yield call("Slice", shape, [np.array([0]), np.array([c // 2]), np.array([1])])
            yield call("Slice", shape, [np.array([0]), np.array([size]), np.array([3]), np.array([2])])


def recurrences():
    for steps, b, width, units in ((64, 1, 400, 400), (64, 4, 400, 400), (100, 1, 256, 256), (100, 4, 1312, 256),
                                   (50, 1, 64, 64), (50, 1, 512, 512), (50, 8, 512, 512), (30, 1, 1024, 1024)):
        for op, gates, ways in (("LSTM", 4, 1), ("GRU", 3, 1), ("LSTM", 4, 2)):
            attributes = {"hidden_size": units} | ({"linear_before_reset": 1} if op == "GRU" else {})
            weights = {"w": floats(ways, gates * units, width), "r": floats(ways, gates * units, units),
                       "b": floats(ways, 2 * gates * units)}
            yield f"{steps} steps of {b}x{width}, {units} units, {ways} ways", model(
                op, [("x", TensorProto.FLOAT, [steps, b, width])], weights,
                direction="bidirectional" if ways == 2 else "forward", **attributes)


def profiled(serialized: bytes, threads: int, folder: str) -> list[tuple[str, float]]:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.enable_profiling, options.profile_file_prefix = True, os.path.join(folder, "profile")
    session = ort.InferenceSession(serialized, options, providers=["CPUExecutionProvider"])
    feed = {i.name: floats(*i.shape) if "float" in i.type else RANDOM.integers(0, 9, i.shape)
            for i in session.get_inputs()}
    for _ in range(2):
        start = time.perf_counter()
        session.run(None, feed)
    runs = int(min(60, max(5, SECONDS / (time.perf_counter() - start))))
    for _ in range(runs):
        session.run(None, feed)
    nodes = collections.OrderedDict()
    with open(session.end_profiling()) as f:
        for event in json.load(f):
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                nodes.setdefault((event["name"], event["args"]["op_name"]), []).append(event["dur"])
    return [(op, statistics.median(us[2:])) for (_, op), us in nodes.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("-o", "--output", required=True, help="rows are appended")
    args = parser.parse_args()
    ort.set_default_logger_severity(4)
    new = not os.path.exists(args.output)
    with open(args.output, "a", newline="") as f, tempfile.TemporaryDirectory() as folder:
        out = csv.writer(f, lineterminator="\n")
        if new:
            out.writerow(("case", "threads", "node", "us"))
        for cases in (convolutions, products, elementwise, rows, planes, recurrences):
            for text, serialized in cases():
                for op, us in profiled(serialized, args.threads, folder):
                    out.writerow((text, args.threads, op, us))
                time.sleep(REST_S)


if __name__ == "__main__":
    main()
