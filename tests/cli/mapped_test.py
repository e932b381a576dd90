"""The weights of a model file cost no memory, also where the file was just written.

    python3 tests/cli/mapped_test.py PERFC

A file that was just written lies in the page cache in folios of up to 2 MiB, of which Linux 6.18
maps all when one byte is read. An ONNX model and a frozen TensorFlow graph of 96 MiB are written
here, and perfc may take 48 MiB for each.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LAYERS, WIDTH = 96, 512
WEIGHT, BIAS = bytes(4 * WIDTH * WIDTH), bytes(4 * WIDTH)
LIMIT_MIB = 48
FLOAT = 1  # ONNX and TensorFlow agree on it


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, *parts):
    data = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def onnx_model():
    def value(field, name):
        dims = message(1, number(1, 1)) + message(1, number(1, WIDTH))
        return message(field, message(1, name), message(2, message(1, number(1, FLOAT), message(2, dims))))

    def tensor(name, dims, data):
        return message(5, *(number(1, d) for d in dims), number(2, FLOAT), message(8, name), message(9, data))

    def node(op, *names):
        return message(1, *(message(1, name) for name in names[:-1]), message(2, names[-1]), message(4, op))

    graph = []
    for i in range(LAYERS):
        graph += [node("MatMul", f"x{i}", f"w{i}", f"y{i}"), node("Add", f"y{i}", f"b{i}", f"x{i + 1}")]
    graph.append(message(2, "layers"))
    for i in range(LAYERS):
        graph += [tensor(f"w{i}", (WIDTH, WIDTH), WEIGHT), tensor(f"b{i}", (WIDTH,), BIAS)]
    return number(1, 8) + message(7, *graph, value(11, "x0"), value(12, f"x{LAYERS}")) + message(8, number(2, 17))


def tensorflow_graph():
    def attribute(key, *value):
        return message(5, message(1, key), message(2, *value))

    def shape(*dims):
        return b"".join(message(2, number(1, d)) for d in dims)

    def node(name, op, inputs, *attributes):
        return message(1, message(1, name), message(2, op), *(message(3, i) for i in inputs), *attributes)

    def constant(name, dims, data):
        tensor = number(1, FLOAT) + message(2, shape(*dims)) + message(4, data)
        return node(name, "Const", [], attribute("dtype", number(6, FLOAT)), attribute("value", message(8, tensor)))

    of_floats = attribute("T", number(6, FLOAT))
    nodes = [
        node("x0", "Placeholder", [], attribute("dtype", number(6, FLOAT)),
             attribute("shape", message(7, shape(1, WIDTH))))
    ]
    for i in range(LAYERS):
        nodes += [
            constant(f"w{i}", (WIDTH, WIDTH), WEIGHT),
            constant(f"b{i}", (WIDTH,), BIAS),
            node(f"y{i}", "MatMul", [f"x{i}", f"w{i}"], of_floats),
            node(f"x{i + 1}", "BiasAdd", [f"y{i}", f"b{i}"], of_floats)
        ]
    return b"".join(nodes)


def main():
    if len(sys.argv) == 3:  # in a process of its own: a child's peak memory starts at that of its parent
        folder = pathlib.Path(sys.argv[2])
        (folder / "model.onnx").write_bytes(onnx_model())
        (folder / "graph.pb").write_bytes(tensorflow_graph())
        return 0
    perfc = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory(dir=pathlib.Path(perfc).parent) as folder:
        subprocess.run([sys.executable, __file__, perfc, folder], check=True)
        for path in sorted(pathlib.Path(folder).iterdir()):
            fresh = path.with_stem("fresh")
            with open(path, "rb") as source, open(fresh, "wb") as target:
                shutil.copyfileobj(source, target, 8 << 20)
            process = subprocess.Popen([perfc, fresh, "--json"], stdout=subprocess.PIPE)
            report = process.stdout.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            mib = usage.ru_maxrss / 1024
            good = process.returncode == 0 and "latency_ms" in report and mib <= LIMIT_MIB
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {path.name}: {fresh.stat().st_size >> 20} MiB just written, "
                  f"exit {process.returncode}, {mib:.1f} MiB (at most {LIMIT_MIB})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
