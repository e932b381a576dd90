#!/usr/bin/env python3
"""What the onnx package's own shape inference makes of the corpus.

usage: oracle.py OUTPUT.jsonl FILE...      (run by corpus_test.py in build/venv)

One JSON line per file: {"file", "status": "ok" | "error" | "timeout", "message",
"values", "static", "types": {value name: type}, "nodes": [output names per node],
"flat": no control flow and no functions}. Types are spelled as perfc prints them.
Counted are the tensors that infer_shapes(strict_mode, data_prop) types: value_info
and outputs of the main graph.
"""
import json
import multiprocessing
import sys

TIMEOUT_S = 20
WORKERS = 2
DTYPES = {"FLOAT": "float32", "DOUBLE": "float64"}  # the others are ONNX's name in lower case


def spell(proto, onnx) -> str:
    """The type as perfc prints it, unknown dims as '?'."""
    kind = proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        t = getattr(proto, kind)
        name = onnx.TensorProto.DataType.Name(t.elem_type)
        dtype = DTYPES.get(name, name.lower())
        head = "Tensor" if kind == "tensor_type" else "SparseTensor"
        if not t.HasField("shape"):
            return f"{head}[*, {dtype}]"
        dims = [str(d.dim_value) if d.HasField("dim_value") else "?" for d in t.shape.dim]
        return f"{head}[({', '.join(dims)}{',' if len(dims) == 1 else ''}), {dtype}]"
    if kind == "sequence_type":
        return f"Sequence[{spell(proto.sequence_type.elem_type, onnx)}]"
    if kind == "optional_type":
        return f"Optional[{spell(proto.optional_type.elem_type, onnx)}]"
    return kind or "none"


def is_static(text: str) -> bool:
    return text.startswith("Tensor") and "?" not in text and "*" not in text


def load(path, onnx):
    if path.endswith(".onnxtxt"):
        from google.protobuf import text_format
        model = onnx.ModelProto()
        with open(path) as f:
            text_format.Parse(f.read(), model)
        return model
    return onnx.load(path, load_external_data=False)


def infer(path: str) -> dict:
    import onnx
    out = {"file": path}
    try:
        model = load(path, onnx)
        inferred = onnx.shape_inference.infer_shapes(model, check_type=False, strict_mode=True, data_prop=True)
    except Exception as e:  # the reference may raise anything
        return out | {"status": "error", "message": str(e)[:500]}
    graph = inferred.graph
    types = {v.name: spell(v.type, onnx) for v in [*graph.value_info, *graph.output]}
    flat = not model.functions and not any(
        a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for n in graph.node for a in n.attribute)
    tensors = [t for t in types.values() if t.startswith("Tensor")]
    return out | {"status": "ok", "values": len(tensors), "static": sum(map(is_static, tensors)), "types": types,
                  "nodes": [list(n.output) for n in graph.node], "flat": flat}


def worker(connection):
    """Answers one path after the other until told to stop."""
    while (path := connection.recv()) is not None:
        connection.send(infer(path))


class Worker:
    """A process that can be given up on."""

    def __init__(self):
        self.process = None

    def run(self, path: str) -> dict:
        if self.process is None:
            self.connection, theirs = multiprocessing.Pipe()
            self.process = multiprocessing.Process(target=worker, args=(theirs,), daemon=True)
            self.process.start()
            theirs.close()
        try:
            self.connection.send(path)
            if self.connection.poll(TIMEOUT_S):
                return self.connection.recv()
            status = {"file": path, "status": "timeout", "message": f"no answer in {TIMEOUT_S} s"}
        except (EOFError, OSError):
            status = {"file": path, "status": "error", "message": "the process died"}
        self.process.kill()
        self.process.join()
        self.process = None
        return status


def main():
    from concurrent.futures import ThreadPoolExecutor
    import threading
    output, files = sys.argv[1], sys.argv[2:] or sys.stdin.read().splitlines()
    mine = threading.local()

    def run(path):
        if not hasattr(mine, "worker"):
            mine.worker = Worker()
        return mine.worker.run(path)

    with ThreadPoolExecutor(WORKERS) as pool, open(output, "w") as f:
        for line in pool.map(run, files):
            f.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
