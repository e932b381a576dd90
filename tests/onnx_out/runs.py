"""What onnxruntime computes for a model, and whether perfc's output computes the same."""
import dataclasses
import hashlib
import pathlib
import subprocess

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import feeds

ort.set_default_logger_severity(4)
SECONDS = 60
PIPELINES = {
    "none": "none",
    "eager": None,          # the default of perfc opt
    "compiled": "bind-shapes,rebatch,fold-constants,simplify-control-flow,eliminate-dead,eliminate-identity,"
                "unflatten-products,recognise-patterns,fold-batch-norm,common-subexpressions,filter-operators",
}
QUANTISED = {"QuantizeLinear", "QLinearConv", "QLinearMatMul", "DynamicQuantizeLinear", "MatMulNBits",
             "DequantizeLinear"}
NARROW = {TensorProto.FLOAT16, *feeds.WIDER}


def session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    data = model if isinstance(model, str) else model.SerializeToString()
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run(s, feed: dict) -> dict:
    wanted = {i.name for i in s.get_inputs()}
    names = [o.name for o in s.get_outputs()]
    return dict(zip(names, s.run(names, {k: v for k, v in feed.items() if k in wanted})))


def narrow(model) -> bool:
    """Does it compute with 16 bits or fewer? Then rounding decides how near results can be."""
    all_graphs = list(feeds.graphs(model.graph))
    types = {t.data_type for g in all_graphs for t in g.initializer}
    types |= {v.type.tensor_type.elem_type for v in [*model.graph.input, *model.graph.output]}
    types |= {a.i for g in all_graphs for n in g.node for a in n.attribute if a.name in ("to", "dtype")}
    return bool(types & NARROW) or any(n.op_type in QUANTISED for g in all_graphs for n in g.node)


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
        if helper.tensor_dtype_to_np_dtype(tensor.elem_type) != got.dtype:
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


def first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def checker_error(path: pathlib.Path | onnx.ModelProto) -> str:
    """What onnx.checker says against a model, its strict shape inference included."""
    try:
        onnx.checker.check_model(path if isinstance(path, onnx.ModelProto) else str(path), full_check=True)
    except Exception as e:  # noqa: BLE001: it throws several kinds
        return " ".join(str(e).split())[:300]
    return ""


class Original:
    """The file with all its weights, and what onnxruntime makes of it. `why`: it makes nothing."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path):
        self.path, self.feed, self.results, self.why, self.contradiction = folder / "original.onnx", {}, None, "", ""
        try:
            if path.suffix == ".onnxtxt":
                from google.protobuf import text_format
                model = text_format.Parse(path.read_text(), onnx.ModelProto())
            else:
                model = onnx.load(str(path), load_external_data=False)
            if not feeds.fill(model):
                raise ValueError("its weights are too big to be made")
            onnx.save(model, str(self.path))
        except Exception as e:  # noqa: BLE001: whatever a file does to onnx
            self.path, self.why, self.invalid = path, f"onnx: {first_line(e)}", checker_error(path)
            return
        self.tolerance = 2e-2 if narrow(model) else 1e-4
        self.invalid = checker_error(self.path)
        self.compute(model)

    def compute(self, model):
        """With the first inputs that the model's types allow, else with the first that it runs with."""
        try:
            model = feeds.accessible(model)
            s = session(model)
        except Exception as e:  # noqa: BLE001
            self.why = f"onnxruntime: {first_line(e)}"
            return
        for attempt in range(feeds.ATTEMPTS):
            try:
                feed = feeds.inputs_of(model, attempt)
                results = run(s, feed)
            except Exception as e:  # noqa: BLE001
                self.why = self.why or f"onnxruntime: {first_line(e)}"
                if isinstance(e, ValueError):
                    return
                continue
            flaws = shape_flaws(model, {**feed, **results})
            if self.results is None or not flaws:
                self.feed, self.results, self.contradiction = feed, results, flaws[0] if flaws else ""
            if not flaws:
                break
        if self.results is None:
            return
        self.why = ""
        again = run(s, self.feed)
        if any(difference(v, again[k], 0) for k, v in self.results.items()):
            self.results, self.why = None, "it draws random numbers"


@dataclasses.dataclass
class Outcome:
    """`status`: equal, computed (equal, but the types could not be looked at), checked (there is nothing to compare
    with), refused (does not import), or what is wrong: unwritten, checker, weights, onnxruntime, differs, types."""
    status: str
    detail: str = ""
    values: int = 0     # whose types were held against what was computed
    digest: str = ""    # of the file that was written


def outcome(original: Original, binary, out: pathlib.Path, passes: str | None, known: dict) -> Outcome:
    args = ["opt", original.path, "-o", out] + (["--passes", passes] if passes else [])
    code, stderr = perfc(binary, *args)
    if code != 0:
        imports = perfc(binary, "import", original.path)[0] == 0
        return Outcome("unwritten" if imports else "refused", error_of(stderr))
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    if digest not in known:
        known[digest] = of_output(original, out, "are not in the source" in stderr)
    return dataclasses.replace(known[digest], digest=digest)


def of_output(original: Original, out: pathlib.Path, missing: bool) -> Outcome:
    model = onnx.load(str(out), load_external_data=False)
    if invalid := checker_error(model if missing else out):
        return Outcome("checker", invalid)
    if original.results is None:
        return Outcome("checked", original.why)
    if missing:
        return Outcome("weights", "the contents of weights are gone")
    try:
        got = run(session(feeds.accessible(model)), original.feed)
    except Exception as e:  # noqa: BLE001
        return Outcome("onnxruntime", first_line(e))
    for name, value in original.results.items():
        if name not in got:
            return Outcome("differs", f"{name} is gone")
        if d := difference(value, got[name], original.tolerance):
            return Outcome("differs", f"{name}: {d}")
    if original.contradiction:
        return Outcome("computed", f"its inputs contradict its types: {original.contradiction}")
    try:
        wide = feeds.accessible(with_all_values(model))
        values = run(session(wide), original.feed)
    except Exception as e:  # noqa: BLE001
        return Outcome("computed", f"values: {first_line(e)[:100]}")
    flaws = shape_flaws(wide, {**original.feed, **values})
    return Outcome("types", "; ".join(flaws[:3])) if flaws else Outcome("equal", "", len(values))
