#!/usr/bin/env python3
"""How many kernels TorchInductor generates for a model on an A100, and how many library calls it makes; without a GPU.

usage: inductor.py [MODEL…] [--bf16] [--out FILE]      names of dispatch_models.py; all of them

--bf16: with all floats in bfloat16; into tests/dispatch/inductor-bf16.tsv, else inductor.tsv.

What `dispatch_record.py` exports is compiled on fake tensors that say they are on "cuda", as torch.compile does for
inference, up to the Python program that would launch the kernels: its calls of kernels, of extern_kernels and of
torch.ops are counted. Nothing is built or run. Left out are what TorchInductor decides by timing kernels: pads of
products' operands (shape_padding) and templates of Triton's (max_autotune).

Needs torch 2.13 (any build), triton and what dispatch.py needs. A model takes some 10 s.
"""
import argparse
import contextlib
import pathlib
import re
import signal
import sys
import tempfile
import types
import warnings
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python"), str(ROOT / "tests" / "torch")]
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch._dynamo import device_interface  # noqa: E402
from torch._guards import TracingContext, tracing  # noqa: E402
from torch._inductor import compile_fx, config, graph  # noqa: E402
from torch._inductor.fx_passes import joint_graph, post_grad  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402
from torch.fx.experimental.symbolic_shapes import ShapeEnv  # noqa: E402

import dispatch  # noqa: E402
import dispatch_models  # noqa: E402
import dispatch_record  # noqa: E402

SECONDS = 240  # a model
A100 = types.SimpleNamespace(
    name="NVIDIA A100-SXM4-40GB", major=8, minor=0, multi_processor_count=108, regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32, total_memory=40 << 30,
    shared_memory_per_block=49152, shared_memory_per_block_optin=166912, L2_cache_size=40 << 20, gcnArchName="")


class Written(Exception):
    """The program is there; what would build it need not run."""


def as_an_a100() -> None:
    """What torch asks a device."""
    joint_graph.lazy_init()  # its patterns are traced on tensors, which there are none of on "cuda"
    post_grad.lazy_init()
    joint_graph.lazy_init = post_grad.lazy_init = lambda *args, **options: None
    dispatch.as_cuda_builds()
    answers = {
        "is_available": True, "is_initialized": True, "_lazy_init": None, "device_count": 1, "current_device": 0,
        "get_device_properties": A100, "get_device_capability": (A100.major, A100.minor), "get_device_name": A100.name,
        "_exchange_device": 0, "_maybe_exchange_device": 0, "synchronize": None, "is_bf16_supported": True,
        "current_stream": types.SimpleNamespace(stream_id=0, device_index=0, device_type=1, cuda_stream=0),
        "get_arch_list": ["sm_80"], "is_current_stream_capturing": False,
        "get_rng_state": torch.zeros(16, dtype=torch.uint8), "set_rng_state": None
    }
    cuda, interface = torch.cuda, device_interface.CudaInterface
    for name, value in answers.items():
        setattr(cuda, name, lambda *args, value=value, **options: value)
    torch.version.cuda = "13.0"
    torch._C._cuda_getDevice = lambda: 0
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    for name in ("current_device", "device_count", "get_device_properties", "synchronize", "is_bf16_supported",
                 "current_stream"):
        setattr(interface, name, staticmethod(getattr(cuda, name)))
    for name in ("exchange_device", "maybe_exchange_device", "set_device", "get_raw_stream"):
        setattr(interface, name, staticmethod(lambda device: 0))
    interface.Worker.current_device = staticmethod(cuda.current_device)
    interface.Worker.get_device_properties = staticmethod(cuda.get_device_properties)
    interface.is_triton_capable = staticmethod(lambda device=None: True)
    interface.device = lambda *args: contextlib.nullcontext()

    import triton
    from triton.backends.compiler import GPUTarget
    driver = types.SimpleNamespace(get_current_target=lambda: GPUTarget("cuda", 80, 32), get_current_device=lambda: 0,
                                   get_current_stream=lambda device=0: 0, is_active=lambda: True)
    triton.runtime.driver._default = triton.runtime.driver._active = driver

    folder = joint_graph.UniformValueConstantFolder
    deduce = folder._deduce_value

    def on_the_host(self, node):
        """Constants of one value are computed where there are tensors."""
        options = node.kwargs
        if getattr(options.get("device"), "type", "") == "cuda":
            node.kwargs = {**options, "device": torch.device("cpu")}
        try:
            value = deduce(self, node)
        finally:
            node.kwargs = options
        return self.unknown_value if isinstance(value, FakeTensor) else value

    folder._deduce_value = on_the_host


def program_of(module, inputs) -> str:
    """The Python program that TorchInductor writes for module(*inputs)."""
    written = []

    def write(self, *_):
        code = self.codegen()[0]
        written.append(getattr(code, "value", code))
        raise Written

    fake = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    with fake:
        mover = dispatch.Mover("cuda", fake)
        module = mover.module(module)
        examples = [mover(i) for i in inputs]
    with mock.patch.object(graph.GraphLowering, "compile_to_module", write), dispatch.cudnn_formats(), \
            torch.no_grad(), tracing(TracingContext(fake)), \
            config.patch(compile_threads=1, shape_padding=False, force_disable_caches=True):
        try:
            compile_fx.compile_fx(module, examples)
        except Exception:
            if not written:
                raise
    return written[0]


def calls_of(program: str) -> tuple[int, int]:
    """Kernels that were generated, calls of libraries and of ATen's own kernels."""
    body = program[program.rindex("def call("):]
    return (len(re.findall(r"^\s*\w*triton_\w+\.run\(", body, re.M)),
            len(re.findall(r"^[^#\n]*\b(?:extern_kernels\.\w+|torch\.ops\.aten\.[\w.]+)\(", body, re.M)))


def counts(name: str, bf16: bool) -> tuple[int, int]:
    module, inputs = dispatch_models.build(name)
    if bf16:
        module, inputs = dispatch.in_bfloat16(module, inputs)
    with tempfile.TemporaryDirectory() as folder:
        _, program, failures = dispatch_record.export(name, module, inputs, pathlib.Path(folder), ("pt2",))
    if not program:
        raise RuntimeError("; ".join(failures))
    torch._dynamo.reset()
    return calls_of(program_of(dispatch.moved_program(*program), inputs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    args.out = args.out or ROOT / "tests" / "dispatch" / ("inductor-bf16.tsv" if args.bf16 else "inductor.tsv")
    as_an_a100()

    def stop(*_):
        raise dispatch_record.TooSlow(f"not done after {SECONDS} s")

    signal.signal(signal.SIGALRM, stop)
    rows = {}
    if args.out.exists():
        rows = {line.split("\t")[0]: line for line in args.out.read_text().splitlines()[1:]}
    for name in args.models or sorted(dispatch_models.MODELS):
        signal.alarm(SECONDS)
        try:
            generated, libraries = counts(name, args.bf16)
            rows[name] = f"{name}\t{generated}\t{libraries}"
            print(rows[name], flush=True)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).strip().splitlines()[0][:160]}", file=sys.stderr)
        signal.alarm(0)
    args.out.write_text("\n".join(["model\tgenerated\tlibraries"] + [rows[n] for n in sorted(rows)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
