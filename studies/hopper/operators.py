"""Single operators over sizes, for the profiler: (cell's name, function of no arguments) of each."""
import torch
import torch.nn.functional as F
from torch import nn


def draw(*shape, dtype=torch.float32, device="cuda"):
    return torch.randn(*shape, device=device, dtype=torch.float32).to(dtype)


def whole(high, *shape, device="cuda"):
    return torch.randint(0, high, shape, device=device)


NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
HALVES = (torch.float32, torch.float16)


def name_of(kind, dtype, **sizes):
    return f"op/{kind}?" + ",".join(f"{k}={v}" for k, v in sizes.items()) + f" {NAMES[dtype]}"


def pointwise(device):
    for dtype in HALVES:
        for power in (10, 14, 18, 20, 22, 24, 26):
            x, y = draw(1 << power, dtype=dtype, device=device), draw(1 << power, dtype=dtype, device=device)
            other = torch.float16 if dtype == torch.float32 else torch.float32
            for kind, call in (("relu", lambda x=x: torch.relu(x)), ("gelu", lambda x=x: F.gelu(x)),
                               ("silu", lambda x=x: F.silu(x)), ("add", lambda x=x, y=y: x + y),
                               ("scale", lambda x=x: x * 0.5), ("relu_", lambda x=x: torch.relu_(x)),
                               ("pow", lambda x=x: torch.pow(x, 2.5)), ("clone", lambda x=x: x.clone()),
                               ("cast", lambda x=x, o=other: x.to(o)), ("greater", lambda x=x: x > 0),
                               ("fill", lambda x=x: torch.zeros_like(x)),
                               ("where", lambda x=x, y=y: torch.where(x > 0, x, y))):
                yield name_of(kind, dtype, size=1 << power), call
        for n, c, hw in ((1, 64, 56), (32, 256, 28), (32, 64, 112), (64, 1024, 14)):
            x = draw(n, c, hw, hw, dtype=dtype, device=device)
            scale = draw(1, c, 1, 1, dtype=dtype, device=device)
            gate = draw(n, c, 1, 1, dtype=dtype, device=device)
            sizes = dict(n=n, c=c, hw=hw)
            yield name_of("scale_channels", dtype, **sizes), lambda x=x, s=scale: x * s
            yield name_of("gate", dtype, **sizes), lambda x=x, s=gate: x * s
            last = x.contiguous(memory_format=torch.channels_last)
            yield name_of("scale_channels_last", dtype, **sizes), lambda x=last, s=scale: x * s


def copies(device):
    for dtype in HALVES:
        for n, c, hw in ((1, 64, 56), (32, 64, 56), (32, 512, 14), (32, 2048, 7), (64, 32, 112), (32, 3, 224)):
            x = draw(n, c, hw, hw, dtype=dtype, device=device)
            sizes = dict(n=n, c=c, hw=hw)
            last = x.contiguous(memory_format=torch.channels_last)
            yield name_of("to_channels_last", dtype, **sizes), lambda x=x: x.contiguous(
                memory_format=torch.channels_last)
            yield name_of("to_channels_first", dtype, **sizes), lambda x=last: x.contiguous()
            yield name_of("permute", dtype, **sizes), lambda x=x: x.permute(0, 2, 3, 1).contiguous()
            yield name_of("roll", dtype, **sizes), lambda x=last.permute(0, 2, 3, 1): torch.roll(x, (-3, -3), (1, 2))
            yield name_of("pad", dtype, **sizes), lambda x=x: F.pad(x, (1, 1, 1, 1))
            yield name_of("reflect", dtype, **sizes), lambda x=x: F.pad(x, (1, 1, 1, 1), mode="reflect")
            yield name_of("cat", dtype, **sizes), lambda x=x: torch.cat([x, x], 1)
            yield name_of("cat_last", dtype, **sizes), lambda x=last: torch.cat([x, x], 1)
            yield name_of("chunk_copy", dtype, **sizes), lambda x=x: x[:, : max(1, x.shape[1] // 2)].contiguous()
            yield name_of("shuffle", dtype, **sizes), lambda x=x: x.view(x.shape[0], -1, x.shape[1] // 2 or 1, *x.shape[
                2:]).transpose(1, 2).contiguous()
            if c % 4 == 0:
                yield name_of("pixel_shuffle", dtype, **sizes), lambda x=x: F.pixel_shuffle(x, 2)
        for b, h, l, d in ((8, 12, 197, 64), (32, 12, 128, 64), (1, 32, 512, 128), (256, 4, 49, 32)):
            x = draw(b, l, h, d, dtype=dtype, device=device)
            sizes = dict(b=b, h=h, l=l, d=d)
            yield name_of("heads", dtype, **sizes), lambda x=x: x.transpose(1, 2).contiguous()
            yield name_of("heads_t", dtype, **sizes), lambda x=x: x.permute(0, 2, 3, 1).contiguous()
            qkv = draw(b, l, 3, h, d, dtype=dtype, device=device)
            yield name_of("qkv", dtype, **sizes), lambda x=qkv: x.permute(2, 0, 3, 1, 4).contiguous()
            yield name_of("rotate_half", dtype, **sizes), lambda x=x, d=d: torch.cat(
                [-x[..., d // 2:], x[..., : d // 2]], -1)


def rows(device):
    for dtype in HALVES:
        for count in (64, 1024, 16384, 131072):
            for width in (32, 49, 197, 512, 768, 1024, 4096):
                if count * width > 1 << 27:
                    continue
                x = draw(count, width, dtype=dtype, device=device)
                sizes = dict(rows=count, width=width)
                weight = torch.ones(width, device=device, dtype=dtype)
                yield name_of("softmax", dtype, **sizes), lambda x=x: F.softmax(x, -1)
                yield name_of("layer_norm", dtype, **sizes), lambda x=x, w=weight: F.layer_norm(x, w.shape, w, w)
                yield name_of("rms_norm", dtype, **sizes), lambda x=x, w=weight: F.rms_norm(x, w.shape, w)
                yield name_of("mean_last", dtype, **sizes), lambda x=x: x.mean(-1)
                yield name_of("sum_first", dtype, **sizes), lambda x=x: x.sum(0)
                yield name_of("argmax", dtype, **sizes), lambda x=x: x.argmax(-1)
                if width in (49, 512, 4096):
                    yield name_of("var_mean", dtype, **sizes), lambda x=x: torch.var_mean(x, -1)
                    yield name_of("norm", dtype, **sizes), lambda x=x: torch.linalg.vector_norm(x, dim=-1)
                    yield name_of("cumsum", dtype, **sizes), lambda x=x: x.cumsum(-1)
                    if count <= 16384:
                        yield name_of("topk", dtype, **sizes), lambda x=x: x.topk(8, -1)
                        yield name_of("sort", dtype, **sizes), lambda x=x: x.sort(-1)


def images(device):
    for dtype in HALVES:
        for n in (1, 32):
            for c, hw in ((64, 112), (96, 56), (256, 56), (512, 28), (1024, 14), (2048, 7)):
                x = draw(n, c, hw, hw, dtype=dtype, device=device)
                last = x.contiguous(memory_format=torch.channels_last)
                ones = torch.ones(c, device=device)
                sizes = dict(n=n, c=c, hw=hw)
                for suffix, t in (("", x), ("_last", last)):
                    yield name_of("batch_norm" + suffix, dtype, **sizes), lambda t=t, o=ones: F.batch_norm(
                        t, o, o, o, o)
                    yield name_of("mean_hw" + suffix, dtype, **sizes), lambda t=t: t.mean((2, 3))
                    yield name_of("adaptive" + suffix, dtype, **sizes), lambda t=t: F.adaptive_avg_pool2d(t, 1)
                    yield name_of("max_pool" + suffix, dtype, **sizes), lambda t=t: F.max_pool2d(t, 3, 2, 1)
                    yield name_of("avg_pool" + suffix, dtype, **sizes), lambda t=t: F.avg_pool2d(t, 2, 2)
                    if hw <= 56:
                        yield name_of("nearest" + suffix, dtype, **sizes), lambda t=t: F.interpolate(
                            t, scale_factor=2)
                        yield name_of("bilinear" + suffix, dtype, **sizes), lambda t=t: F.interpolate(
                            t, scale_factor=2, mode="bilinear")
                weight = ones.to(dtype)
                yield name_of("group_norm", dtype, **sizes), lambda x=x, o=weight: F.group_norm(x, 32, o, o)
                yield name_of("batch_norm_training", dtype, **sizes), lambda x=x, o=ones: F.batch_norm(
                    x, o.clone(), o.clone(), o, o, True)


def tables(device):
    for dtype in HALVES:
        for height, width, count in ((30522, 768, 128), (30522, 768, 4096), (128256, 2048, 4096), (50257, 1024, 8192)):
            table, at = draw(height, width, dtype=dtype, device=device), whole(height, count, device=device)
            sizes = dict(height=height, width=width, count=count)
            yield name_of("embedding", dtype, **sizes), lambda t=table, i=at: F.embedding(i, t)
            yield name_of("index", dtype, **sizes), lambda t=table, i=at: t[i]
            yield name_of("index_select", dtype, **sizes), lambda t=table, i=at: t.index_select(0, i)
        for count, width in ((4096, 256), (65536, 64), (1 << 20, 16)):
            x, at = draw(count, width, dtype=dtype, device=device), whole(count, count, width, device=device)
            sizes = dict(count=count, width=width)
            yield name_of("gather", dtype, **sizes), lambda x=x, i=at: x.gather(0, i)
            yield name_of("scatter_add", dtype, **sizes), lambda x=x, i=at: x.scatter_add(0, i, x)
            yield name_of("index_add", dtype, **sizes), lambda x=x, i=at[:, 0].contiguous(): x.index_add(0, i, x)
        for n, c, hw in ((1, 64, 128), (16, 64, 128)):
            x, grid = draw(n, c, hw, hw, dtype=dtype, device=device), draw(n, hw, hw, 2, dtype=dtype,
                                                                           device=device).clamp(-1, 1)
            yield name_of("grid_sample", dtype, n=n, c=c, hw=hw), lambda x=x, g=grid: F.grid_sample(
                x, g, align_corners=False)


CONVOLUTIONS = (  # channels, filters, height, window, stride
    (3, 64, 224, 7, 2), (3, 32, 224, 3, 2), (3, 96, 224, 4, 4), (3, 768, 224, 16, 16), (64, 64, 56, 1, 1),
    (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (256, 64, 56, 1, 1), (128, 128, 56, 3, 2), (256, 512, 56, 1, 2),
    (128, 128, 28, 3, 1), (128, 512, 28, 1, 1), (512, 128, 28, 1, 1), (256, 256, 14, 3, 1), (256, 1024, 14, 1, 1),
    (1024, 256, 14, 1, 1), (512, 512, 7, 3, 1), (2048, 512, 7, 1, 1), (16, 96, 112, 1, 1), (144, 24, 56, 1, 1),
    (240, 40, 28, 1, 1), (80, 480, 14, 1, 1), (64, 64, 224, 3, 1), (512, 512, 28, 3, 1), (192, 384, 28, 2, 2),
    (512, 512, 14, 5, 1), (128, 192, 17, 7, 1))
DEPTHWISE = ((32, 112, 3, 1), (96, 112, 3, 2), (144, 56, 3, 1), (240, 28, 5, 1), (480, 14, 5, 1), (1152, 7, 5, 1),
             (96, 56, 7, 1), (384, 14, 7, 1), (768, 7, 7, 1), (64, 56, 3, 1))
GROUPED = ((128, 128, 56, 3, 1, 32), (256, 256, 28, 3, 1, 32), (512, 512, 14, 3, 1, 32), (112, 112, 56, 3, 2, 2),
           (256, 256, 28, 3, 1, 4), (64, 64, 56, 1, 1, 4), (240, 240, 28, 1, 1, 3))


def convolutions(device):
    for dtype in (torch.float32, torch.float16):
        for n in (1, 32):
            for c, k, hw, window, stride in CONVOLUTIONS:
                x, w = draw(n, c, hw, hw, dtype=dtype, device=device), draw(k, c, window, window, dtype=dtype,
                                                                            device=device)
                sizes = dict(n=n, c=c, k=k, hw=hw, window=window, stride=stride)
                pad = 0 if stride == window else window // 2
                yield from in_orders("conv", dtype, sizes, x, w, stride, pad, 1)
            for c, hw, window, stride in DEPTHWISE:
                x, w = draw(n, c, hw, hw, dtype=dtype, device=device), draw(c, 1, window, window, dtype=dtype,
                                                                            device=device)
                sizes = dict(n=n, c=c, hw=hw, window=window, stride=stride)
                yield from in_orders("depthwise", dtype, sizes, x, w, stride, window // 2, c)
            for c, k, hw, window, stride, groups in GROUPED:
                x = draw(n, c, hw, hw, dtype=dtype, device=device)
                w = draw(k, c // groups, window, window, dtype=dtype, device=device)
                sizes = dict(n=n, c=c, k=k, hw=hw, window=window, stride=stride, groups=groups)
                yield from in_orders("grouped", dtype, sizes, x, w, stride, window // 2, groups)
        for c, k, hw, window, stride in ((256, 128, 28, 2, 2), (128, 64, 56, 4, 2)):
            x, w = draw(16, c, hw, hw, dtype=dtype, device=device), draw(c, k, window, window, dtype=dtype,
                                                                         device=device)
            yield name_of("transposed", dtype, n=16, c=c, k=k, hw=hw, window=window,
                          stride=stride), lambda x=x, w=w, s=stride: F.conv_transpose2d(x, w, None, s)
        x, w = draw(8, 512, 1000, dtype=dtype, device=device), draw(512, 512, 3, dtype=dtype, device=device)
        yield name_of("conv1d", dtype, n=8, c=512, k=512, l=1000, window=3), lambda x=x, w=w: F.conv1d(x, w, None, 1, 1)
        x, w = draw(4, 64, 8, 56, 56, dtype=dtype, device=device), draw(64, 64, 3, 3, 3, dtype=dtype, device=device)
        yield name_of("conv3d", dtype, n=4, c=64, k=64, d=8, hw=56, window=3), lambda x=x, w=w: F.conv3d(
            x, w, None, 1, 1)


def in_orders(kind, dtype, sizes, x, w, stride, pad, groups):
    last = torch.channels_last
    lx, lw = x.contiguous(memory_format=last), w.contiguous(memory_format=last)
    yield name_of(kind, dtype, **sizes), lambda: F.conv2d(x, w, None, stride, pad, 1, groups)
    yield name_of(kind + "_last", dtype, **sizes), lambda: F.conv2d(lx, lw, None, stride, pad, 1, groups)
    if dtype == torch.float32:
        yield name_of(kind, dtype, **sizes) + " tf32", lambda: F.conv2d(x, w, None, stride, pad, 1, groups)
        yield name_of(kind + "_last", dtype, **sizes) + " tf32", lambda: F.conv2d(lx, lw, None, stride, pad, 1, groups)


def products(device):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for m in (1, 8, 49, 197, 512, 1576, 4096, 25088):
            for n, k in ((768, 768), (3072, 768), (768, 3072), (1000, 2048), (2304, 768), (4096, 4096), (96, 96)):
                x, w = draw(m, k, dtype=dtype, device=device), draw(n, k, dtype=dtype, device=device)
                bias = draw(n, dtype=dtype, device=device)
                for suffix in ("", " tf32") if dtype == torch.float32 else ("",):
                    yield name_of("linear", dtype, m=m, n=n, k=k) + suffix, lambda x=x, w=w, b=bias: F.linear(x, w, b)
        for b, m, n, k in ((96, 197, 197, 64), (96, 197, 64, 197), (1024, 49, 49, 32), (1024, 49, 32, 49),
                           (384, 128, 128, 64), (384, 128, 64, 128), (16, 512, 512, 64), (12, 1, 512, 64)):
            x, y = draw(b, m, k, dtype=dtype, device=device), draw(b, n, k, dtype=dtype, device=device)
            for suffix in ("", " tf32") if dtype == torch.float32 else ("",):
                yield name_of("bmm", dtype, b=b, m=m, n=n, k=k) + suffix, lambda x=x, y=y: torch.bmm(
                    x, y.transpose(1, 2))


def attention(device):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for b, heads, length, width in ((1, 12, 197, 64), (32, 12, 197, 64), (32, 12, 128, 64), (8, 16, 512, 64),
                                        (1, 32, 2048, 128), (4, 8, 1024, 64), (512, 4, 49, 32), (2, 8, 4096, 40)):
            q = draw(b, heads, length, width, dtype=dtype, device=device)
            sizes = dict(b=b, h=heads, l=length, d=width)
            yield name_of("attention", dtype, **sizes), lambda q=q: F.scaled_dot_product_attention(q, q, q)
            yield name_of("attention_causal", dtype, **sizes), lambda q=q: F.scaled_dot_product_attention(
                q, q, q, is_causal=True)
            mask = draw(b, 1, length, length, dtype=dtype, device=device)
            yield name_of("attention_masked", dtype, **sizes), lambda q=q, m=mask: F.scaled_dot_product_attention(
                q, q, q, attn_mask=m)


def recurrent(device):
    for dtype in HALVES:
        for kind in ("LSTM", "GRU"):
            for batch, length, width in ((1, 64, 256), (32, 64, 512)):
                module = getattr(nn, kind)(width, width, 2).to(device).to(dtype)
                x = draw(length, batch, width, dtype=dtype, device=device)
                yield name_of(kind.lower(), dtype, n=batch, l=length, d=width), lambda m=module, x=x: m(x)


GROUPS = (pointwise, rows, images, convolutions, products, attention, copies, tables, recurrent)
