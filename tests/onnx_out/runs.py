"""What onnxruntime computes for a model, and whether perfc's output computes the same."""
import pathlib
import subprocess
import zlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(4)
MOST_BYTES = 64 << 20       # of weights that are made at random, and of inputs
UNKNOWN_DIM = 2             # what open dims of inputs are bound to
SECONDS = 60
PIPELINES = {
    "none": "none",
    "eager": None,          # the default of perfc opt
    "compiled": "bind-shapes,rebatch,fold-constants,simplify-control-flow,eliminate-dead,eliminate-identity,"
                "unflatten-products,recognise-patterns,fold-batch-norm,common-subexpressions,filter-operators",
}
NO_NUMPY = {TensorProto.STRING, *range(16, 30)}  # onnxruntime hands them out as bytes
NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16)


def rng(name: str):
    return np.random.default_rng(zlib.crc32(name.encode()))


def random_tensor(name: str, shape, dtype, weight: bool):
    return np.asarray(random_elements(name, shape, dtype, weight))


def random_elements(name: str, shape, dtype, weight: bool):
    r = rng(name)
    if dtype == np.bool_:
        return r.random(shape) < 0.5
    if np.issubdtype(dtype, np.floating):
        if weight and "var" in name:
            return np.asarray(0.5 + r.random(shape)).astype(dtype)
        scale = (2 / max(1, int(np.prod(shape[1:])))) ** 0.5 if weight and len(shape) > 1 else 1
        return np.asarray(r.standard_normal(shape) * scale).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return np.asarray(r.integers(0, 2, shape)).astype(dtype)
    raise ValueError(f"no random {dtype}")


def has_contents(t) -> bool:
    if t.data_location == TensorProto.EXTERNAL:
        return False
    count = int(np.prod(t.dims)) if t.dims else 1
    return count == 0 or bool(t.raw_data or t.float_data or t.int32_data or t.int64_data or t.double_data
                              or t.uint64_data or t.string_data)


def graphs(graph):
    yield graph
    for node in graph.node:
        for a in node.attribute:
            for g in ([a.g] if a.type == onnx.AttributeProto.GRAPH else a.graphs):
                yield from graphs(g)


def fill(model) -> bool:
    """Gives weights that the file does not have random contents; False: they are too big."""
    total = 0
    for g in graphs(model.graph):
        tensors = list(g.initializer) + [a.t for n in g.node if n.op_type == "Constant" for a in n.attribute
                                         if a.type == onnx.AttributeProto.TENSOR]
        for t in tensors:
            if has_contents(t):
                continue
            dtype = helper.tensor_dtype_to_np_dtype(t.data_type)
            total += int(np.prod(t.dims)) * dtype.itemsize
            if total > MOST_BYTES:
                return False
            name, dims = t.name, list(t.dims)
            filled = numpy_helper.from_array(random_tensor(name or "constant", dims, dtype, True), name)
            t.CopyFrom(filled)
            t.data_location = TensorProto.DEFAULT
    return True


def inputs_of(model, dims: dict) -> dict:
    known = {t.name for t in model.graph.initializer}
    out = {}
    for i in model.graph.input:
        if i.name in known:
            continue
        if not i.type.HasField("tensor_type"):
            raise ValueError("an input is no tensor")
        tensor = i.type.tensor_type
        shape = [dims.setdefault(d.dim_param, UNKNOWN_DIM) if d.dim_param else
                 d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else UNKNOWN_DIM for d in tensor.shape.dim]
        if int(np.prod(shape)) * 8 > MOST_BYTES:
            raise ValueError("an input is too big")
        out[i.name] = random_tensor(i.name, shape, helper.tensor_dtype_to_np_dtype(tensor.elem_type), False)
    return out


def session(data: bytes | str):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(s, feed: dict) -> dict:
    wanted = {i.name for i in s.get_inputs()}
    names = [o.name for o in s.get_outputs()]
    return dict(zip(names, s.run(names, {k: v for k, v in feed.items() if k in wanted})))


def narrow(model) -> bool:
    """Does it compute with 16 bits or fewer? Then rounding decides how near results can be."""
    text = {"QuantizeLinear", "QLinearConv", "QLinearMatMul", "DynamicQuantizeLinear", "MatMulNBits",
            "DequantizeLinear"}
    types = {t.data_type for g in graphs(model.graph) for t in g.initializer}
    types |= {v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]}
    casts = {a.i for g in graphs(model.graph) for n in g.node for a in n.attribute if a.name in ("to", "dtype")}
    return bool((types | casts) & set(NARROW)) or any(n.op_type in text for g in graphs(model.graph) for n in g.node)


def difference(a, b, tolerance) -> str | None:
    if isinstance(a, list) or isinstance(b, list):
        if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
            return "sequences of different lengths"
        return next((d for x, y in zip(a, b) if (d := difference(x, y, tolerance))), None)
    if isinstance(a, dict) or a is None or b is None:
        return None if a == b else "different"
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}"
    if a.dtype.kind not in "fc":
        wrong = a != b
        return f"{int(wrong.sum())} of {a.size} elements differ" if wrong.any() else None
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = a[np.isfinite(a)]
    scale = float(np.abs(finite).max()) if finite.size else 0
    if np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
        return None
    with np.errstate(invalid="ignore"):
        worst = float(np.nanmax(np.abs(a - b)))
    return f"differ by {worst:.3g} of {scale:.3g}"


def perfc(binary, *args, timeout=SECONDS):
    p = subprocess.run([str(binary), *map(str, args)], capture_output=True, text=True, timeout=timeout,
                       errors="replace")
    return p.returncode, p.stderr


def error_of(stderr: str) -> str:
    line = next((x for x in stderr.splitlines() if "error: " in x), stderr.strip()[:200] or "no message")
    return line[line.find("error: ") + 7:]


def with_all_values(model):
    """Every typed value of the main graph as an output."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    have = {o.name for o in out.graph.output}
    produced = {o for n in out.graph.node for o in n.output}
    for v in model.graph.value_info:
        if v.name not in have and v.name in produced:
            out.graph.output.append(v)
    return out


def shape_flaws(model, values: dict) -> list[str]:
    """Declared types that contradict what was computed. A symbol stands for one number throughout."""
    flaws, symbols = [], {}
    for v in [*model.graph.input, *model.graph.value_info, *model.graph.output]:
        got = values.get(v.name)
        if not isinstance(got, np.ndarray) or not v.type.HasField("tensor_type"):
            continue
        tensor = v.type.tensor_type
        if tensor.elem_type not in NO_NUMPY and helper.tensor_dtype_to_np_dtype(tensor.elem_type) != got.dtype:
            flaws.append(f"{v.name}: declared {TensorProto.DataType.Name(tensor.elem_type)}, is {got.dtype}")
        if not tensor.HasField("shape"):
            continue
        if len(tensor.shape.dim) != got.ndim:
            flaws.append(f"{v.name}: declared rank {len(tensor.shape.dim)}, is {list(got.shape)}")
            continue
        for axis, (d, n) in enumerate(zip(tensor.shape.dim, got.shape)):
            want = d.dim_value if d.HasField("dim_value") else symbols.setdefault(d.dim_param, n) if d.dim_param else n
            if want != n:
                flaws.append(f"{v.name}: dim {axis} declared {d.dim_param or d.dim_value} = {want}, is {n}")
    return flaws


def check(model_path: pathlib.Path):
    model = onnx.load(str(model_path), load_external_data=False)
    onnx.checker.check_model(str(model_path), full_check=True)
    return model


class Original:
    """The file with all its weights, and what onnxruntime makes of it. `why`: it makes nothing."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path):
        self.path, self.results, self.why, self.contradiction = folder / "original.onnx", None, None, None
        try:
            if path.suffix == ".onnxtxt":
                from google.protobuf import text_format
                model = text_format.Parse(path.read_text(), onnx.ModelProto())
            else:
                model = onnx.load(str(path), load_external_data=False)
            if not fill(model):
                raise ValueError("its weights are too big to be made")
            onnx.save(model, str(self.path))
        except Exception as e:  # noqa: BLE001: whatever a file does to onnx
            self.path, self.why, self.model = path, f"onnx: {e}", None
            return
        self.model = model
        self.tolerance = 2e-2 if narrow(model) else 1e-4
        try:
            self.feed = inputs_of(model, {})
            s = session(str(self.path))
            self.results = run(s, self.feed)
            again = run(s, self.feed)
            if flaws := shape_flaws(model, {**self.feed, **self.results}):
                self.contradiction = flaws[0]
            if any(difference(v, again[k], 0) for k, v in self.results.items()):
                self.why = "random"
        except Exception as e:  # noqa: BLE001
            self.why = f"onnxruntime: {str(e).splitlines()[0][:160]}"


    def is_valid(self) -> bool:
        try:
            onnx.checker.check_model(str(self.path), full_check=True)
        except Exception:  # noqa: BLE001
            return False
        return True


def outcome(original: Original, binary, out: pathlib.Path, passes: str | None) -> tuple[str, str]:
    """(status, detail): equal, checked (nothing to compare), or what is wrong."""
    args = ["opt", original.path, "-o", out] + (["--passes", passes] if passes else [])
    code, stderr = perfc(binary, *args)
    if code != 0:
        text = error_of(stderr)
        return ("no form" if "no form in ONNX" in text else "refused", text)
    missing = "are not in the source" in stderr
    try:
        model = onnx.load(str(out), load_external_data=False)
        onnx.checker.check_model(model if missing else str(out), full_check=True)
    except Exception as e:  # noqa: BLE001
        if not original.is_valid():
            return "checked", "the original does not pass the checker either"
        return "checker", str(e).strip().replace("\n", " ")[:300]
    if original.why:
        return "checked", original.why
    if missing:
        return "weights", error_of(stderr)
    try:
        s = session(str(out))
        got = run(s, original.feed)
    except Exception as e:  # noqa: BLE001
        return "onnxruntime", str(e).strip().replace("\n", " ")[:300]
    if original.contradiction:
        return "checked", f"its random inputs contradict the types of its results: {original.contradiction}"
    for name, value in original.results.items():
        if name not in got:
            return "differs", f"{name} is gone"
        if d := difference(value, got[name], original.tolerance):
            return "differs", f"{name}: {d}"
    try:
        values = run(session(with_all_values(model).SerializeToString()), original.feed)
    except Exception as e:  # noqa: BLE001
        return "equal", f"values: {str(e).splitlines()[0][:100]}"
    flaws = shape_flaws(model, {**original.feed, **values})
    return ("types", "; ".join(flaws[:3])) if flaws else ("equal", str(len(values)))
