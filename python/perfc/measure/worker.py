"""Runs one cell: in a process of its own, telling the parent when to look (perfc.isolate)."""
from __future__ import annotations

import contextlib
import dataclasses
import io
import pathlib
import tempfile
import time

from perfc import isolate
from .backend import Backend, PeakMemory
from .cells import SESSION, Cell
from .protocol import Protocol, measure

IDLE_SECONDS = 2.0
SEED = 0


def make_backend(name: str, threads: int | None) -> Backend:
    if name == "cuda":
        from .cuda import CudaBackend
        return CudaBackend()
    from .cpu import CpuBackend
    return CpuBackend(threads)


def idle_power(caller: isolate.Caller, backend_name: str) -> float | None:
    """W with an open context and nothing to do."""
    backend = make_backend(backend_name, None)
    backend.open()
    time.sleep(0.5)  # clocks settle
    start, before = time.perf_counter(), backend.energy_j()
    time.sleep(IDLE_SECONDS)
    after, end = backend.energy_j(), time.perf_counter()
    return None if before is None or after is None else (after - before) / (end - start)


def run_cell(caller: isolate.Caller, entry, cell: Cell, protocol: Protocol, backend_name: str,
             threads: int | None) -> dict:
    """Columns of the cell's row that this process knows; the parent's samples join them (session.py)."""
    return measure_cell(caller, entry.model, cell, protocol, make_backend(backend_name, threads))


def measure_cell(caller, make_model, cell: Cell, protocol: Protocol, backend: Backend) -> dict:
    import torch
    backend.open()
    caller.tell("context")
    torch.manual_seed(SEED)
    model = make_model("cpu")
    in_session = cell.mode == SESSION
    step, tensors = (prepare_session if in_session else prepare)(model.module, model.inputs, cell, backend)
    backend.holds(tensors)
    backend.reset_peak()
    energies: list[float | None] = []
    seconds: list[float] = []

    def window(measure_it, attempt):
        caller.tell("start", attempt)
        before, start = backend.energy_j(), time.perf_counter()
        runs_ms = measure_it()
        end, after = time.perf_counter(), backend.energy_j()
        caller.tell("stop", attempt)
        energies.append(None if before is None or after is None else after - before)
        seconds.append(end - start)
        return runs_ms

    context = torch.inference_mode() if cell.task == "infer" else contextlib.nullcontext()
    with context:
        if cell.mode == "cuda-graph":
            step = backend.capture(step)
        timing = measure(lambda count: backend.time_runs(step, count), protocol, window)
        peak = PeakMemory() if in_session else backend.peak_memory(step)  # torch does not see its allocations
    versions = backend.versions()
    if in_session:
        import onnxruntime
        versions.onnxruntime = onnxruntime.__version__
    return {
        "latency_ms": timing.latency_ms(protocol),
        "latency_mean_ms": timing.mean_ms,
        "latency_median_ms": timing.median_ms,
        "latency_p95_ms": timing.p95_ms,
        "latency_std_ms": timing.std_ms,
        "spread_percent": 100 * timing.spread,
        "runs": len(timing.runs_ms),
        "attempts": timing.attempts,
        "attempt": timing.attempt,
        "window_s": seconds[timing.attempt],
        "window_j": energies[timing.attempt],
        "memory_allocated_mib": peak.allocated_mib,
        "memory_reserved_mib": peak.reserved_mib,
        "threads": torch.get_num_threads() if backend.name == "cpu" else None,
        **dataclasses.asdict(versions),
    }


def prepare(module, inputs, cell: Cell, backend: Backend):
    """What one run calls, and the tensors that live as long as it does."""
    import torch
    if inputs is None:
        raise ValueError(
            "example inputs are missing: let the factory return (module, inputs), or say input= in the list")
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(cell.dtype)
    training = cell.task == "train"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = cell.dtype == "tf32"
    module = module.train(training).to(backend.device)
    inputs = [_drawn(i).to(backend.device) if isinstance(i, torch.Tensor) else i for i in rebatched(inputs, cell.batch)]
    if half is not None:
        module = module.to(half)
        inputs = [i.to(half) if isinstance(i, torch.Tensor) and i.is_floating_point() else i for i in inputs]
    if cell.layout == "nhwc":
        module = module.to(memory_format=torch.channels_last)
        inputs = [
            i.contiguous(memory_format=torch.channels_last) if isinstance(i, torch.Tensor) and i.dim() == 4 else i
            for i in inputs
        ]
    forward = torch.compile(module) if cell.mode == "compiled" else module
    width = torch.float16 if backend.device == "cuda" else torch.bfloat16
    cast = (lambda: torch.autocast(torch.device(backend.device).type, dtype=width)
           ) if cell.dtype == "amp" else contextlib.nullcontext
    tensors = [*module.parameters(), *module.buffers(), *(i for i in inputs if isinstance(i, torch.Tensor))]
    if not training:
        def infer():
            with cast():
                return forward(*inputs)
        infer.inputs = inputs
        return infer, tensors
    parameters = [p for p in module.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError("no parameter to train")
    optimizer = torch.optim.Adam(parameters, capturable=cell.mode == "cuda-graph")

    def train():
        optimizer.zero_grad(set_to_none=True)
        with cast():
            loss = loss_of(forward(*inputs))
        loss.backward()
        optimizer.step()
    return train, tensors


def prepare_session(module, inputs, cell: Cell, backend: Backend):
    """The same in ONNX Runtime on the CPU, with as many threads as torch has."""
    import torch
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise ValueError("the package onnxruntime is not installed: pip install onnxruntime") from None
    step, tensors = prepare(module, inputs, dataclasses.replace(cell, mode="eager"), backend)
    inputs = [i for i in step.inputs if isinstance(i, torch.Tensor)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.onnx"
        with contextlib.redirect_stdout(io.StringIO()):
            torch.onnx.export(module, tuple(step.inputs), str(file), dynamo=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    feed = {wanted.name: i.numpy() for wanted, i in zip(session.get_inputs(), inputs, strict=True)}
    return lambda: session.run(None, feed), tensors


def rebatched(inputs, batch: int) -> list:
    """The examples repeated along their first dim: `batch` times what one of them holds; 0 leaves them as they are."""
    import torch
    tensors = [i for i in inputs if isinstance(i, torch.Tensor) and i.dim() > 0]
    if batch == 0 or not tensors:
        return list(inputs)
    own = tensors[0].size(0)
    if batch % own:
        raise ValueError(f"the example inputs have a batch of {own}; batch {batch} is not a multiple")
    return [
        i.repeat(batch // own, *[1] *
                 (i.dim() - 1)) if isinstance(i, torch.Tensor) and i.dim() > 0 and i.size(0) == own else i
        for i in inputs
    ]


def _drawn(tensor):
    """Numbers of a real run's kind, for zeros cost less power; whole numbers index something and stay."""
    import torch
    return torch.randn_like(tensor) if tensor.is_floating_point() else tensor


def loss_of(output):
    """A number that depends on all of the output."""
    import torch
    if isinstance(output, torch.Tensor):
        return output.float().mean() if output.is_floating_point() else 0
    values = output.values() if isinstance(output, dict) else output if isinstance(output, (list, tuple)) else ()
    return sum(loss_of(v) for v in values)
