#!/usr/bin/env python3
"""Traces small programs, about one per ATen operator, and writes them as one
TorchScript JSON program a line: operators.jsonl, which operators_test.py imports.

usage: make_operators.py [--pt2 FOLDER]     needs torch 2.13; run it again after adding a case

The shapes that torch records for every value are what perfc's shape rules are
held against: a difference is a warning, and the test fails.
With --pt2 every program is also exported with torch.export into FOLDER.
"""
import argparse
import json
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from perfc.export import export_module  # noqa: E402

warnings.filterwarnings("ignore")
R = lambda *s: torch.rand(*s)  # noqa: E731
I = lambda high, *s: torch.randint(0, high, s)  # noqa: E731
B = lambda *s: torch.rand(*s) > 0.5  # noqa: E731
IMG = lambda: R(2, 4, 8, 10)  # noqa: E731


def written(x, write):
    y = x * 1
    write(y)
    return y


UNARY = """abs neg ceil floor round trunc frac sign sgn sqrt rsqrt square reciprocal exp exp2 expm1 log log2 log10 log1p
    erf sin cos tan asin acos atan sinh cosh asinh atanh deg2rad rad2deg logical_not isnan isinf isfinite nan_to_num
    relu selu sigmoid tanh positive""".split()
UNARY_F = ("relu6 softsign hardsigmoid hardswish silu mish gelu softplus tanhshrink logsigmoid celu elu hardshrink "
           "softshrink hardtanh").split()
BINARY = """add sub mul div floor_divide remainder fmod pow maximum minimum atan2 hypot logaddexp xlogy eq ne lt le gt
    ge isclose logical_and logical_or logical_xor fmax fmin true_divide rsub""".split()
BITWISE = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift".split()

CASES = {}
for name in UNARY:
    CASES[name] = (getattr(torch, name), (R(2, 3),))
    CASES[f"{name}_int"] = (getattr(torch, name), (I(5, 2, 3),)) if name not in ("frac",) else CASES[name]
for name in UNARY_F:
    CASES[name] = (getattr(F, name), (R(2, 3),))
for name in BINARY:
    f = getattr(torch, name)
    CASES[name] = (f, (R(2, 3), R(3)))
    if name not in ("isclose",):
        CASES[f"{name}_mixed"] = (f, (R(2, 3), I(5, 2, 1) + 1))
        if name not in ("logical_and", "logical_or", "logical_xor", "maximum", "minimum", "atan2", "hypot", "logaddexp",
                        "fmax", "fmin"):
            CASES[f"{name}_number"] = (lambda x, f=f: f(x, 2), (I(5, 2, 3) + 1,))
for name in BITWISE:
    f = getattr(torch, name)
    CASES[name] = (f, (I(5, 2, 3), I(5, 3)))
CASES.update({
    "acosh": (torch.acosh, (R(3) + 1,)),
    "bitwise_not": (torch.bitwise_not, (I(4, 3),)),
    "bitwise_not_bool": (torch.bitwise_not, (B(3),)),
    "and_bool": (lambda a, b: a & b, (B(3), B(3))),
    "or_bool": (lambda a, b: a | b, (B(3), B(3))),
    "xor_int": (lambda a, b: a ^ b, (I(4, 3), I(4, 3))),
    "logit": (lambda x: torch.logit(x, 1e-3), (R(3),)),
    "div_floor": (lambda a, b: torch.div(a, b, rounding_mode="floor"), (R(3), R(3))),
    "div_trunc": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), (I(9, 3), I(9, 3) + 1)),
    "add_alpha": (lambda a, b: torch.add(a, b, alpha=2), (R(3), R(3))),
    "add_half_number": (lambda a: a + 1.5, (R(3).half(),)),
    "add_int_float": (lambda a: a + 1.5, (I(3, 3),)),
    "add_bool": (lambda a, b: a + b, (B(3), I(3, 3))),
    "mul_bool": (lambda a, b: a * b, (B(3), B(3))),
    "add_0d": (lambda a, b: a + b, (R(3).half(), torch.tensor(2.0))),
    "bf16_half": (lambda a, b: a + b, (R(3).half(), R(3).bfloat16())),
    "uint8_int8": (lambda a, b: a + b, (I(3, 3).to(torch.uint8), I(3, 3).to(torch.int8))),
    "pow_half": (lambda x: x**0.5, (R(3),)),
    "pow_scalar_base": (lambda x: 2**x, (R(3),)),
    "pow_cube": (lambda x: x**3, (I(3, 3),)),
    "addcmul": (lambda a, b, c: torch.addcmul(a, b, c, value=0.5), (R(2, 3), R(3), R(2, 1))),
    "addcdiv": (torch.addcdiv, (R(3), R(3), R(3) + 1)),
    "lerp": (lambda a, b: torch.lerp(a, b, 0.3), (R(3), R(3))),
    "lerp_tensor": (torch.lerp, (R(3), R(3), R(3))),
    "clamp": (lambda x: x.clamp(0.1, 0.9), (R(3),)),
    "clamp_min": (lambda x: x.clamp_min(0.1), (R(3),)),
    "clamp_max": (lambda x: x.clamp_max(2), (I(5, 3),)),
    "clamp_tensor": (torch.clamp, (R(3), R(3), R(3))),
    "clamp_tensor_number": (torch.clamp, (R(2, 3), R(1), R(1))),
    "clamp_int_float": (lambda x: x.clamp(0.5, 2.5), (I(5, 3),)),
    "where": (torch.where, (B(2, 3), R(3), R(2, 1))),
    "where_scalar": (lambda c, x: torch.where(c, x, 0.0), (B(3), R(3))),
    "masked_fill": (lambda x, m: x.masked_fill(m, -1e9), (R(2, 3), B(3))),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), (R(3),)),
    "prelu": (F.prelu, (IMG(), R(4))),
    "rrelu": (lambda x: F.rrelu(x), (R(3),)),
    "glu": (lambda x: F.glu(x, 1), (IMG(),)),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), (R(3),)),
    "threshold": (lambda x: F.threshold(x, 0.1, 20), (R(3),)),
    "dropout": (lambda x: F.dropout(x, 0.5, False), (R(3),)),
    "dropout_train": (lambda x: F.dropout(x, 0.5, True), (R(3),)),
    "to_half": (lambda x: x.half(), (R(3),)),
    "to_long": (lambda x: x.long(), (R(3),)),
    "to_other": (lambda a, b: a.to(b), (R(3), I(3, 3))),
    "type_as": (lambda a, b: a.type_as(b), (R(3), I(3, 3))),
    "to_dtype": (lambda x: x.to(torch.float16), (R(3),)),
    "to_device_dtype": (lambda x: x.to("cpu", torch.bfloat16), (R(3),)),
    "contiguous": (lambda x: x.t().contiguous(), (R(3, 4),)),
    "clone": (lambda x: x.clone(), (R(3),)),
    "detach": (lambda x: x.detach() + 1, (R(3),)),
    # matrix products
    "linear": (F.linear, (R(2, 5, 3), R(4, 3), R(4))),
    "linear_1d": (F.linear, (R(3), R(4, 3), R(4))),
    "addmm": (torch.addmm, (R(4), R(2, 3), R(3, 4))),
    "addmm_beta": (lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), (R(2, 4), R(2, 3), R(3, 4))),
    "mm": (torch.mm, (R(2, 3), R(3, 4))),
    "mm_t": (lambda a, b: a @ b.t(), (R(2, 3), R(4, 3))),
    "matmul": (torch.matmul, (R(5, 1, 2, 3), R(4, 3, 6))),
    "matmul_vec": (torch.matmul, (R(2, 3), R(3))),
    "bmm": (torch.bmm, (R(2, 3, 4), R(2, 4, 5))),
    "mv": (torch.mv, (R(2, 3), R(3))),
    "dot": (torch.dot, (R(3), R(3))),
    "baddbmm": (lambda a, b, c: torch.baddbmm(a, b, c, beta=0.5), (R(2, 3, 5), R(2, 3, 4), R(2, 4, 5))),
    "addbmm": (torch.addbmm, (R(3, 5), R(2, 3, 4), R(2, 4, 5))),
    "addmv": (torch.addmv, (R(2), R(2, 3), R(3))),
    "outer": (torch.outer, (R(2), R(3))),
    "einsum_view": (lambda a: torch.einsum("nhwpqc->nchpwq", a).reshape(2, 6, 6, 20), (R(2, 3, 4, 2, 5, 6),)),
    "einsum_outer": (lambda a, b: torch.einsum("bi,j->bij", a, b), (R(2, 3), R(4))),
    "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), (R(2, 3, 4), R(2, 5, 4))),
    "tensordot": (lambda a, b: torch.tensordot(a, b, dims=([1], [0])), (R(2, 3), R(3, 4))),
    "bilinear": (F.bilinear, (R(2, 3), R(2, 4), R(5, 3, 4), R(5))),
    "cdist": (torch.cdist, (R(2, 3, 4), R(2, 5, 4))),
    "sdpa": (F.scaled_dot_product_attention, (R(2, 4, 5, 8), R(2, 4, 6, 8), R(2, 4, 6, 8))),
    "sdpa_mask": (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.5), (R(2, 4, 5, 8), R(
        2, 4, 6, 8), R(2, 4, 6, 8), B(5, 6))),
    "sdpa_causal": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (R(2, 5, 8),)),
    "sdpa_gqa": (lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True), (R(2, 8, 5, 8), R(2, 2, 5, 8))),
    # convolutions
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, 2, 1), (R(2, 4, 9), R(6, 4, 3), R(6))),
    "conv2d": (lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 0), 2, 2), (IMG(), R(6, 2, 3, 3))),
    "conv3d": (F.conv3d, (R(1, 2, 5, 6, 7), R(3, 2, 2, 3, 3))),
    "conv2d_same": (lambda x, w: F.conv2d(x, w, padding="same", dilation=2), (IMG(), R(6, 4, 3, 4))),
    "conv2d_valid": (lambda x, w: F.conv2d(x, w, padding="valid"), (IMG(), R(6, 4, 3, 4))),
    "conv2d_unbatched": (F.conv2d, (R(4, 8, 8), R(6, 4, 3, 3))),
    "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1), (R(
        2, 4, 9), R(4, 3, 3))),
    "conv_transpose2d": (lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, groups=2), (IMG(), R(4, 3, 3, 3), R(6))),
    "conv_transpose3d": (F.conv_transpose3d, (R(1, 2, 3, 4, 5), R(2, 3, 2, 2, 2))),
    # pooling
    "max_pool1d": (lambda x: F.max_pool1d(x, 3, 2, 1), (R(2, 4, 9),)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), (IMG(),)),
    "max_pool2d_indices": (lambda x: F.max_pool2d(x, 2, return_indices=True), (IMG(),)),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2), (R(1, 2, 4, 6, 8),)),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 3), (R(2, 4, 9),)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (IMG(),)),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), (R(1, 2, 4, 6, 8),)),
    "max_pool2d_unbatched": (lambda x: F.max_pool2d(x, 2), (R(4, 8, 8),)),
    "lp_pool2d": (lambda x: F.lp_pool2d(x, 2, 2), (IMG(),)),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 3), (R(2, 4, 9),)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 1), (IMG(),)),
    "adaptive_avg_pool2d_odd": (lambda x: F.adaptive_avg_pool2d(x, (3, None)), (IMG(),)),
    "adaptive_avg_pool2d_up": (lambda x: F.adaptive_avg_pool2d(x, (16, 20)), (IMG(),)),
    "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, 1), (R(1, 2, 4, 6, 8),)),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 1), (R(2, 4, 9),)),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, 2), (IMG(),)),
    "adaptive_max_pool3d": (lambda x: F.adaptive_max_pool3d(x, 2), (R(1, 2, 4, 6, 8),)),
    "max_unpool2d": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), (IMG(),)),
    # normalisation
    "batch_norm": (lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), (IMG(), R(4), R(4), R(4), R(4))),
    "batch_norm_plain": (lambda x, m, v: F.batch_norm(x, m, v), (R(3, 4), R(4), R(4))),
    "batch_norm_train": (lambda x: F.batch_norm(x, None, None, training=True), (IMG(),)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (10,), w, b), (IMG(), R(10), R(10))),
    "layer_norm_plain": (lambda x: F.layer_norm(x, (8, 10)), (IMG(),)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (10,), w), (IMG(), R(10))),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), (IMG(), R(4), R(4))),
    "group_norm_2d": (lambda x: F.group_norm(x, 2), (R(3, 4),)),
    "instance_norm": (lambda x: F.instance_norm(x), (IMG(),)),
    "local_response_norm": (lambda x: F.local_response_norm(x, 2), (IMG(),)),
    "softmax": (lambda x: x.softmax(1), (IMG(),)),
    "softmax_dtype": (lambda x: torch.softmax(x, -1, dtype=torch.float32), (R(3, 4).half(),)),
    "log_softmax": (lambda x: x.log_softmax(-1), (IMG(),)),
    "softmin": (lambda x: F.softmin(x, 1), (IMG(),)),
    "normalize": (lambda x: F.normalize(x, dim=1), (IMG(),)),
    "vector_norm": (lambda x: torch.linalg.vector_norm(x, 3, dim=1, keepdim=True), (IMG(),)),
    "norm": (lambda x: x.norm(), (IMG(),)),
    "norm_dim": (lambda x: torch.norm(x, p=1, dim=(1, 2)), (IMG(),)),
    "norm_inf": (lambda x: torch.norm(x, p=float("inf"), dim=1), (IMG(),)),
    "frobenius": (lambda x: torch.norm(x, p="fro"), (R(3, 4),)),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), (R(3, 4),)),
    "cosine": (F.cosine_similarity, (R(3, 4), R(3, 4))),
    "pairwise": (F.pairwise_distance, (R(3, 4), R(3, 4))),
    "weight_norm": (lambda v, g: torch._weight_norm(v, g, 0), (R(4, 3), R(4, 1))),
    # losses
    "mse": (F.mse_loss, (R(3), R(3))),
    "l1": (F.l1_loss, (R(3), R(3))),
    "triplet_margin": (lambda a, p, n: F.triplet_margin_loss(a, p, n, p=1, swap=True), (R(3, 4),) * 3),
    "margin_ranking": (lambda a, b: F.margin_ranking_loss(a, b, torch.ones(3), 0.5), (R(3), R(3))),
    "hinge_embedding": (lambda x, y: F.hinge_embedding_loss(x, y), (R(3), I(2, 3) * 2 - 1)),
    "cosine_embedding": (lambda a, b, y: F.cosine_embedding_loss(a, b, y, reduction="sum"),
                         (R(3, 4), R(3, 4), I(2, 3) * 2 - 1)),
    "soft_margin": (lambda x, y: F.soft_margin_loss(x, y, reduction="none"), (R(3), R(3))),
    "poisson_nll": (lambda x, y: F.poisson_nll_loss(x, y, log_input=False), (R(3), R(3))),
    "diag_of_vector": (lambda x: torch.diag(x), (R(3),)),
    "smooth_l1": (lambda a, b: F.smooth_l1_loss(a, b, reduction="none"), (R(3), R(3))),
    "huber": (F.huber_loss, (R(3), R(3))),
    "nll": (F.nll_loss, (R(3, 5), I(5, 3))),
    "cross_entropy": (F.cross_entropy, (R(3, 5, 2), I(5, 3, 2))),
    "cross_entropy_prob": (F.cross_entropy, (R(3, 5), R(3, 5))),
    "bce": (F.binary_cross_entropy, (R(3), R(3))),
    "bce_logits": (F.binary_cross_entropy_with_logits, (R(3), R(3))),
    "kl_div": (F.kl_div, (R(3), R(3))),
    # views
    "view": (lambda x: x.view(2, -1, 5), (IMG(),)),
    "reshape_size": (lambda x: x.reshape(x.shape[0] * x.shape[1], -1), (IMG(),)),
    "reshape_as": (lambda a, b: a.reshape_as(b), (R(2, 6), R(3, 4))),
    "view_as": (lambda a, b: a.view_as(b), (R(2, 6), R(3, 4))),
    "flatten": (lambda x: x.flatten(1, 2), (IMG(),)),
    "ravel": (torch.ravel, (IMG(),)),
    "unflatten": (lambda x: x.unflatten(1, (2, -1)), (IMG(),)),
    "squeeze": (lambda x: x.squeeze(), (R(1, 3, 1),)),
    "squeeze_dim": (lambda x: x.squeeze(1), (R(1, 3, 1),)),
    "squeeze_dims": (lambda x: x.squeeze((0, 2)), (R(1, 3, 1),)),
    "unsqueeze": (lambda x: x.unsqueeze(-1), (R(3),)),
    "permute": (lambda x: x.permute(0, 2, 3, 1), (IMG(),)),
    "transpose": (lambda x: x.transpose(1, -1), (IMG(),)),
    "t": (lambda x: x.t(), (R(2, 3),)),
    "mT": (lambda x: x.mT, (IMG(),)),
    "T": (lambda x: x.T, (R(2, 3),)),
    "movedim": (lambda x: x.movedim(1, -1), (IMG(),)),
    "swapaxes": (lambda x: x.swapaxes(0, 1), (IMG(),)),
    "expand": (lambda x: x.expand(4, -1, 5), (R(3, 1),)),
    "expand_as": (lambda a, b: a.expand_as(b), (R(3), R(2, 3))),
    "broadcast_to": (lambda x: x.broadcast_to(2, 3), (R(3),)),
    "broadcast_tensors": (lambda a, b: torch.broadcast_tensors(a, b), (R(3, 1), R(2))),
    "slice": (lambda x: x[:, 1:-1, ::2], (IMG(),)),
    "narrow": (lambda x: x.narrow(1, 1, 2), (IMG(),)),
    "select": (lambda x: x[:, -1], (IMG(),)),
    "diagonal": (lambda x: x.diagonal(1, 2, 3), (IMG(),)),
    "split": (lambda x: x.split(3, 3), (IMG(),)),
    "split_sizes": (lambda x: x.split([1, 3], 1), (IMG(),)),
    "chunk": (lambda x: x.chunk(3, 3), (IMG(),)),
    "tensor_split": (lambda x: x.tensor_split(3, 3), (IMG(),)),
    "unbind": (lambda x: x.unbind(1), (IMG(),)),
    "unfold": (lambda x: x.unfold(2, 3, 2), (IMG(),)),
    "unfold_last": (lambda x: x.unfold(3, 4, 2), (IMG(),)),
    "as_strided": (lambda x: x.as_strided((2, 2), (2, 1)), (R(4),)),
    "as_strided_windows": (lambda x: x.as_strided((2, 5, 4, 3), (36, 6, 3, 1)), (R(2, 12, 3),)),
    "as_strided_patches": (lambda x: x.as_strided((2, 3, 4, 3, 3), (80, 20, 2, 10, 1)), (R(2, 8, 10),)),
    "as_strided_transposed": (lambda x: x.transpose(0, 1).as_strided((4, 3), (3, 1)), (R(4, 3),)),
    "as_strided_repeated": (lambda x: x.as_strided((3, 4, 1, 2), (0, 2, 9, 1)), (R(4, 2),)),
    "as_strided_part": (lambda x: x.as_strided((2, 3), (7, 2), 3), (R(4, 5),)),
    "as_strided_permuted": (lambda x: x.as_strided((3, 2, 4), (1, 12, 3)), (R(2, 12),)),
    "as_strided_uneven": (lambda x: x.as_strided((3, 3), (3, 2)), (R(20),)),
    # data movement
    "cat": (lambda a, b: torch.cat([a, b], -1), (R(2, 3), R(2, 4))),
    "cat_types": (lambda a, b: torch.cat([a, b]), (R(2), I(3, 4))),
    "stack": (lambda a, b: torch.stack([a, b], 1), (R(2, 3), R(2, 3))),
    "hstack": (lambda a, b: torch.hstack([a, b]), (R(2, 3), R(2, 1))),
    "vstack": (lambda a, b: torch.vstack([a, b]), (R(3), R(2, 3))),
    "dstack": (lambda a, b: torch.dstack([a, b]), (R(2, 3), R(2, 3))),
    "repeat": (lambda x: x.repeat(4, 2, 1), (R(2, 3),)),
    "tile": (lambda x: x.tile(2), (R(2, 3),)),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 1), (R(2, 3),)),
    "repeat_interleave_counts": (lambda x: x.repeat_interleave(torch.tensor([2, 0, 3]), 1), (R(2, 3),)),
    "repeat_interleave_output_size":
        (lambda x, n: x.repeat_interleave(n, 1, output_size=7), (R(2, 3), torch.tensor([2, 4, 1]))),
    "nansum_dtype": (lambda x: torch.nansum(x, 1, dtype=torch.float64), (R(2, 3),)),
    "softmin_dtype": (lambda x: torch.nn.functional.softmin(x, 1, dtype=torch.float64), (R(2, 3),)),
    "hann_window_dtype": (lambda x: x * torch.hann_window(8, dtype=torch.float64), (R(8),)),
    "tril_indices_dtype": (lambda x: x[0] + torch.tril_indices(3, 3, dtype=torch.int32), (torch.ones(2, 1).int(),)),
    "stft_normalized": (lambda x: torch.stft(x, 16, 4, 12, torch.ones(12), center=False, normalized=True,
                                             return_complex=True), (R(2, 64),)),
    "repeat_interleave_flat": (lambda x: x.repeat_interleave(3), (R(2, 3),)),
    "flip": (lambda x: x.flip(0, 2), (IMG(),)),
    "roll": (lambda x: x.roll((1, -2), (2, 3)), (IMG(),)),
    "roll_flat": (lambda x: x.roll(1), (R(2, 3),)),
    "rot90": (lambda x: x.rot90(1, (2, 3)), (IMG(),)),
    "rot180": (lambda x: x.rot90(2, (2, 3)), (IMG(),)),
    "im2col": (lambda x: F.unfold(x, (3, 2), dilation=2, padding=1, stride=2), (IMG(),)),
    "col2im": (lambda x: F.fold(x, (8, 10), (2, 2), stride=2), (R(2, 16, 20),)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), (IMG(),)),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), (IMG(),)),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), (IMG(),)),
    "pad": (lambda x: F.pad(x, (1, 2, 0, 3), value=1.0), (IMG(),)),
    "pad_reflect": (lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), (IMG(),)),
    "pad_replicate": (lambda x: F.pad(x, (1, 2), mode="replicate"), (R(2, 3, 4),)),
    "pad_circular": (lambda x: F.pad(x, (1, 2, 1, 1), mode="circular"), (IMG(),)),
    "pad_crop": (lambda x: F.pad(x, (-1, -2)), (IMG(),)),
    "meshgrid": (lambda a, b: torch.meshgrid(a, b, indexing="ij"), (R(2), R(3))),
    "meshgrid_xy": (lambda a, b: torch.meshgrid(a, b, indexing="xy"), (R(2), R(3))),
    "tril": (torch.tril, (R(3, 4),)),
    "triu": (lambda x: x.triu(1), (R(3, 4),)),
    # indexing
    "index": (lambda x, i: x[i], (R(5, 3), I(5, 2, 4))),
    "index_middle": (lambda x, i: x[:, i], (IMG(), I(4, 3))),
    "index_two": (lambda x, i, j: x[i, j], (IMG(), I(2, 3), I(4, 3))),
    "index_two_adjacent": (lambda x, i, j: x[:, i, j], (IMG(), I(4, 3), I(8, 3))),
    "index_apart": (lambda x, i, j: x[i, :, j], (IMG(), I(2, 3), I(8, 3))),
    "index_broadcast": (lambda x, i, j: x[i, j], (R(5, 6), I(5, 3, 1), I(6, 2))),
    "index_mask": (lambda x, m: x[m], (R(5, 3), torch.tensor([True, False, True, True, False]))),
    "index_mask_2d": (lambda x, m: x[m], (R(2, 3), torch.tensor([[True, False, True], [True, False, False]]))),
    "index_put": (lambda x, i, v: written(x, lambda y: y.index_put_((i,), v)), (R(5, 3), I(5, 2), R(2, 3))),
    "index_put_mask": (lambda x, m: written(x, lambda y: y.__setitem__(m, 0.0)), (R(5, 3), B(5, 3))),
    "index_put_add": (lambda x, i, v: x.index_put((i,), v, accumulate=True), (R(5, 3), I(5, 2), R(3))),
    "index_put_two": (lambda x, i, j: written(x, lambda y: y.__setitem__((slice(None), i, j), 1.0)), (IMG(), I(
        4, 3), I(8, 3))),
    "index_select": (lambda x, i: x.index_select(1, i), (R(2, 5), I(5, 3))),
    "index_add": (lambda x, i, v: x.index_add(0, i, v), (R(5, 3), I(5, 2), R(2, 3))),
    "index_copy": (lambda x, i, v: x.index_copy(1, i, v), (R(3, 5), torch.tensor([0, 2]), R(3, 2))),
    "index_fill": (lambda x, i: x.index_fill(0, i, 2.0), (R(5, 3), I(5, 2))),
    "gather": (lambda x, i: x.gather(1, i), (R(2, 5), I(5, 2, 3))),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 1), (R(2, 5), I(5, 2, 3))),
    "take": (torch.take, (R(2, 5), I(5, 2, 3))),
    "scatter": (lambda x, i, s: x.scatter(1, i, s), (R(2, 5), I(5, 2, 3), R(2, 3))),
    "scatter_value": (lambda x, i: x.scatter(1, i, 1.0), (R(2, 5), I(5, 2, 3))),
    "scatter_add": (lambda x, i, s: x.scatter_add(1, i, s), (R(2, 5), I(5, 2, 3), R(2, 4))),
    "scatter_reduce": (lambda x, i, s: x.scatter_reduce(1, i, s, "amax"), (R(2, 5), I(5, 2, 3), R(2, 3))),
    "slice_scatter": (lambda x, s: torch.slice_scatter(x, s, 1, 1, 3), (R(2, 5), R(2, 2))),
    "select_scatter": (lambda x, s: torch.select_scatter(x, s, 1, 2), (R(2, 5), R(2))),
    "masked_select": (torch.masked_select, (R(2, 3), torch.tensor([[True, False, True], [True, False, False]]))),
    "masked_scatter": (lambda x, m, s: x.masked_scatter(m, s), (R(2, 3), B(2, 3), R(6))),
    "embedding": (F.embedding, (I(5, 2, 3), R(5, 4))),
    "embedding_bag": (lambda i, w, o: F.embedding_bag(i, w, o, mode="sum"), (I(5, 6), R(5, 4), torch.tensor([0, 2]))),
    "one_hot": (lambda x: F.one_hot(x, 5), (I(5, 2, 3),)),
    "nonzero": (torch.nonzero, (torch.tensor([1.0, 0.0, 2.0]),)),
    "nonzero_tuple": (lambda x: torch.nonzero(x, as_tuple=True), (torch.tensor([1.0, 0.0, 2.0]),)),
    "bucketize": (torch.bucketize, (R(2, 3), torch.tensor([0.1, 0.5]))),
    "searchsorted": (torch.searchsorted, (R(2, 5), R(2, 3))),
    "bincount": (lambda x: torch.bincount(x, minlength=6), (torch.tensor([1, 5, 2]),)),
    # reductions
    "sum": (torch.sum, (IMG(),)),
    "sum_int": (torch.sum, (I(3, 4),)),
    "sum_dim": (lambda x: x.sum((1, 2), keepdim=True), (IMG(),)),
    "sum_dtype": (lambda x: x.sum(1, dtype=torch.float64), (IMG(),)),
    "nansum": (torch.nansum, (IMG(),)),
    "mean": (torch.mean, (IMG(),)),
    "mean_dim": (lambda x: x.mean([2, 3]), (IMG(),)),
    "prod": (torch.prod, (R(3),)),
    "prod_dim": (lambda x: x.prod(1), (IMG(),)),
    "amax": (lambda x: x.amax((1, 2)), (IMG(),)),
    "amin": (lambda x: x.amin(1, True), (IMG(),)),
    "aminmax": (lambda x: tuple(torch.aminmax(x, dim=1)), (IMG(),)),
    "max": (torch.max, (IMG(),)),
    "max_dim": (lambda x: tuple(x.max(1)), (IMG(),)),
    "max_other": (torch.max, (R(3), R(2, 1))),
    "min_dim": (lambda x: tuple(x.min(-1, True)), (IMG(),)),
    "argmax": (torch.argmax, (IMG(),)),
    "argmax_dim": (lambda x: x.argmax(1, True), (IMG(),)),
    "argmin": (lambda x: x.argmin(-1), (IMG(),)),
    "logsumexp": (lambda x: x.logsumexp(1), (IMG(),)),
    "all": (torch.all, (B(2, 3),)),
    "is_all_true": (torch.ops.aten._is_all_true, (B(2, 3),)),
    "is_any_true": (torch.ops.aten._is_any_true, (B(2, 3),)),
    "isin": (torch.isin, (I(5, 2, 3), I(5, 2))),
    "isin_invert": (lambda x, y: torch.isin(x, y, invert=True), (I(5, 2, 3), I(5, 2))),
    "isin_number": (lambda x: torch.isin(x, 3), (I(5, 2, 3),)),
    "isin_of_number": (lambda x: torch.isin(3, x), (I(5, 2, 3),)),
    "gumbel_softmax": (lambda x: F.gumbel_softmax(x, hard=True), (R(2, 5),)),
    "nearest_exact_scales": (lambda x: torch.ops.aten._upsample_nearest_exact2d(x, [16, 20], 2.0, 2.0), (IMG(),)),
    "any_dim": (lambda x: x.any(1), (B(2, 3),)),
    "count_nonzero": (lambda x: torch.count_nonzero(x, 1), (IMG(),)),
    "var": (torch.var, (IMG(),)),
    "var_dim": (lambda x: x.var(1, unbiased=False, keepdim=True), (IMG(),)),
    "std": (lambda x: x.std((1, 2)), (IMG(),)),
    "var_mean": (lambda x: torch.var_mean(x, 1), (IMG(),)),
    "std_mean": (lambda x: torch.std_mean(x, 1), (IMG(),)),
    "cumsum": (lambda x: x.cumsum(1), (I(3, 2, 4),)),
    "cumprod": (lambda x: x.cumprod(1), (IMG(),)),
    "diff": (torch.diff, (R(2, 5),)),
    "diff_prepend": (lambda x, p: torch.diff(x, prepend=p), (R(2, 5), R(2, 1))),
    "topk": (lambda x: tuple(x.topk(2, 1)), (IMG(),)),
    "sort": (lambda x: tuple(x.sort(1, True)), (IMG(),)),
    "argsort": (lambda x: x.argsort(1), (IMG(),)),
    "msort": (torch.msort, (R(3, 4),)),
    "median": (torch.median, (R(7),)),
    "median_dim": (lambda x: tuple(x.median(1)), (R(2, 7),)),
    "kthvalue": (lambda x: tuple(x.kthvalue(2, 1, True)), (R(2, 7),)),
    "mode": (lambda x: tuple(x.mode(1)), (R(2, 7),)),
    "unique": (lambda x: torch.unique(x, return_inverse=True), (torch.tensor([[3, 1], [3, 3]]),)),
    # from nothing
    "zeros": (lambda x: torch.zeros(x.shape[0], 3) + x, (R(2, 3),)),
    "ones": (lambda x: torch.ones(2, 3, dtype=torch.int64) + x, (R(2, 3),)),
    "full": (lambda x: torch.full((2, 3), 7) + x, (R(2, 3),)),
    "empty": (lambda x: torch.empty(2, 3).fill_(2) + x, (R(2, 3),)),
    "rand": (lambda x: torch.rand(2, 3) + x, (R(2, 3),)),
    "randn": (lambda x: torch.randn(2, 3) + x, (R(2, 3),)),
    "randn_generator": (lambda x: torch.randn(2, 3, generator=None) + x, (R(2, 3),)),
    "randint": (lambda x: torch.randint(0, 4, (2, 3)) + x, (R(2, 3),)),
    "zeros_like": (torch.zeros_like, (R(2, 3),)),
    "ones_like": (lambda x: torch.ones_like(x, dtype=torch.bool), (R(2, 3),)),
    "full_like": (lambda x: torch.full_like(x, 2), (R(2, 3),)),
    "rand_like": (torch.rand_like, (R(2, 3),)),
    "randn_like": (torch.randn_like, (R(2, 3),)),
    "new_zeros": (lambda x: x.new_zeros(4, 5), (R(2, 3),)),
    "new_full": (lambda x: x.new_full((4,), 2), (R(2, 3),)),
    "new_ones": (lambda x: x.new_ones((4,), dtype=torch.bool), (R(2, 3),)),
    "bernoulli": (torch.bernoulli, (R(2, 3),)),
    "multinomial": (lambda x: torch.multinomial(x, 2), (R(2, 3),)),
    "normal_means": (lambda x: torch.normal(x, 2.0), (R(2, 3),)),
    "normal_deviations": (lambda x: torch.normal(0.0, x), (R(2, 3),)),
    "normal_both": (lambda x, y: torch.normal(x, y), (R(2, 3), R(2, 3))),
    "normal_of_a_size": (lambda x: x + torch.normal(0.0, 1.0, (2, 3)), (R(2, 3),)),
    "normal_": (lambda x: written(x, lambda y: y.normal_()), (R(2, 3),)),
    "arange": (lambda x: torch.arange(x.shape[1]) + x, (R(2, 3),)),
    "arange_step": (lambda x: torch.arange(0, 3, 0.5) + x, (R(2, 6),)),
    "arange_dtype": (lambda x: torch.arange(1, 7, dtype=torch.float32) * x, (R(2, 6),)),
    "linspace": (lambda x: torch.linspace(0, 1, 6) * x, (R(2, 6),)),
    "linspace_long": (lambda x: torch.linspace(0.5, 9.5, 5000) * x, (R(2, 5000),)),
    "diag_embed": (torch.diag_embed, (R(2, 3),)),
    "diag_embed_offset": (lambda x: torch.diag_embed(x, -1, 0, 2), (R(2, 3),)),
    "pad_sequence": (lambda a, b: torch.nn.utils.rnn.pad_sequence([a, b], True), (R(3, 4), R(5, 4))),
    "pad_sequence_left": (lambda a, b: torch.nn.utils.rnn.pad_sequence([a, b], padding_side="left", padding_value=1),
                          (R(3, 4), R(5, 4))),
    "logspace": (lambda x: torch.logspace(0, 1, 6) * x, (R(2, 6),)),
    "eye": (lambda x: torch.eye(3) @ x, (R(3, 6),)),
    "tril_indices": (lambda x: torch.tril_indices(3, 3, -1) + x, (R(2, 3),)),
    "hann": (lambda x: torch.hann_window(6) * x, (R(2, 6),)),
    "scalar_tensor": (lambda x: torch.tensor(2.0) * x, (R(2),)),
    # images
    "nearest1d": (lambda x: F.interpolate(x, 7), (R(2, 3, 4),)),
    "nearest2d": (lambda x: F.interpolate(x, scale_factor=2), (IMG(),)),
    "nearest3d": (lambda x: F.interpolate(x, scale_factor=2), (R(1, 2, 3, 4, 5),)),
    "nearest_exact": (lambda x: F.interpolate(x, (5, 7), mode="nearest-exact"), (IMG(),)),
    "linear1d": (lambda x: F.interpolate(x, 7, mode="linear"), (R(2, 3, 4),)),
    "bilinear2d": (lambda x: F.interpolate(x, (5, 7), mode="bilinear", align_corners=True), (IMG(),)),
    "bicubic": (lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), (IMG(),)),
    "bilinear_aa": (lambda x: F.interpolate(x, (5, 7), mode="bilinear", antialias=True), (IMG(),)),
    "trilinear": (lambda x: F.interpolate(x, (5, 6, 7), mode="trilinear"), (R(1, 2, 3, 4, 5),)),
    "resize_to_shape": (lambda a, b: F.interpolate(a, b.shape[2:], mode="bilinear"), (IMG(), R(1, 1, 5, 7))),
    "grid_sample": (F.grid_sample, (IMG(), R(2, 5, 6, 2))),
    "affine_grid": (lambda t: F.affine_grid(t, (2, 3, 5, 6)), (R(2, 2, 3),)),
    "stft": (lambda x: torch.view_as_real(
        torch.stft(x, 8, 4, window=torch.hann_window(8), center=False, return_complex=True)).sum(), (R(2, 40),)),
    "rfft": (lambda x: torch.fft.rfft(x).abs(), (R(2, 9),)),
    "irfft": (lambda x: torch.fft.irfft(torch.fft.rfft(x)), (R(2, 8),)),
    "fft2": (lambda x: torch.fft.ifft2(torch.fft.fft2(x)).real, (IMG(),)),
    "rfft2": (lambda x: torch.fft.irfft2(torch.fft.rfft2(x), s=(8, 10)), (IMG(),)),
    "fftn": (lambda x: torch.view_as_real(torch.fft.fftn(x, dim=(1, 2))), (IMG(),)),
    "rotary": (lambda x, f: torch.view_as_real(
        torch.view_as_complex(x.reshape(2, 5, 4, 2)) * torch.polar(torch.ones_like(f), f)).flatten(2), (R(2, 5,
                                                                                                          8), R(5, 4))),
    # in place, through views
    "write_slice": (lambda x: written(x, lambda y: y[:, 1:3].fill_(0)), (IMG(),)),
    "write_select": (lambda x, v: written(x, lambda y: y.__setitem__((slice(None), 1), v)), (IMG(), R(2, 8, 10))),
    "write_step": (lambda x: written(x, lambda y: y[:, :, ::2].mul_(2)), (IMG(),)),
    "write_transposed": (lambda x: written(x, lambda y: y.transpose(1, 2).add_(1)), (IMG(),)),
    "write_view": (lambda x: written(x, lambda y: y.view(2, -1).relu_()), (IMG(),)),
    "write_nested": (lambda x: written(x, lambda y: y[0][:, 2:4].zero_()), (IMG(),)),
    "write_all": (lambda x: written(x, lambda y: y[:].copy_(x * 2)), (IMG(),)),
    "write_read_view": (lambda x: (lambda y: (lambda v: (y.add_(1), v * 2)[1])(y[:, 0]))(x * 1), (IMG(),)),
    "max_unpool2d": (lambda x, i: F.max_unpool2d(x, i, 2), (R(1, 2, 2, 2), torch.tensor([0, 2, 8, 10]).view(
        1, 1, 2, 2).repeat(1, 2, 1, 1))),
    "unsqueeze_": (lambda x: written(x, lambda y: y.unsqueeze_(0)), (R(3),)),
    "copy_dtype": (lambda x, v: written(x, lambda y: y.copy_(v)), (R(2, 3), I(4, 3))),
    "write_add": (lambda x, v: written(x, lambda y: y.__setitem__((slice(None), slice(1, None)), y[:, 1:].add_(v))),
                  (IMG(), R(2, 3, 8, 10))),
    "write_select_last": (lambda x, v: written(x, lambda y: y.__setitem__((slice(None), slice(None), -1), v)),
                          (IMG(), R(2, 4, 10))),
    "write_two_slices": (lambda x, v: written(x, lambda y: y[:, 1:3, 2:].copy_(v)),
                         (IMG(), R(2, 2, 6, 10))),
    "write_same_axis_twice": (lambda x, v: written(x, lambda y: y[:, 1:][:, ::2].copy_(v)), (IMG(), R(2, 2, 8, 10))),
    "write_selected": (lambda x: written(x, lambda y: y.select(1, 2)[:, 1:3].mul_(2)), (IMG(),)),
    "index_put_last": (lambda x, i, v: written(x, lambda y: y.__setitem__((Ellipsis, i), v)), (IMG(), I(10, 3),
                                                                                               R(2, 4, 8, 3))),
    "index_put_between": (lambda x, i, j, v: written(x, lambda y: y.__setitem__((slice(None), i, j), v)),
                          (IMG(), I(4, 3), I(8, 3), R(2, 3, 10))),
    "index_put_apart": (lambda x, i, j, v: written(x, lambda y: y.__setitem__((slice(None), i, slice(None), j), v)),
                        (IMG(), I(4, 3), I(10, 3), R(3, 2, 8))),
    "index_put_of_slice": (lambda x, i, v: written(x, lambda y: y[:, 1:].__setitem__((slice(None), slice(None), i), v)),
                           (IMG(), I(8, 3), R(2, 3, 3, 10))),
    "index_copy_in_place": (lambda x, i, v: written(x, lambda y: y.index_copy_(2, i, v)), (IMG(), torch.tensor([5]),
                                                                                           R(2, 4, 1, 10))),
    "histc": (lambda x: torch.histc(x, 20, 0.0, 1.0), (R(4, 50),)),
    "histc_of_data": (lambda x: torch.histc(x, 20), (R(200),)),
    "grouped_mm": (lambda a, b: torch._grouped_mm(a, b, offs=torch.tensor([4, 8, 24], dtype=torch.int32)),
                   (R(24, 16).bfloat16(), R(3, 16, 32).bfloat16())),
    "grouped_mm_columns": (lambda a, b: torch._grouped_mm(a, b, offs=torch.tensor([8, 24, 48], dtype=torch.int32)),
                           (R(3, 16, 16).bfloat16(), R(16, 48).bfloat16())),
    "grouped_mm_stacks": (torch._grouped_mm, (R(3, 8, 16).bfloat16(), R(3, 16, 32).bfloat16())),
    "weight_int8pack_mm": (torch._weight_int8pack_mm, (R(4, 48).bfloat16(), I(100, 32, 48).to(torch.int8),
                                                       R(32).bfloat16())),
    "sdpa_three_dims": (F.scaled_dot_product_attention, (R(8, 5, 8), R(8, 6, 8), R(8, 6, 8))),
    "sdpa_five_dims": (lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m), (R(2, 3, 4, 5, 8), B(5, 5))),
    "sdpa_gqa_mask": (lambda q, k, m: F.scaled_dot_product_attention(q, k, k, attn_mask=m, enable_gqa=True),
                      (R(2, 8, 5, 8), R(2, 2, 6, 8), R(5, 6))),
    "frozen_batch_norm": (lambda x, w, b, v, m: (lambda s: x * s + (b - m * s))(w * (v + 1e-5).rsqrt()),
                          (IMG(), *(R(1, 4, 1, 1) for _ in range(4)))),
    "write_chunk": (lambda x: written(x, lambda y: y.chunk(2, 1)[1].neg_()), (IMG(),)),
})


class Function(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return self.f(*args)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.conv, self.relu = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU()
        self.conv2 = torch.nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.join, self.linear = torch.ao.nn.quantized.FloatFunctional(), torch.nn.Linear(8, 5)

    def forward(self, x):
        a = self.relu(self.conv(self.quant(x)))
        b = self.join.add(a, self.conv2(a))
        return self.dequant(self.linear(self.join.cat([a, b], 1).mean((2, 3))))


def quantized_network():
    network = Network().eval()
    network.qconfig = torch.ao.quantization.get_default_qconfig("x86")
    torch.ao.quantization.fuse_modules(network, [["conv", "relu"]], inplace=True)
    prepared = torch.ao.quantization.prepare(network)
    prepared(R(1, 3, 8, 8))
    return torch.ao.quantization.convert(prepared)


MODULES = {
    "lstm": (torch.nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True), (R(2, 5, 4),)),
    "lstm_plain": (torch.nn.LSTM(4, 6, bias=False), (R(5, 2, 4),)),
    "lstm_unbatched": (torch.nn.LSTM(4, 6), (R(5, 4),)),
    "gru": (torch.nn.GRU(4, 6, 2), (R(5, 2, 4),)),
    "rnn": (torch.nn.RNN(4, 6), (R(5, 2, 4),)),
    "rnn_relu": (torch.nn.RNN(4, 6, nonlinearity="relu"), (R(5, 2, 4),)),
    "lstm_cell": (torch.nn.LSTMCell(4, 6), (R(2, 4),)),
    "gru_cell": (torch.nn.GRUCell(4, 6), (R(2, 4),)),
    "rnn_cell": (torch.nn.RNNCell(4, 6), (R(2, 4),)),
    "multihead": (torch.nn.MultiheadAttention(8, 2, batch_first=True), (R(2, 5, 8),) * 3),
    "encoder": (torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (R(2, 5, 8),)),
    "transformer": (torch.nn.Transformer(8, 2, 1, 1, 16), (R(5, 2, 8), R(4, 2, 8))),
    "embedding_bag_module": (torch.nn.EmbeddingBag(5, 4), (I(5, 2, 3),)),
    "quantized_dynamic": (torch.ao.quantization.quantize_dynamic(
        torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU()), {torch.nn.Linear}), (R(2, 4),)),
    "quantized_static": (quantized_network(), (R(1, 3, 8, 8),)),
    "weight_norm_module": (torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4)), (R(2, 3),)),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pt2", type=pathlib.Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    programs = {name: (Function(f), inputs) for name, (f, inputs) in CASES.items()} | MODULES
    lines, skipped = [], []
    for name, (module, inputs) in sorted(programs.items()):
        module = module.eval()
        try:
            lines.append(json.dumps(export_module(module, inputs, name=name)))
        except Exception as error:  # torch's own refusal
            skipped.append(f"{name}: {str(error).splitlines()[0]}")
            continue
        if args.pt2:
            args.pt2.mkdir(parents=True, exist_ok=True)
            try:
                with torch.no_grad():
                    torch.export.save(torch.export.export(module, inputs, strict=False), args.pt2 / f"{name}.pt2")
            except Exception as error:
                skipped.append(f"{name}.pt2: {str(error).splitlines()[0]}")
    (HERE / "operators.jsonl").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} programs; skipped: {len(skipped)}")
    print("\n".join(skipped))
    return 0


if __name__ == "__main__":
    sys.exit(main())
