"""Single operators as models: what a device reaches, kernel by kernel (perfc.measure --ops).

A target is op/NAME?key=value,…; the keys are the parameters of the function below of that name, all integers.
"""
from __future__ import annotations

import itertools

import torch
from torch import nn

from .errors import ExportError


class Call(nn.Module):
    """A function of its inputs alone."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def conv2d(n, c, k, hw, window, stride=1):
    return nn.Conv2d(c, k, window, stride, window // 2, bias=False), (torch.zeros(n, c, hw, hw),)


def depthwise(n, c, hw, window):
    return nn.Conv2d(c, c, window, 1, window // 2, groups=c, bias=False), (torch.zeros(n, c, hw, hw),)


def matmul(m, n, k):
    return nn.Linear(k, n, bias=False), (torch.zeros(m, k),)


def batched_matmul(b, m, n, k):
    return Call(torch.bmm), (torch.zeros(b, m, k), torch.zeros(b, k, n))


def attention(n, heads, length, width):
    q = torch.zeros(n, heads, length, width)
    return Call(nn.functional.scaled_dot_product_attention), (q, q.clone(), q.clone())


def layer_norm(rows, width):
    return nn.LayerNorm(width), (torch.zeros(rows, width),)


def batch_norm(n, c, hw):
    return nn.BatchNorm2d(c), (torch.zeros(n, c, hw, hw),)


def group_norm(n, c, hw):
    return nn.GroupNorm(min(32, c), c), (torch.zeros(n, c, hw, hw),)


def softmax(rows, width):
    return nn.Softmax(-1), (torch.zeros(rows, width),)


def relu(size):
    return nn.ReLU(), (torch.zeros(1, size),)


def gelu(size):
    return nn.GELU(), (torch.zeros(1, size),)


def add(size):
    return Call(torch.add), (torch.zeros(1, size), torch.zeros(1, size))


def copy(rows, columns):
    """A transposition: what a layout change costs."""
    return Call(lambda x: x.t().contiguous()), (torch.zeros(rows, columns),)


def take(rows, width, count):
    return nn.Embedding(rows, width), (torch.arange(count).mul(7919).remainder(rows).reshape(1, count),)


#: name -> (function, grid: values by parameter). The grids span launch-bound to peak-bound on CPUs and on data-centre
#: GPUs; sizes that a memory does not hold end as rows that say so.
OPERATORS = {
    "conv2d": (conv2d, {"n": (1, 16), "c": (32, 256), "k": (64, 256), "hw": (14, 56), "window": (1, 3)}),
    "depthwise": (depthwise, {"n": (1, 16), "c": (64, 384), "hw": (14, 56), "window": (3, 5)}),
    "matmul": (matmul, {"m": (1, 128, 2048), "n": (256, 4096), "k": (256, 2048)}),
    "batched_matmul": (batched_matmul, {"b": (12, 192), "m": (64, 256), "n": (64, 256), "k": (64,)}),
    "attention": (attention, {"n": (1, 16), "heads": (8,), "length": (64, 512), "width": (64,)}),
    "layer_norm": (layer_norm, {"rows": (128, 8192), "width": (256, 2048)}),
    "batch_norm": (batch_norm, {"n": (1, 32), "c": (64,), "hw": (14, 112)}),
    "group_norm": (group_norm, {"n": (1, 32), "c": (64,), "hw": (14, 112)}),
    "softmax": (softmax, {"rows": (128, 8192), "width": (128, 2048)}),
    "relu": (relu, {"size": (1 << 8, 1 << 16, 1 << 20, 1 << 24)}),
    "gelu": (gelu, {"size": (1 << 8, 1 << 16, 1 << 20, 1 << 24)}),
    "add": (add, {"size": (1 << 8, 1 << 16, 1 << 20, 1 << 24)}),
    "copy": (copy, {"rows": (64, 4096), "columns": (64, 4096)}),
    "take": (take, {"rows": (32768,), "width": (64, 768), "count": (16, 16384)}),
}


def designed_grid() -> list[str]:
    """Targets of all operators, those of one kind together."""
    return [f"op/{name}?" + ",".join(f"{k}={v}" for k, v in zip(grid, values))
            for name, (_, grid) in OPERATORS.items() for values in itertools.product(*grid.values())]


def build(text: str) -> tuple[nn.Module, tuple]:
    """"matmul?m=1,n=256,k=256" -> the module and its inputs."""
    name, _, arguments = text.partition("?")
    if name not in OPERATORS:
        raise ExportError(f"there is no operator '{name}'; there are {', '.join(OPERATORS)}")
    try:
        values = {key: int(value) for key, _, value in (word.partition("=") for word in arguments.split(","))}
        return OPERATORS[name][0](**values)
    except (TypeError, ValueError):
        wanted = ",".join(f"{k}={v[0]}" for k, v in OPERATORS[name][1].items())
        raise ExportError(f"'{arguments}' does not fit operator {name}: it takes {wanted}") from None
