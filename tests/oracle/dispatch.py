#!/usr/bin/env python3
"""Which ATen calls eager PyTorch makes on CUDA for a model, found without a GPU.

usage: dispatch.py [--train | --amp | --bf16] [--views] MODEL…      names of dispatch_models.py

A module runs on fake tensors that say they are on "cuda" (nothing is computed, no memory is used) under a
TorchDispatchMode, which sees the calls below autograd: composite operators are already taken apart as
at::native does, so what is left is what a device's backend is asked to do, one call after the other. Prints
a JSON line per call: the overload, shapes and dtypes of operands and results, and, where the call launches no
kernel, why (`launches`). --train runs forward and backward of the sum of the outputs, on the meta device: the
autograd engine of a CPU build refuses CUDA streams.

What a CPU build decides unlike a CUDA build, because its tables have no CUDA entries, is put right here; one
place, each with its reason: see `as_cuda_builds`. What fake tensors do unlike tensors with data: `as_with_data`.

Needs torch 2.13 (any build) and a C++ compiler, for the eight lines of cuda_guard.cpp.
"""
import argparse
import contextlib
import ctypes
import json
import math
import pathlib
import subprocess
import sys
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]

import torch  # noqa: E402
from torch._prims_common import suggest_memory_format  # noqa: E402
from torch._subclasses.fake_impls import op_implementations_dict  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402
from torch.fx.experimental.symbolic_shapes import ShapeEnv  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

aten = torch.ops.aten

# ---------------------------------------------------------------------------------------------------------
# Which calls launch no kernel. Everything else counts as one call of the framework's, however many kernels
# its CUDA implementation launches.

#: Beside the rules of `launches`: overload packets that hand out memory or look at it, and why.
NO_KERNEL = {
    "empty": "allocates",
    "empty_like": "allocates",
    "empty_strided": "allocates",
    "new_empty": "allocates",
    "new_empty_strided": "allocates",
    "empty_permuted": "allocates",
    "resize_": "allocates",
    "set_": "re-points the storage",
    "_unsafe_view": "a view; its schema hides that",
    "_reshape_alias": "a view",
    "lift_fresh": "a view",
    "detach": "a view",
    "detach_": "a view",
    "alias": "a view",
    "_conj": "a flag",
    "_neg_view": "a flag",
    "_local_scalar_dense": "a transfer to the host",
    "lift_fresh_copy": "a constant, copied on the host",
    "_assert_tensor_metadata": "checks metadata",
    "_assert_scalar": "checks on the host",
    "sym_size": "looks at the shape",
    "sym_stride": "looks at the shape",
    "sym_numel": "looks at the shape",
    "sym_storage_offset": "looks at the shape",
    "is_same_size": "looks at the shape",
    "record_stream": "bookkeeping",
    "_cudnn_init_dropout_state": "once per process, at load",
}


def launches(func, inputs, outputs) -> str:
    """Why a call launches no kernel; "" if it does."""
    if func.namespace == "prim":
        return "looks at metadata"
    name = func._schema.name.split("::")[1]
    if name in NO_KERNEL:
        return NO_KERNEL[name]
    if torch.Tag.inplace_view in func.tags:
        return "a view, in place"
    returned = [r.alias_info for r in func._schema.returns]
    if returned and all(a is not None and not a.is_write for a in returned):
        return "a view"                                 # the schema says that the results share an operand's memory
    if outputs and all(isinstance(t.numel(), int) and t.numel() == 0 for t in outputs):
        return "nothing to compute"                     # at::native returns before it launches
    devices = {t.device.type for t in inputs + outputs}
    if "cpu" in devices:
        return "a transfer" if len(devices) > 1 and name in ("_to_copy",
                                                             "copy_") else "on the host" if devices == {"cpu"} else ""
    return ""


# ---------------------------------------------------------------------------------------------------------
# What a CUDA build does and a CPU build does not.

_libraries = []


def _below_autograd(op, *args, **kwargs):
    with torch._C._AutoDispatchBelowAutograd():
        return op(*args, **kwargs)


def _efficient_attention_fits(q, k, v, mask) -> bool:
    """at::native::transformers::cuda sdp_utils.cpp of 2.13, use_mem_efficient_attention on SM 8.0 and later. Shared
    heads (enable_gqa) it does not take."""
    if not q.dim() == k.dim() == v.dim() == 4 or q.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return False
    alignment = 16 // q.element_size()
    heads = q.shape[-1] == k.shape[-1] and q.shape[-1] % alignment == 0 and v.shape[-1] % alignment == 0
    same = q.shape[:2] == k.shape[:2] == v.shape[:2]
    lengths = q.shape[2] and k.shape[2]
    rows = all(t.stride(-1) == 1 for t in (q, k, v)) and (mask is None or mask.stride(-1) == 1)
    return bool(heads and same and lengths and rows)


def _flash_attention_fits(q, k, v, mask, is_causal, enable_gqa) -> bool:
    """use_flash_attention, there: 16 bits, no mask, heads of one width up to 256."""
    if not q.dim() == k.dim() == v.dim() == 4 or q.dtype not in (torch.float16, torch.bfloat16) or mask is not None:
        return False
    shared = enable_gqa and k.shape[1] == v.shape[1] and q.shape[1] % k.shape[1] == 0
    same = q.shape[0] == k.shape[0] == v.shape[0] and (shared or q.shape[1] == k.shape[1] == v.shape[1])
    heads = q.shape[-1] == k.shape[-1] == v.shape[-1] <= 256
    lengths = q.shape[2] and k.shape[2] and not (is_causal and q.shape[2] != k.shape[2])
    rows = all(t.stride(-1) == 1 or t.shape[-1] == 1 for t in (q, k, v))
    return bool(same and heads and lengths and rows)


def _flash_attention(q, k, v, dropout_p, is_causal, scale):
    """Heads are padded to whole 16 bytes (pad_last_dim<8>), the result is cut again."""
    head = q.shape[-1]
    if head % 8:
        q, k, v = (torch.nn.functional.pad(t, (0, 8 - head % 8)) for t in (q, k, v))
        scale = scale or head**-0.5
    return aten._scaled_dot_product_flash_attention(q, k, v, dropout_p, is_causal, scale=scale)[0][..., :head]


def _attention(q, k, v, mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    """at::native::scaled_dot_product_attention, with the backend that a CUDA build chooses on an A100."""
    if _flash_attention_fits(q, k, v, mask, is_causal, enable_gqa):
        return _flash_attention(q, k, v, dropout_p, is_causal, scale)
    fits = _efficient_attention_fits(q, k, v, mask)
    if mask is not None and mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, torch.scalar_tensor(-math.inf, dtype=q.dtype, device=q.device))
    if not fits:
        return aten._scaled_dot_product_attention_math(q, k, v, mask, dropout_p, is_causal, scale=scale,
                                                       enable_gqa=enable_gqa)[0]
    if mask is not None:  # preprocess_mask: rows of the mask in multiples of 8, else padded and cut again
        if any(s % 8 for s in mask.stride()[:-1]):
            length = mask.shape[-1]
            mask = torch.nn.functional.pad(mask, (0, 8 - length % 8))[..., :length]
        mask = mask.expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    grad = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad)
    return aten._scaled_dot_product_efficient_attention(q, k, v, mask, grad, dropout_p, is_causal, scale=scale)[0]


class _FusedRmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, shape, weight, eps):
        out, rstd = _below_autograd(aten._fused_rms_norm, x, shape, weight, eps)
        ctx.save_for_backward(x, rstd, weight)
        ctx.shape = shape
        ctx.mark_non_differentiable(rstd)
        return out, rstd

    @staticmethod
    def backward(ctx, grad, _):
        x, rstd, weight = ctx.saved_tensors
        needed = [ctx.needs_input_grad[0], weight is not None and ctx.needs_input_grad[2]]
        dx, dweight = aten._fused_rms_norm_backward(grad, x, ctx.shape, rstd, weight, needed)
        return dx, None, dweight, None


def _rms_norm(x, shape, weight=None, eps=None):
    return _FusedRmsNorm.apply(x, shape, weight, eps)


def _cudnn(mode):
    """at::native's RNN.cpp with cuDNN: one call for all layers and directions; flattened weights (module.cuda()
    flattens).

    With batch_first the result lies by steps and only its shape is transposed (aten/src/ATen/native/cudnn/RNN.cpp,
    _cudnn_rnn: output.transpose_(0, 1)), unlike the fake tensor's; what reads it must know.

    Autocast casts each weight into its place of a flat buffer (aten/src/ATen/cudnn/AutocastRNN.cpp).
    """
    def run(x, state, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        hidden, cell = (state[0], state[1]) if mode == 2 else (state, None)
        if torch.is_autocast_enabled("cuda") and x.device.type == "cuda":
            x, hidden = x.half(), hidden.half()
            cell = cell.half() if cell is not None else None
            weights = [w.half() for w in weights]
        per_layer = len(weights) // (num_layers * (2 if bidirectional else 1))
        projected = hidden.shape[-1] if per_layer in (3, 5) else 0
        width = cell.shape[-1] if cell is not None else hidden.shape[-1]
        buffer = x.new_empty(sum(w.numel() for w in weights))
        y, hy, cy, _, _ = aten._cudnn_rnn(x, weights, per_layer, buffer, hidden, cell, mode, width, projected,
                                          num_layers, batch_first, dropout, train, bidirectional, [], None)
        if batch_first:
            y = y.new_empty((y.shape[1], y.shape[0], y.shape[2])).transpose(0, 1)
        return (y, hy, cy) if mode == 2 else (y, hy)
    return run


def _cudnn_rnn_backward(x, weight, weight_stride0, weight_buf, hx, cx, output, grad_output, grad_hy, grad_cy, mode,
                        hidden_size, proj_size, num_layers, batch_first, dropout, train, bidirectional, batch_sizes,
                        dropout_state, reserve, output_mask):
    like = torch.empty_like
    return like(x), like(hx), like(cx) if cx is not None else None, [like(w) for w in weight]


def _convolution_format(original):
    """cudnn_conv_suggest_memory_format: data or weights that lie channels last make the result lie so, whichever
    kernel runs."""
    def run(x, weight, backend):
        if x.device.type not in ("cuda", "meta"):
            return original(x, weight, backend)
        last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(weight.ndim)
        kinds = {suggest_memory_format(x), suggest_memory_format(weight)} if x.ndim == weight.ndim else set()
        return last if last in kinds and torch.float64 not in (x.dtype, weight.dtype) else torch.contiguous_format
    return run


def cudnn_formats():
    """For as long as it lasts, convolutions' results lie as cuDNN writes them: builds without it say channels first."""
    name = "_conv_determine_backend_memory_format"
    return mock.patch.object(torch._C, name, _convolution_format(getattr(torch._C, name)))


def as_cuda_builds() -> None:
    """Registers, for CUDA and (training) meta tensors:

    - the choice of an attention backend: a CPU build has no stub for CUDA and falls to the math implementation;
    - F.rms_norm: one kernel on CUDA (_fused_rms_norm), taken apart where the build has no such kernel;
    - recurrent layers: cuDNN's call instead of step by step.
    """
    if _libraries:
        return
    library = torch.library.Library("aten", "IMPL")
    _libraries.append(library)
    for key in ("AutogradCUDA", "AutogradMeta", "CUDA"):
        library.impl("scaled_dot_product_attention", _attention, key)
        for name, mode in (("rnn_relu.input", 0), ("rnn_tanh.input", 1), ("lstm.input", 2), ("gru.input", 3)):
            library.impl(name, _cudnn(mode), key)
    for key in ("AutogradCUDA", "AutogradMeta"):
        library.impl("_fused_rms_norm", _rms_norm, key)
    library.impl("_cudnn_rnn_backward", _cudnn_rnn_backward, "Meta")
    folder = ROOT / "build" / "oracle"
    folder.mkdir(parents=True, exist_ok=True)
    shim, torch_folder = folder / f"cuda_guard-{torch.__version__}.so", pathlib.Path(torch.__file__).parent
    if not shim.exists():
        subprocess.run([
            "g++", "-std=c++20", "-shared", "-fPIC", f"-I{torch_folder / 'include'}",
            str(HERE / "cuda_guard.cpp"), "-o",
            str(shim), f"-L{torch_folder / 'lib'}", "-lc10"
        ], check=True)
    ctypes.CDLL(str(shim)).register_no_op_cuda_guard()
    torch.backends.mha.set_fastpath_enabled(
        False)  # exporters write out what nn.MultiheadAttention's fast path does in one call


# ---------------------------------------------------------------------------------------------------------
# What a module does with data and does not do with fake tensors. Undone after each recording: exporters run in the same
# process, and a file must stay what users export.


def _view(fallback):
    """By aten::view's kernel for meta tensors, whose strides are at::native's."""
    def run(fake_mode, func, a, *shape, **options):
        sizes = pytree.tree_leaves((a.shape, a.stride(), shape))
        return NotImplemented if all(type(s) is int for s in sizes) else fallback(fake_mode, func, a, *shape, **options)
    return run


def _number_as_tensor(func, args):
    """A number beside a tensor is a tensor to TensorIterator, so that operands differ in shape and the result lies in
    the order of its data's strides (TensorIterator.cpp, reorder_dimensions); the kernel for meta tensors
    (torch/_prims_common, compute_elementwise_output_strides) leaves it out."""
    if func in (aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor) and type(args[1]) in (int, float):
        return args[0], torch.full((), args[1], device=args[0].device), *args[2:]
    return args


def _padded(func, data, result):
    """Reflections lie in order (aten/src/ATen/native/cuda/ReflectionPad.cu), replications as their data does
    (ReplicationPadding.cpp); the kernels for meta tensors have the first of planes and the second of volumes wrong."""
    if func in (aten.reflection_pad2d.default, aten.reflection_pad3d.default):
        return result.contiguous()
    if func is aten.replication_pad3d.default:
        return result.contiguous(memory_format=suggest_memory_format(data))
    return result


@contextlib.contextmanager
def as_with_data():
    """Fake tensors, for as long as it lasts, lie and are asked as CUDA tensors with data:

    - aten::view of fake tensors (torch/_subclasses/fake_impls.py, _view_meta) gives dims of one element other strides
      than at::native does (aten/src/ATen/TensorUtils.cpp, computeStride), which is_channels_last_strides_2d
      (c10/core/MemoryFormat.h) asks for: one image, viewed so from transposed tokens, is not channels last. Nor is
      what was cached without this used; `_number_as_tensor` and `_padded` are of the same kind;
    - how a convolution's result lies in memory, which decides what is copied later (`cudnn_formats`);
    - transformers: `_transformers_with_data`.
    """
    views = {op: _view(op_implementations_dict[op]) for op in (aten.view.default, aten._unsafe_view.default)}
    FakeTensorMode.cache_clear()
    with mock.patch.dict(op_implementations_dict, views), _transformers_with_data(), cudnn_formats():
        try:
            yield
        finally:
            FakeTensorMode.cache_clear()


@contextlib.contextmanager
def _transformers_with_data():
    """transformers takes fake tensors for a program that is being traced (is_tracing of 5.23's utils/import_utils.py
    asks is_fake_tensor) and builds every mask, for what it exports must serve other data, too. With data it looks:

    - masking_utils.py, find_packed_sequence_indices: `(packed_sequence_mask[:, -1] == 0).all()`, no sequences are
      packed, so that _ignore_causal_mask_sdpa leaves the mask to SDPA's is_causal, and heads may be shared
      (use_gqa_in_sdpa of integrations/sdpa_attention.py);
    - _ignore_causal_mask_sdpa and _ignore_bidirectional_mask_sdpa: `fast_all(padding_mask)`, `padding_mask.all()`,
      nothing is padded;
    - modeling_attn_mask_utils.py: `torch.all(attention_mask == 1)`;
    - modeling_utils.py, warn_if_padding_and_no_attention_mask: `pad_token_id in input_ids[:, [-1, 0]]`, none is.

    The answers to these are `Recorder`'s: the calls that compute them stay. An H200 ran gpt2 and qwen3 so
    (studies/hopper/measured/fit.tsv.xz, "models:gpt2_medium batch 8 bf16").
    """
    try:
        from transformers.utils import import_utils
    except ImportError:
        yield
        return
    with mock.patch.object(import_utils, "is_fake_tensor", lambda x: False):
        yield


# ---------------------------------------------------------------------------------------------------------
# Recording


class Recorder(TorchDispatchMode):
    """calls: {"op", "in", "out", "free"?}; tensors as "float32[2,3]".

    What the host reads is unknown, but for the answers to what `as_with_data` lists: all do, and there is not any.
    """

    #: What made the truth that the host reads → its value.
    ANSWERS = {"all": True, "eq": True, "any": False}

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made_by = self.calls[-1]["op"].split(".")[1] if self.calls else ""
        if func is aten._local_scalar_dense.default and args[0].dtype == torch.bool and made_by in self.ANSWERS:
            result = self.ANSWERS[made_by]
        else:
            result = _padded(func, args[0] if args else None, func(*_number_as_tensor(func, args), **(kwargs or {})))
        if func.namespace == "prim" or func is aten.is_same_size.default:
            return result
        tensors = lambda tree: [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor)]  # noqa: E731
        inputs, outputs = tensors((args, kwargs)), tensors(result)
        call = {"op": str(func), "in": [describe(t) for t in inputs], "out": [describe(t) for t in outputs]}
        free = launches(func, inputs, outputs)
        if free:
            call["free"] = free
        self.calls.append(call)
        return result


def describe(t) -> str:
    return f"{str(t.dtype).removeprefix('torch.')}[{','.join(str(d) for d in t.shape)}]"


class Mover:
    """Real tensors → fake ones that say they are on `device`, or meta ones; the same for the same."""

    def __init__(self, device, mode):
        self.device, self.mode, self.seen = device, mode, {}

    def __call__(self, t):
        key = id(t)
        if key not in self.seen:
            empty = torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device="meta")
            moved = FakeTensor(self.mode, empty,
                               torch.device("meta") if self.device == "meta" else torch.device(self.device, 0))
            if isinstance(t, torch.nn.Parameter):
                moved = torch.nn.Parameter(moved, requires_grad=t.requires_grad)
            self.seen[key] = (moved, t)
        return self.seen[key][0]

    def held(self, value):
        """Tensors in an attribute that is neither parameter nor buffer."""
        if isinstance(value, torch.Tensor):
            return self(value)
        if type(value) in (list, tuple) and any(isinstance(v, torch.Tensor) for v in value):
            return type(value)(self.held(v) for v in value)
        if type(value) is dict and any(isinstance(v, torch.Tensor) for v in value.values()):
            return {k: self.held(v) for k, v in value.items()}
        return value

    def module(self, module):
        for m in module.modules():
            for table in (m._parameters, m._buffers):
                for name, t in table.items():
                    if t is not None:
                        table[name] = self(t)
            for name, value in list(vars(m).items()):
                if not name.startswith("_") and isinstance(value, (torch.Tensor, list, tuple, dict)):
                    vars(m)[name] = self.held(value)
            if isinstance(m, torch.nn.RNNBase):
                m._flat_weights = [getattr(m, n) for n in m._flat_weights_names]
        return module


@contextlib.contextmanager
def autocast():
    """torch.autocast("cuda", torch.float16) in torch.inference_mode(), where casts of weights are not kept
    (aten/src/ATen/autocast_mode.cpp, cached_cast). A CPU build's torch.autocast turns itself off."""
    torch.set_autocast_dtype("cuda", torch.float16)
    torch.set_autocast_cache_enabled(False)
    torch.set_autocast_enabled("cuda", True)
    try:
        yield
    finally:
        torch.set_autocast_enabled("cuda", False)
        torch.set_autocast_cache_enabled(True)


def in_bfloat16(module, inputs):
    """As users run a model in 16 bits: all its floats, and its inputs'."""
    cast = lambda t: t.to(torch.bfloat16) if isinstance(t, torch.Tensor) and t.is_floating_point() else t  # noqa: E731
    return module.to(torch.bfloat16), [cast(i) for i in inputs]


def record(module, inputs, train: bool = False, default_device: bool = False, evaluate: bool = True,
           amp: bool = False) -> list[dict]:
    """The calls of module(*inputs); the module's tensors are replaced by fake ones (pass a copy).

    `default_device`: factories without a device make CUDA tensors (programs that were written for one device).
    `amp`: under autocast in float16.
    """
    as_cuda_builds()
    recorder = Recorder()
    unknown = ShapeEnv(allow_scalar_outputs=True,
                       allow_dynamic_output_shape_ops=True)  # sizes that depend on data are symbols
    fake = FakeTensorMode(allow_non_fake_inputs=True, shape_env=unknown)
    if train:
        with fake:
            mover = Mover("meta", fake)
            module = mover.module(module.train())
            examples = [mover(i) if isinstance(i, torch.Tensor) else i for i in inputs]
            with torch.device("meta"), torch.enable_grad(), as_with_data(), recorder:
                loss = None
                for t in pytree.tree_leaves(module(*examples)):
                    if isinstance(t, torch.Tensor) and t.requires_grad and t.is_floating_point():
                        loss = t.sum() if loss is None else loss + t.sum()
                mark = len(recorder.calls)
                loss.backward()
        for i, call in enumerate(recorder.calls):
            call["pass"] = "forward" if i < mark else "backward"
        return recorder.calls
    with fake:
        mover = Mover("cuda", fake)
        module = mover.module(module.eval() if evaluate else module)
        examples = [mover(i) if isinstance(i, torch.Tensor) else i for i in inputs]
        place = torch.device("cuda") if default_device else contextlib.nullcontext()
        with place, torch.no_grad(), as_with_data(), autocast() if amp else contextlib.nullcontext(), recorder:
            module(*examples)
    return recorder.calls


def moved_program(program, device: str):
    """An exported program as a module, with CUDA in place of the device that it was exported on."""
    module = program.module(check_guards=False)
    swap = lambda a: torch.device("cuda", 0) if isinstance(a, torch.device) and a.type == device else a  # noqa: E731
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            for node in part.graph.nodes:
                node.args, node.kwargs = (torch.fx.node.map_aggregate(x, swap) for x in (node.args, node.kwargs))
            part.recompile()
    return module


def pack(calls: list[dict]) -> dict:
    """{"ops", "types", "calls": [[op, [types], [types], why it launches nothing or 0]…]}: names once."""
    ops, types, whys = {}, {}, {"": 0}
    index = lambda table, key: table.setdefault(key, len(table))  # noqa: E731
    rows = [[
        index(ops, c["op"]), [index(types, t) for t in c["in"]], [index(types, t) for t in c["out"]],
        index(whys, c.get("free", ""))
    ] for c in calls]
    return {"ops": list(ops), "types": list(types), "free": list(whys), "calls": rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--train", action="store_true", help="forward and backward")
    how.add_argument("--amp", action="store_true", help="under autocast in float16")
    how.add_argument("--bf16", action="store_true", help="all floats in bfloat16")
    parser.add_argument("--views", action="store_true", help="print calls that launch nothing, too")
    args = parser.parse_args()
    import dispatch_models
    for name in args.models:
        module, inputs = dispatch_models.build(name)
        if args.bf16:
            module, inputs = in_bfloat16(module, inputs)
        calls = record(module, inputs, train=args.train, amp=args.amp)
        for call in calls:
            if args.views or "free" not in call:
                print(json.dumps({"model": name, **call}))
        print(f"{name}: {len(calls)} calls, {sum('free' not in c for c in calls)} launch", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
