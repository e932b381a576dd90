"""Which of perfc's kernels are which of PyTorch's calls: the rules of dispatch_test.py, each with its reason.

A call of PyTorch's is an ATen operator below autograd that launches something; which launch nothing, and why, was
decided when they were recorded (`launches` in tests/oracle/dispatch.py). It stands for one call of perfc's: one
kernel, or several where `calls_of` says so.
"""
import functools
import json
import re
import subprocess

PERFC = ""  #: the program; set by the test

PRODUCTS = {"nn.dense", "nn.batch_matmul", "einsum"}
COPIES = {"copy", "reshape", "transpose", "contiguous"}
#: ATen operators below autograd → perfc's operators that are the same call; beside what `perfc ops` says of the
#: operator's name.
EQUIVALENT = {
    # composites of torch are other operators below autograd
    **dict.fromkeys(("mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "addbmm", "_addmm_activation"), PRODUCTS),
    "_cudnn_rnn": {"nn.lstm", "nn.gru", "nn.rnn"},
    "_thnn_fused_lstm_cell": {"nn.lstm"},
    "_thnn_fused_gru_cell": {"nn.gru"},
    "native_batch_norm": {"nn.instance_norm"},  # nn.InstanceNorm is a batch-norm of a view
    "mean": {"nn.global_avg_pool", "nn.adaptive_avg_pool2d"},
    "_adaptive_avg_pool2d": {"mean", "nn.avg_pool1d"},  # of one dim: of a view
    "avg_pool2d": {"nn.avg_pool1d"},
    "adaptive_max_pool2d": {"max", "nn.max_pool2d", "nn.max_pool1d"},
    "max_pool2d_with_indices": {"nn.max_pool1d"},
    "convolution": {"nn.conv1d_transpose", "nn.conv3d_transpose"},
    "_trilinear": {"einsum"},
    "cross_entropy_loss": {"nn.cross_entropy"},
    "nll_loss_forward": {"nn.nll_loss", "nn.cross_entropy"},
    "nll_loss2d_forward": {"nn.nll_loss", "nn.cross_entropy"},
    # copies have many names
    "clone": COPIES | {"broadcast_to"},
    "_to_copy": COPIES | {"cast"},
    "copy_": COPIES | {"cast", "scatter_elements", "where", "broadcast_to"},
    "contiguous": COPIES,
    "repeat": {"broadcast_to", "concatenate"} | COPIES,
    "stack": {"concatenate"},
    "cat": {"concatenate"},
    "fill_": {"full", "broadcast_to", "scatter_elements", "copy"},
    "zero_": {"full", "broadcast_to", "scatter_elements", "copy"},
    **dict.fromkeys(("ceil", "floor", "round", "trunc"), {"copy"}),  # of integers
    "zeros": {"full"},
    "ones": {"full"},
    "scalar_tensor": {"full"},
    "pixel_shuffle": {"depth_to_space", "transpose", "reshape"},
    "pixel_unshuffle": {"space_to_depth", "transpose", "reshape"},
    "channel_shuffle": COPIES,
    "roll": {"concatenate"},
    "flip": {"take", "strided_slice"},
    "unfold": {"take"},
    "index": {"take", "gather_nd", "gather"},
    # one kernel under several names
    "pow": {"power", "multiply", "sqrt"},
    "add": {"add", "logical_or", "nn.bias_add"},  # linear adds its bias by itself where its data is no matrix
    "mul": {"multiply", "logical_and"},
    "sub": {"subtract"},
    "rsub": {"subtract"},
    "hardtanh": {"clip", "nn.relu6"},
    "gelu": {"nn.gelu", "nn.fast_gelu", "nn.quick_gelu"},
    "silu": {"nn.silu", "nn.swish"},
    "ne": {"not_equal"},
    "threshold": {"nn.relu"},
    "constant_pad_nd": {"nn.pad"},
    "sigmoid": {"sigmoid"},
    "clamp_min": {"nn.relu", "clip", "maximum"},
    "clamp": {"clip"},
    "bitwise_not": {"logical_not"},
    "linalg_vector_norm": {"reduce_l2"},
    "masked_fill": {"where"},
    "any": {"max"},
    "all": {"min"},
    "diag_embed": {"full"},
    "index_put": {"scatter_nd", "scatter_elements"},
    "select_scatter": {"strided_set"},
    "slice_scatter": {"strided_set"},
    "log_softmax": {"nn.log_softmax"},
    **dict.fromkeys(("_scaled_dot_product_efficient_attention", "_scaled_dot_product_flash_attention"),
                    {"nn.sdpa", "nn.attention"}),
    "elu": {"nn.selu", "nn.celu"},
    "rrelu_with_noise": {"nn.leaky_relu"},
}
#: Pointwise kernels of losses; a kernel that reduces them follows.
LOSSES = {"nn.mse_loss", "nn.smooth_l1_loss", "nn.huber_loss", "nn.binary_cross_entropy"}
#: What a kernel of PyTorch's copies by itself before it computes, below the dispatcher: no call of its own.
COPY_THEMSELVES = ("nn.conv", "nn.softmax", "nn.log_softmax", "nn.layer_norm", "nn.rms_norm", "nn.lstm", "nn.gru",
                   "nn.rnn", "strided_set", "where")


#: Operators of which one call runs several kernels of the same name …
ONE_CALL = {"roll", "nn.lstm", "nn.gru", "nn.rnn", "dft"}
#: … and operators of the file whose kernels are one call: below the dispatcher they are functions of C++.
WITHIN = ("/renorm", "/binary_cross_entropy_with_logits")


def calls_of(kernels: list[dict]) -> list[dict]:
    """perfc's kernels → its calls, {"op", "node", "elements", "kernels"}. Several kernels of one node are one call
    where one call of PyTorch's launches them:

    - a convolution and the kernel that adds its bias (cuDNN adds none);
    - what convolutions, norms of rows, softmax, recurrent layers, slice_scatter and masked_fill copy before they work
      on it;
    - a group or instance norm and the kernel that adds up its statistics;
    - a batch norm in 16 bits and what it makes of its running variance;
    - a loss and the kernel that sums it up;
    - concatenations of more than four dims, a copy per part;
    - a constant's fill and the copy into it (constant_pad_nd, diag_embed);
    - roll and Fourier transforms, a kernel per dim; recurrent layers, a kernel per layer;
    - what PyTorch computes within one operator by several kernels (renorm, …);
    - _safe_softmax of PyTorch's reference attention: a softmax, the search for rows that are -inf throughout, their
      zeros.

    A loop's body counts as often as it runs.
    """
    calls = []
    for k in kernels:
        op, node = k["operators"].split(" ")[0], k["node"]
        before = calls[-1] if calls and calls[-1]["node"] == node else None
        elements = round(float(k["m"]) * float(k["n"]) * float(k["products"]))
        if before and op == "nn.bias_add" and before["op"].startswith("nn.conv"):
            before["kernels"] += 1
        elif before and before["op"] == "full" and op == "nn.pad":
            before.update(op=op, kernels=before["kernels"] + 1)
        elif before and before["op"] == "copy" and op.startswith(COPY_THEMSELVES):
            before.update(op=op, elements=elements, kernels=before["kernels"] + 1)
        elif before and before["op"] == "mean" and op in ("nn.group_norm", "nn.instance_norm"):
            before.update(op=op, elements=elements, kernels=before["kernels"] + 1)
        elif before and (before["op"], op) in (("copy", "rsqrt"), ("rsqrt", "nn.batch_norm")):
            before.update(op=op, elements=elements, kernels=before["kernels"] + 1)
        elif before and before["op"] in LOSSES and op in ("mean", "sum_axes"):
            before.update(elements=elements, kernels=before["kernels"] + 1)
        elif before and before["op"] == op and op in ONE_CALL:
            before["kernels"] += 1
        elif before and before["op"] == "concatenate" and op == "copy":
            before.update(elements=before["elements"] + elements, kernels=before["kernels"] + 1)
        elif before and before["op"] == "full" and op == "copy" and ("/" + node).endswith("/diag_embed"):
            before["kernels"] += 1
        elif before and ("/" + node).endswith(WITHIN):
            before.update(op=op, elements=elements, kernels=before["kernels"] + 1)
        elif before and before["op"] == "nn.softmax" and op in ("equal", "max", "where"):
            before["kernels"] += 1
        else:
            calls.append(
                {"op": op, "node": node, "elements": elements, "kernels": 1, "repeat": round(float(k["repeat"]))})
    return [c for c in calls for _ in range(min(c["repeat"], 10_000))]


def base(overload: str) -> str:
    """"aten.add_.Tensor" → "add_"."""
    return overload.split(".")[1]


@functools.cache
def importer() -> dict[str, set[str]]:
    """ATen operator → operators that perfc's importer makes of it."""
    listed = json.loads(subprocess.check_output([PERFC, "ops", "--json"], text=True))["frontends"]["torch"]
    return {
        row["op"].removeprefix("aten::"): set(re.split(r"[ ,]+", row["becomes"])) for row in listed
        if row["op"].startswith("aten::")
    }


@functools.cache
def same(aten: str, op: str) -> bool:
    """Whether perfc's operator can be that call."""
    for name in (aten, aten.rstrip("_")):
        if op in importer().get(name, ()) or op in EQUIVALENT.get(name, ()):
            return True
    return op in (aten, "nn." + aten.rstrip("_"))


#: Calls that perfc computes as a larger operator whose first results they are, or as pairs of numbers; those that give
#: their operand, of which they write a part; attention of padded heads.
OTHER_SIZE = {
    "_scaled_dot_product_flash_attention",
    "addbmm", "kthvalue", "median", "nanmedian", "mode", "_fft_r2c", "_fft_c2c", "_fft_c2r", "index_put_",
    "index_copy_", "index_add_", "index_fill_", "index_reduce_", "scatter_", "scatter_add_", "scatter_reduce_"
}


def match(theirs: dict, ours: dict) -> bool:
    """Whether they are the same call: by operator, and by elements of the result. Extents are printed as whole
    numbers, sizes that depend on data are 0."""
    if not same(theirs["op"], ours["op"]):
        return False
    wanted, found = theirs["elements"], ours["elements"]
    return wanted == found or abs(wanted - found) < 0.01 * wanted or wanted == 0 or theirs["op"] in OTHER_SIZE
