"""Times of two dozen dense products on a GPU, for `perfc devices calibrate`.

C[m,n] = A[m,k] · B[k,n] by torch.nn.functional.linear in 16 bits. Copies of B take turns, so that the L2 cache holds
none of them where they are large; a CUDA graph of many calls leaves the host's part out.
"""
from __future__ import annotations

import math
from typing import Callable

from .backend import Backend, Unavailable
from .protocol import Protocol, measure

COLUMNS = ("device", "kind", "m", "n", "k", "dtype", "us", "copies")
#: m, n, k. Of the sizes that eight data-centre GPUs were measured with, those that tell most of all others on a chip of
#: a class that nobody measured: studies/kernels/chosen_products.py.
PRODUCTS = [
    (2, 2048, 32), (8, 256, 2048), (8, 2048, 8192), (8, 10240, 2560), (12, 64, 256), (15, 32, 128),
    (112, 3072, 1536), (112, 7168, 128), (128, 5120, 12288), (129, 512, 10240), (129, 16384, 2560), (193, 64, 768),
    (1024, 2560, 2560), (1536, 6144, 1536), (1792, 256, 32), (1793, 12288, 128), (2049, 5120, 512),
    (2560, 128, 16384), (2561, 64, 2048), (2561, 65536, 1536), (3072, 2560, 65536), (4353, 3072, 7168),
    (4353, 16384, 4096), (32768, 1536, 1536),
]
COPIES = 6
GRAPH_US = 2000.0  #: a graph lasts about so long, so that its own launch is a few tenths of a percent
MOST_ROUNDS = 400
TIMING = Protocol(runs=20, seconds=0.1)


def rows(backend: Backend, device: str, dtype: str, say: Callable[[str], None]) -> list[dict]:
    """A row of COLUMNS for every product that fits in memory; `say` is told of the others. dtype: "fp16" or "bf16"."""
    import torch

    backend.open()
    out = []
    with torch.inference_mode():
        for m, n, k in PRODUCTS:
            copies = copies_within(free_bytes(torch), m, n, k)
            if copies == 0:
                say(f"left out, for want of memory: m={m}, n={n}, k={k}")
                continue
            us = product_us(backend, m, n, k, getattr(torch, {"fp16": "float16", "bf16": "bfloat16"}[dtype]), copies)
            out.append(dict(zip(COLUMNS, (device, "gemm", m, n, k, dtype, f"{us:.4g}", copies))))
    return out


def free_bytes(torch) -> float:
    return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def copies_within(free: float, m: int, n: int, k: int) -> int:
    """Of B, at most COPIES, in half of what is free; each has a result of its own."""
    return max(0, min(COPIES, math.floor((free / 2 - 2 * m * k) / (2 * n * k + 2 * m * n))))


def product_us(backend: Backend, m: int, n: int, k: int, dtype, copies: int) -> float:
    """Median of a call."""
    import torch

    x = torch.randn(m, k, device=backend.device, dtype=dtype)
    weights = [torch.randn(n, k, device=backend.device, dtype=dtype) for _ in range(copies)]

    def graph(rounds: int) -> Callable[[], object]:
        def step():
            for _ in range(rounds):
                for w in weights:
                    torch.nn.functional.linear(x, w)
        return backend.capture(step)

    def median_us(rounds: int, protocol: Protocol) -> float:
        replay = graph(rounds)
        return measure(lambda count: backend.time_runs(replay, count), protocol).median_ms * 1e3 / (rounds * copies)

    once = median_us(1, Protocol(warm_up=3, runs=3, seconds=0, attempts=1))
    return median_us(min(MOST_ROUNDS, max(1, math.ceil(GRAPH_US / (once * copies)))), TIMING)


def native_dtype() -> str:
    """bf16 where the GPU's own units have it, from Ampere on."""
    import torch
    return "bf16" if torch.cuda.get_device_capability()[0] >= 8 else "fp16"


def check_backend(name: str) -> None:
    if name != "cuda":
        raise Unavailable("--products needs a GPU that torch sees: of CPUs whole models are calibrated")
