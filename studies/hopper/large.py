"""Kernels of large transformers on a lent GPU, and what minutes at its power limit do to them: see README.md.

    python3 measure.py OUT --parts large,sustained,diffusion --seconds 300
"""
import csv
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from operators import draw, name_of

sys.path.append(str(pathlib.Path(__file__).parent.parent / "diffusion"))

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION}
HALF = torch.bfloat16
#: batch, heads, rows, keys, width, causal
ATTENTION = ((1, 24, 4608, 4608, 128, 0), (2, 24, 4429, 4429, 64, 0), (2, 38, 4429, 4429, 64, 0),
             (2, 16, 4096, 4096, 72, 0), (2, 16, 4096, 300, 72, 0), (2, 16, 4096, 4096, 88, 0),
             (1, 12, 16384, 16384, 128, 0), (1, 12, 32760, 512, 128, 0), (2, 30, 8192, 8192, 64, 0),
             (1, 32, 2048, 2048, 128, 1), (1, 32, 8192, 8192, 128, 1), (8, 32, 512, 512, 128, 1),
             (1, 32, 2048, 2048, 128, 0), (4, 16, 1024, 1024, 64, 0), (4, 16, 1024, 1024, 64, 1),
             (1, 16, 16384, 16384, 64, 1), (32, 12, 197, 197, 64, 0), (32, 12, 512, 512, 64, 0),
             (1, 8, 4096, 4096, 256, 1), (16, 32, 1, 1024, 128, 0), (64, 32, 1, 4096, 128, 0),
             (1, 32, 1, 16384, 128, 0))
ROWS = (4096, 4608, 8192, 32760)
WEIGHTS = ((3072, 3072), (12288, 3072), (3072, 12288), (21504, 3072), (3072, 15360), (1152, 1152), (4608, 1152),
           (1152, 4608), (1536, 1536), (6144, 1536), (2432, 2432), (9728, 2432), (5120, 5120), (13824, 5120),
           (5120, 13824), (8960, 1536))
SERVED = ((4096, 4096), (6144, 4096), (28672, 4096), (4096, 14336), (128256, 4096))
DIFFUSION = ("flux_dev", "sd35_medium", "pixart_sigma", "wan_1_3b", "hunyuan_dit", "sd35_large", "sana15_1_6b",
             "cogvideox_2b")
SECONDS = 5  # of a loop
SHAPES = ((1, 4608, 3072), (2, 4096, 1152), (1, 32760, 1536), (2, 4429, 2432), (1, 4608, 12288))


def attention(device):
    for b, h, rows, keys, d, causal in ATTENTION:
        q, k, v = (draw(b, h, n, d, dtype=HALF, device=device) for n in (rows, keys, keys))
        for backend, flag in BACKENDS.items():
            def call(q=q, k=k, v=v, flag=flag, causal=bool(causal)):
                with sdpa_kernel(flag):
                    F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            yield name_of(f"attention_{backend}", HALF, b=b, h=h, l=rows, keys=keys, d=d, causal=causal), call


def products(device):
    for m, weights in [(m, WEIGHTS) for m in ROWS] + [(m, SERVED) for m in (1, 16, 64, 256, 1024, 4096)]:
        for n, k in weights:
            x, w = draw(m, k, dtype=HALF, device=device), draw(n, k, dtype=HALF, device=device)
            bias = draw(n, dtype=HALF, device=device)
            yield name_of("linear", HALF, m=m, n=n, k=k), lambda x=x, w=w, b=bias: F.linear(x, w, b)
            if weights is SERVED:
                yield name_of("linear_bare", HALF, m=m, n=n, k=k), lambda x=x, w=w: F.linear(x, w)


def elements(device):
    for b, rows, width in SHAPES:
        x, y = draw(b, rows, width, dtype=HALF, device=device), draw(b, rows, width, dtype=HALF, device=device)
        for kind, call in elements_of(x, y, draw(b, 1, width, dtype=HALF, device=device)):
            yield name_of(kind, HALF, b=b, l=rows, width=width), call


def elements_of(x, y, gate):
    width = x.shape[-1]
    weight = torch.ones(width, device=x.device, dtype=HALF)
    heads = x.view(*x.shape[:2], -1, 64)
    angles = draw(x.shape[1], 1, 64, device=x.device)
    return (("gelu_tanh", lambda: F.gelu(x, approximate="tanh")), ("silu", lambda: F.silu(x)),
            ("add", lambda: x + y), ("mul", lambda: x * y), ("gate", lambda: x * gate), ("shift", lambda: x + gate),
            ("layer_norm_bare", lambda: F.layer_norm(x, (width,))),
            ("layer_norm", lambda: F.layer_norm(x, (width,), weight, weight)),
            ("rms_norm", lambda: F.rms_norm(x, (width,), weight)), ("to_fp32", lambda: x.float()),
            ("pow", lambda: x.float().pow(2)), ("mean_last", lambda: x.float().pow(2).mean(-1, keepdim=True)),
            ("rotate", lambda: heads.float() * angles), ("cat_rows", lambda: torch.cat([x, y], 1)),
            ("cat_last", lambda: torch.cat([x, y], -1)), ("transpose", lambda: heads.transpose(1, 2).contiguous()),
            ("softmax", lambda: F.softmax(x, -1)))


GROUPS = (attention, products, elements)
COLUMNS = ("what", "second", "ms", "clock_mhz", "power_w", "throttle", "message")


class Windows:
    """OUT/sustained.tsv: half a second a row, of what goes on for seconds."""

    def __init__(self, path, clock, backend):
        self.file = open(path, "a", newline="")
        self.writer = csv.DictWriter(self.file, COLUMNS, delimiter="\t", lineterminator="\n")
        self.writer.writeheader()
        self.clock, self.backend = clock, backend

    def run(self, what, step):
        backend, start = self.backend, time.perf_counter()
        try:
            step()
            once = max(backend.time_runs(step, 2)[-1], 0.01)
            count = max(1, min(2000, round(500 / once)))
            elapsed = 0
            while elapsed < SECONDS:
                before, at = self.clock.energy(), time.perf_counter()
                runs = backend.time_runs(step, count)
                now = self.clock.now()
                joules, took = (self.clock.energy() or 0) - (before or 0), time.perf_counter() - at
                elapsed = time.perf_counter() - start
                self.writer.writerow({"what": what, "second": f"{elapsed:.2f}",
                                      "ms": f"{sum(runs) / len(runs):.5f}", "clock_mhz": now.get("clock_mhz"),
                                      "power_w": f"{joules / took:.1f}", "throttle": now.get("throttle")})
            print(what, f"{sum(runs) / len(runs):.4f} ms", f"{joules / took:.0f} W", now, flush=True)
        except Exception as error:
            print(what, repr(error)[:300], flush=True)
            self.writer.writerow({"what": what, "message": repr(error)[:200].replace("\n", " ").replace("\t", " ")})
        self.file.flush()


def loops(device):
    """What each of these does to clocks and power."""
    m = 8192
    x, w = draw(m, m, dtype=HALF, device=device), draw(m, m, dtype=HALF, device=device)
    yield "linear 8192 8192 8192 bf16", lambda: F.linear(x, w)
    yield "linear 8192 8192 8192 fp16", lambda a=x.half(), b=w.half(): F.linear(a, b)
    yield "linear 8192 8192 8192 tf32", lambda a=x.float(), b=w.float(): F.linear(a, b)
    a, b = draw(4608, 3072, dtype=HALF, device=device), draw(12288, 3072, dtype=HALF, device=device)
    yield "linear 4608 12288 3072 bf16", lambda: F.linear(a, b)
    q = draw(1, 24, 4608, 128, dtype=HALF, device=device)

    def attend(flag):
        with sdpa_kernel(flag):
            F.scaled_dot_product_attention(q, q, q)
    for name in ("flash", "cudnn"):
        yield f"attention {name} 24 4608 128 bf16", lambda flag=BACKENDS[name]: attend(flag)
    big = draw(1 << 28, dtype=HALF, device=device)
    yield "gelu 268435456 bf16", lambda: F.gelu(big, approximate="tanh")
    yield "clone 268435456 bf16", lambda: big.clone()
    small = draw(1 << 23, dtype=HALF, device=device)
    yield "gelu 8388608 bf16", lambda: F.gelu(small, approximate="tanh")


def diffusion(out, backend, clock, profiler, only, left):
    """Whole denoising transformers with random weights: kernels of a pass by PyTorch's own choice of attention, and
    loops of passes by that and by FlashAttention-2. `left`: how many seconds there are."""
    import transformers_models
    windows = Windows(out / "sustained.tsv", clock, backend)
    for name in DIFFUSION[:only]:
        if left() < 2 * SECONDS + 8:
            print("no time for", name, flush=True)
            break
        try:
            with torch.device(backend.device):
                model, inputs = getattr(transformers_models, name)()
        except Exception as error:
            print(name, repr(error)[:500], flush=True)
            continue

        def step(model=model, inputs=inputs):
            model(*inputs)
        with torch.inference_mode():
            windows.run(f"{name} default", step)
            with sdpa_kernel([BACKENDS["flash"], BACKENDS["efficient"], SDPBackend.MATH], set_priority=True):
                windows.run(f"{name} flash", step)
            try:
                with profiler.session("diffusion"):
                    for _ in range(2):
                        with torch.profiler.record_function(f"cell:{name} batch 1 bf16"):
                            step()
                        backend.synchronize()
            except Exception as error:
                print(name, "profile", repr(error)[:300], flush=True)
        del model, inputs, step
        if backend.name == "cuda":
            torch.cuda.empty_cache()

