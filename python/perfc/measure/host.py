"""What this host takes to dispatch calls: an entry for perfc's --host.

Every call is made on tensors of a few elements, over and over. With a GPU its kernels run meanwhile and nobody waits
for them. Without one the calls run on the CPU, where PyTorch does the same for them (Python, dispatcher, checks, memory
of the result) but for the launch of the kernel, which counts as LAUNCH_US.
"""
from __future__ import annotations

import statistics
import time
from typing import Callable

from .cpu import cpu_name
from .describe import device_name

#: cudaLaunchKernel, µs: the mean of 266,097 launches on an H100's host (github.com/turboderp/exllama, issue 29).
LAUNCH_US = 3.25
#: Residual blocks and layers of a transformer that say what a call takes in a model, beside the same call in a loop,
#: whose caches hold nothing else: 1.07 times on an AMD EPYC 9004.
BLOCKS, LAYERS = 16, 12
#: … and in whole models of hundreds of layers, beside that: 1.97 and 1.56 times on the hosts of two H200s (16 and 20
#: models, studies/hopper).
WHOLE = 1.75
#: A kernel that TorchInductor generates over an eager call of one kernel: 0.37 on an H200's host (studies/hopper,
#: fit_generated.py).
COMPILED = 0.4
#: Factors that 90 % of runs lie within (our choice): those two hosts' models by 1.4; without a GPU the launch differs
#: from host to host, too.
INTERVAL = {"cpu": 1.5, "cuda": 1.4}
#: So many calls are timed as one: fewer than a GPU's queue holds (1,024), so that the host never waits for it.
CALLS, ATTEMPTS, WARM_UP = 200, 25, 20


def calls(device: str) -> dict[str, list[Callable[[], object]]]:
    """By class of call (devices/host.h), what stands for it; the class's cost is their mean."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    image, tokens = torch.randn(1, 8, 4, 4, device=device), torch.randn(1, 4, 8, device=device)
    heads, words = torch.randn(1, 2, 4, 8, device=device), torch.tensor([[1, 2, 3]], device=device)
    relu, linear, convolution = nn.ReLU(), nn.Linear(8, 8), nn.Conv2d(8, 8, 1, bias=False)
    batch_norm, layer_norm, embedding = nn.BatchNorm2d(8), nn.LayerNorm(8), nn.Embedding(16, 8)
    for module in (linear, convolution, batch_norm, layer_norm, embedding):
        module.to(device).eval()
    written = image.clone()
    return {
        "view": [lambda: tokens.view(1, 4, 2, 4).transpose(1, 2)],  # a chain of two, as around attention
        "inner": [lambda: torch.relu_(written)],
        "kernel": [
            lambda: relu(image), lambda: image + image, lambda: image.mean((2, 3)), lambda: F.softmax(tokens, -1),
            lambda: torch.cat([tokens, tokens], 1), lambda: tokens.transpose(1, 2).contiguous(),
            lambda: embedding(words), lambda: F.max_pool2d(image, 2)],
        "product": [lambda: linear(tokens)],
        "convolution": [lambda: convolution(image)],
        "normalization": [lambda: batch_norm(image), lambda: layer_norm(tokens)],
        "composite": [lambda: F.scaled_dot_product_attention(heads, heads, heads)],
    }


def call_us(call: Callable[[], object], wait: Callable[[], object], calls: int | None = None) -> float:
    """Of the quietest attempt: what disturbs a CPU only ever takes time."""
    calls = calls or CALLS
    for _ in range(WARM_UP):
        call()
    best = float("inf")
    for _ in range(ATTEMPTS):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter() - start)
    return best / calls * 1e6


def models(device: str) -> list[tuple[Callable[[], object], dict[str, int]]]:
    """Small models, and how many calls of each class one run of them makes."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = (nn.Conv2d(8, 8, 1, bias=False) for _ in range(2))
            self.norm, self.last = (nn.BatchNorm2d(8) for _ in range(2))
            self.act = nn.ReLU(inplace=True)

        def forward(self, x):
            y = self.act(self.norm(self.first(x)))
            return self.act(self.last(self.second(y)) + x)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.after = nn.LayerNorm(8), nn.LayerNorm(8)
            self.query, self.key, self.value, self.out = (nn.Linear(8, 8) for _ in range(4))
            self.wide, self.narrow, self.act = nn.Linear(8, 32), nn.Linear(32, 8), nn.GELU()

        def forward(self, x):
            y = self.before(x)
            heads = [part(y).view(1, 4, 2, 4).transpose(1, 2) for part in (self.query, self.key, self.value)]
            y = F.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(1, 4, 8)
            x = x + self.out(y)
            return x + self.narrow(self.act(self.wide(self.after(x))))

    image, tokens = torch.randn(1, 8, 4, 4, device=device), torch.randn(1, 4, 8, device=device)
    blocks = nn.Sequential(*(Block() for _ in range(BLOCKS))).to(device).eval()
    layers = nn.Sequential(*(Layer() for _ in range(LAYERS))).to(device).eval()
    return [(lambda: blocks(image), {"convolution": 2 * BLOCKS, "normalization": 2 * BLOCKS, "inner": 2 * BLOCKS,
                                     "kernel": BLOCKS}),
            (lambda: layers(tokens), {"normalization": 2 * LAYERS, "product": 6 * LAYERS, "view": 3 * LAYERS,
                                      "composite": LAYERS, "kernel": 4 * LAYERS})]


def in_model(device: str, measured: dict[str, float], wait: Callable[[], object]) -> float:
    """What a call takes in a model over what it takes in a loop, at least as long."""
    factors = [call_us(run, wait, 1) / sum(n * measured[kind] for kind, n in of.items()) for run, of in models(device)]
    return max(1.0, statistics.geometric_mean(factors))


def entry(backend: str, name: str | None = None) -> dict:
    """A host of data/hosts.json. `backend`: "cuda" or "cpu"; one thread, as a model's launches are made by."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            wait = torch.cuda.synchronize if backend == "cuda" else lambda: None
            loop = call_us(lambda: None, lambda: None)
            measured = {
                kind: sum(call_us(call, wait) - loop for call in of_kind) / len(of_kind)
                for kind, of_kind in calls(backend).items()}
            factor = WHOLE * in_model(backend, measured, wait)
    finally:
        torch.set_num_threads(threads)
    launch = 0 if backend == "cuda" else LAUNCH_US
    eager = {kind: round(us * factor + (launch if kind != "view" else 0), 2) for kind, us in measured.items()}
    how = "a GPU's kernels, not waited for" if backend == "cuda" else f"CPU tensors, and {LAUNCH_US} µs per launch"
    return {
        "name": name or device_name(cpu_name()), "title": cpu_name(), "framework": f"PyTorch {torch.__version__}",
        "eager_us": eager, "compiled_us": round(eager["kernel"] * COMPILED, 2), "interval": INTERVAL[backend],
        "source": f"python -m perfc.measure --host: {how}"}
