#!/usr/bin/env python3
"""Writes tests/stablehlo/models.tar.xz and expected.tsv: networks of jax, flax (linen and nnx) and equinox as
StableHLO text, with what jax says of them.

  python3 -m venv venv && venv/bin/pip install jax flax equinox
  venv/bin/python tests/stablehlo/make_models.py

Weights are arguments, so that no file holds any. Parameters are the elements of the weights' tree. MACs are counted on
the jaxpr, where products and convolutions still stand as such: batch · rows · columns · contracted for dot_general,
result elements · kernel volume · channels per group for convolutions (data elements instead where the data is dilated,
which is a transposed convolution), times the rounds of the scans around them.
"""
import functools
import io
import math
import pathlib
import re
import tarfile

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx
from jax import export, lax

HERE = pathlib.Path(__file__).parent
MODELS = {}


def spec(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def model(function):
    MODELS[function.__name__] = function
    return function


# ---- What jax says


def inner_jaxprs(params):
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            inner = getattr(item, "jaxpr", item)
            if hasattr(inner, "eqns"):
                yield inner


def macs_of(jaxpr):
    total = 0
    for eqn in jaxpr.eqns:
        shapes = [v.aval.shape for v in eqn.invars if hasattr(v.aval, "shape")]
        if eqn.primitive.name == "dot_general":
            (contracted, _), _ = eqn.params["dimension_numbers"]
            total += math.prod(eqn.outvars[0].aval.shape) * math.prod(shapes[0][i] for i in contracted)
        elif eqn.primitive.name == "conv_general_dilated":
            numbers = eqn.params["dimension_numbers"]
            kernel = math.prod(shapes[1]) // shapes[1][numbers.rhs_spec[0]]
            dilated = any(d > 1 for d in eqn.params["lhs_dilation"])
            result = math.prod(eqn.outvars[0].aval.shape)
            if dilated:  # every element of the data meets the kernel once for each result channel of its group
                channels = shapes[1][numbers.rhs_spec[0]] // eqn.params["feature_group_count"]
                kernel = math.prod(shapes[1][i] for i in numbers.rhs_spec[2:])
                result = math.prod(shapes[0]) * channels
            total += result * kernel
        elif eqn.primitive.name == "cond":
            total += max(macs_of(b.jaxpr) for b in eqn.params["branches"])
        else:
            rounds = eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1
            total += rounds * sum(macs_of(inner) for inner in inner_jaxprs(eqn.params))
    return total


def elements(tree):
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(tree))


def lowered(function, weights, *inputs, names=True):
    """(text, MACs, parameters) of function(weights, *inputs)."""
    text = jax.jit(function).lower(weights, *inputs).as_text(debug_info=names)
    return text, macs_of(jax.make_jaxpr(function)(weights, *inputs).jaxpr), elements(weights)


def linen(module, *inputs, names=True, **kwargs):
    weights = jax.eval_shape(functools.partial(module.init, **kwargs), jax.random.key(0), *inputs)
    apply = lambda variables, *args: module.apply(variables, *args, **kwargs)
    return lowered(apply, weights, *inputs, names=names)


def exported(function, weights, *inputs, batch=None):
    """As jax.export writes it, with a symbolic batch where `batch` is the one that MACs are counted for."""
    symbol = export.symbolic_shape("b")[0] if batch else None
    free = [spec(symbol, *i.shape[1:], dtype=i.dtype) for i in inputs] if batch else inputs
    text = export.export(jax.jit(function))(weights, *free).mlir_module()
    return text, macs_of(jax.make_jaxpr(function)(weights, *inputs).jaxpr), elements(weights)


def of_nnx(make, *inputs):
    graph, state = nnx.split(nnx.eval_shape(make))
    weights = nnx.to_pure_dict(nnx.filter_state(state, (nnx.Param, nnx.BatchStat)))
    rest = nnx.filter_state(state, nnx.Not(nnx.Any(nnx.Param, nnx.BatchStat)))
    assert not jax.tree.leaves(rest), "random state is no weight"

    def call(params, *args):
        full = nnx.State(params) if isinstance(params, dict) else params
        filled = nnx.clone_state(state) if hasattr(nnx, "clone_state") else state
        nnx.replace_by_pure_dict(filled, params)
        return nnx.merge(graph, filled)(*args)

    return lowered(call, weights, *inputs)


def of_equinox(make, *inputs):
    network = eqx.filter_eval_shape(make, jax.random.key(0))
    weights, static = eqx.partition(network, lambda x: isinstance(x, jax.ShapeDtypeStruct))
    call = lambda model, *args: jax.vmap(eqx.combine(model, static))(*args)
    return lowered(call, weights, *inputs)


# ---- Images


@model
def mlp():
    return linen(nn.Sequential([nn.Dense(512), nn.relu, nn.Dense(256), nn.relu, nn.Dense(10), nn.softmax]),
                 spec(32, 784), names=False)


class Bottleneck(nn.Module):
    width: int
    stride: int = 1

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.BatchNorm, use_running_average=True, epsilon=1e-5)
        conv = functools.partial(nn.Conv, use_bias=False)
        y = nn.relu(norm()(conv(self.width, (1, 1))(x)))
        y = nn.relu(norm()(conv(self.width, (3, 3), (self.stride,) * 2, padding=[(1, 1), (1, 1)])(y)))
        y = norm()(conv(4 * self.width, (1, 1))(y))
        if x.shape != y.shape:
            x = norm()(conv(4 * self.width, (1, 1), (self.stride,) * 2)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    depths: tuple = (3, 4, 6, 3)

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(64, (7, 7), (2, 2), padding=[(3, 3), (3, 3)], use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=True, epsilon=1e-5)(x))
        x = nn.max_pool(x, (3, 3), (2, 2), padding=[(1, 1), (1, 1)])
        for stage, depth in enumerate(self.depths):
            for block in range(depth):
                x = Bottleneck(64 * 2**stage, 2 if stage > 0 and block == 0 else 1)(x)
        return nn.Dense(1000)(x.mean((1, 2)))


class BasicBlock(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.BatchNorm, use_running_average=True, epsilon=1e-5)
        conv = functools.partial(nn.Conv, use_bias=False)
        y = nn.relu(norm()(conv(self.width, (3, 3), (self.stride,) * 2, padding=[(1, 1), (1, 1)])(x)))
        y = norm()(conv(self.width, (3, 3), padding=[(1, 1), (1, 1)])(y))
        if x.shape != y.shape:
            x = norm()(conv(self.width, (1, 1), (self.stride,) * 2)(x))
        return nn.relu(x + y)


@model
def resnet18():
    stem = [nn.Conv(64, (7, 7), (2, 2), padding=[(3, 3), (3, 3)], use_bias=False),
            nn.BatchNorm(use_running_average=True), nn.relu,
            lambda x: nn.max_pool(x, (3, 3), (2, 2), padding=[(1, 1), (1, 1)])]
    blocks = [BasicBlock(64 * 2**s, 2 if s > 0 and b == 0 else 1) for s in range(4) for b in range(2)]
    return linen(nn.Sequential([*stem, *blocks, lambda x: x.mean((1, 2)), nn.Dense(1000)]), spec(8, 224, 224, 3))


@model
def resnet50():
    return linen(ResNet(), spec(8, 224, 224, 3))


@model
def vgg16():
    layers = []
    for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers += [nn.Conv(width, (3, 3), padding=[(1, 1), (1, 1)]), nn.relu]
        layers.append(lambda x: nn.max_pool(x, (2, 2), (2, 2)))
    head = [nn.Dense(4096), nn.relu, nn.Dense(4096), nn.relu, nn.Dense(1000)]
    return linen(nn.Sequential([*layers, lambda x: x.reshape(x.shape[0], -1), *head]), spec(8, 224, 224, 3))


class MobileBlock(nn.Module):
    features: int
    stride: int

    @nn.compact
    def __call__(self, x):
        c = x.shape[-1]
        x = nn.Conv(c, (3, 3), (self.stride,) * 2, feature_group_count=c, use_bias=False)(x)
        x = nn.relu6(nn.BatchNorm(use_running_average=True)(x))
        gate = nn.Dense(c)(nn.relu(nn.Dense(c // 4)(x.mean((1, 2), keepdims=True))))
        x = x * nn.hard_sigmoid(gate)
        return nn.hard_swish(nn.BatchNorm(use_running_average=True)(nn.Conv(self.features, (1, 1))(x)))


@model
def mobilenet():
    blocks = [MobileBlock(f, s) for f, s in ((64, 1), (128, 2), (128, 1), (256, 2), (512, 2))]
    return linen(nn.Sequential([nn.Conv(32, (3, 3), (2, 2)), *blocks, lambda x: x.mean((1, 2)), nn.Dense(1000)]),
                 spec(4, 128, 128, 3))


class Encoder(nn.Module):
    heads: int
    hidden: int
    approximate: bool = False
    prenorm: bool = True

    @nn.compact
    def __call__(self, x, mask=None):
        width = x.shape[-1]
        attend = nn.MultiHeadDotProductAttention(self.heads, deterministic=True)
        mlp = lambda y: nn.Dense(width)(nn.gelu(nn.Dense(self.hidden)(y), approximate=self.approximate))
        if self.prenorm:
            y = nn.LayerNorm()(x)
            x = x + attend(y, y, mask=mask)
            return x + mlp(nn.LayerNorm()(x))
        x = nn.LayerNorm(epsilon=1e-12)(x + attend(x, x, mask=mask))
        return nn.LayerNorm(epsilon=1e-12)(x + mlp(x))


class VisionTransformer(nn.Module):
    depth: int = 12
    width: int = 768
    patch: int = 16

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.width, (self.patch,) * 2, (self.patch,) * 2)(x)
        x = x.reshape(x.shape[0], -1, self.width)
        token = self.param("class", nn.initializers.zeros, (1, 1, self.width))
        x = jnp.concatenate([jnp.tile(token, (x.shape[0], 1, 1)), x], axis=1)
        x = x + self.param("positions", nn.initializers.zeros, (1, x.shape[1], self.width))
        for _ in range(self.depth):
            x = Encoder(self.width // 64, 4 * self.width)(x)
        return nn.Dense(1000)(nn.LayerNorm()(x)[:, 0])


@model
def vit_b16():
    return linen(VisionTransformer(), spec(8, 224, 224, 3))


@model
def vit_symbolic():
    """exported with any batch"""
    network = VisionTransformer(depth=2, width=192)
    x = spec(4, 64, 64, 3)
    weights = jax.eval_shape(network.init, jax.random.key(0), x)
    return exported(network.apply, weights, x, batch=4)


class MixerBlock(nn.Module):
    @nn.compact
    def __call__(self, x):
        mlp = lambda y, n: nn.Dense(y.shape[-1])(nn.gelu(nn.Dense(n)(y), approximate=False))
        x = x + mlp(nn.LayerNorm()(x).swapaxes(1, 2), 384).swapaxes(1, 2)
        return x + mlp(nn.LayerNorm()(x), 3072)


@model
def mixer_b16():
    stem = [nn.Conv(768, (16, 16), (16, 16)), lambda x: x.reshape(x.shape[0], -1, 768)]
    blocks = [MixerBlock() for _ in range(12)]
    return linen(nn.Sequential([*stem, *blocks, nn.LayerNorm(), lambda x: x.mean(1), nn.Dense(1000)]),
                 spec(8, 224, 224, 3))


class ConvNextBlock(nn.Module):
    @nn.compact
    def __call__(self, x):
        c = x.shape[-1]
        y = nn.LayerNorm(epsilon=1e-6)(nn.Conv(c, (7, 7), feature_group_count=c)(x))
        y = nn.Dense(c)(nn.gelu(nn.Dense(4 * c)(y), approximate=False))
        return x + y * self.param("scale", nn.initializers.ones, (c,))


@model
def convnext():
    return linen(nn.Sequential([nn.Conv(96, (4, 4), (4, 4)), nn.LayerNorm(), ConvNextBlock(), ConvNextBlock(),
                                nn.Conv(192, (2, 2), (2, 2)), ConvNextBlock(), lambda x: x.mean((1, 2)), nn.Dense(10)]),
                 spec(2, 96, 96, 3))


class Unet(nn.Module):
    @nn.compact
    def __call__(self, x, t):
        half = jnp.exp(-math.log(1e4) * jnp.arange(64) / 64)
        angle = t[:, None].astype(jnp.float32) * half[None]
        time = nn.Dense(256)(nn.swish(nn.Dense(256)(jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1))))

        def block(y, c):
            z = nn.Conv(c, (3, 3))(nn.swish(nn.GroupNorm(8)(y)))
            z = z + nn.Dense(c)(nn.swish(time))[:, None, None]
            z = nn.Conv(c, (3, 3))(nn.swish(nn.GroupNorm(8)(z)))
            return z + (y if y.shape[-1] == c else nn.Conv(c, (1, 1))(y))

        x = nn.Conv(64, (3, 3))(x)
        a = block(x, 64)
        b = block(nn.Conv(64, (3, 3), (2, 2))(a), 128)
        flat = b.reshape(b.shape[0], -1, 128)
        b = b + nn.MultiHeadDotProductAttention(4)(nn.LayerNorm()(flat)).reshape(b.shape)
        up = jax.image.resize(b, (b.shape[0], *a.shape[1:3], 128), "nearest")
        return nn.Conv(3, (3, 3))(block(jnp.concatenate([nn.Conv(64, (3, 3))(up), a], -1), 64))


@model
def unet():
    return linen(Unet(), spec(2, 32, 32, 4), spec(2, dtype=jnp.int32))


@model
def generator():
    """transposed convolutions"""
    layers = [nn.Dense(4 * 4 * 256), lambda x: x.reshape(-1, 4, 4, 256)]
    for c in (128, 64, 32):
        layers += [nn.ConvTranspose(c, (4, 4), (2, 2)), nn.BatchNorm(use_running_average=True), nn.leaky_relu]
    return linen(nn.Sequential([*layers, nn.ConvTranspose(3, (5, 5), (2, 2)), jnp.tanh]), spec(8, 100))


@model
def wavenet():
    """dilated convolutions over time, causal"""
    class Block(nn.Module):
        dilation: int

        @nn.compact
        def __call__(self, x):
            y = nn.Conv(128, (2,), kernel_dilation=(self.dilation,), padding="CAUSAL")(x)
            y = jnp.tanh(y[..., :64]) * nn.sigmoid(y[..., 64:])
            return x + nn.Conv(64, (1,))(y)

    return linen(nn.Sequential([nn.Conv(64, (1,)), *[Block(2**i) for i in range(6)], nn.relu, nn.Conv(256, (1,))]),
                 spec(2, 1024, 1))


# ---- Text


class Bert(nn.Module):
    depth: int = 12
    width: int = 768

    @nn.compact
    def __call__(self, ids, mask):
        x = nn.Embed(30522, self.width)(ids) + nn.Embed(512, self.width)(jnp.arange(ids.shape[1])[None])
        x = nn.LayerNorm(epsilon=1e-12)(x + nn.Embed(2, self.width)(jnp.zeros_like(ids)))
        for _ in range(self.depth):
            x = Encoder(12, 4 * self.width, prenorm=False)(x, mask[:, None, None, :] > 0)
        return x, jnp.tanh(nn.Dense(self.width)(x[:, 0]))


@model
def bert_base():
    return linen(Bert(), spec(8, 128, dtype=jnp.int32), spec(8, 128, dtype=jnp.int32))


class Gpt(nn.Module):
    depth: int = 3
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, ids):
        embed = nn.Embed(50257, 256, dtype=self.dtype)
        x = embed(ids) + self.param("positions", nn.initializers.zeros, (256, 256)).astype(self.dtype)[: ids.shape[1]]
        for _ in range(self.depth):
            y = nn.LayerNorm(dtype=self.dtype)(x)
            q, k, v = jnp.split(nn.Dense(768, dtype=self.dtype)(y), 3, -1)
            heads = lambda z: z.reshape(*z.shape[:2], 4, 64)
            y = jax.nn.dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
            x = x + nn.Dense(256, dtype=self.dtype)(y.reshape(x.shape))
            y = nn.Dense(1024, dtype=self.dtype)(nn.LayerNorm(dtype=self.dtype)(x))
            x = x + nn.Dense(256, dtype=self.dtype)(nn.gelu(y))
        return embed.attend(nn.LayerNorm(dtype=self.dtype)(x))


@model
def gpt():
    return linen(Gpt(), spec(2, 128, dtype=jnp.int32))


@model
def gpt_bf16():
    return linen(Gpt(depth=2, dtype=jnp.bfloat16), spec(2, 128, dtype=jnp.int32))


@model
def gpt_exported():
    ids = spec(2, 128, dtype=jnp.int32)
    weights = jax.eval_shape(Gpt().init, jax.random.key(0), ids)
    return exported(Gpt().apply, weights, ids)


def rotated(x, position):
    half = x.shape[-1] // 2
    angle = position[:, None] * (1e4 ** (-jnp.arange(half) / half))[None]
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


class LlamaBlock(nn.Module):
    @nn.compact
    def __call__(self, x):
        dense = functools.partial(nn.Dense, use_bias=False)
        y = nn.RMSNorm()(x)
        position = jnp.arange(x.shape[1], dtype=jnp.float32)
        q = rotated(dense(512)(y).reshape(*x.shape[:2], 8, 64), position)
        k = rotated(dense(128)(y).reshape(*x.shape[:2], 2, 64), position)
        v = dense(128)(y).reshape(*x.shape[:2], 2, 64)
        x = x + dense(512)(jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape))
        y = nn.RMSNorm()(x)
        return x + dense(512)(nn.silu(dense(1408)(y)) * dense(1408)(y))


@model
def attention_cudnn():
    """cuDNN's kernel for attention, lowered for CUDA where there is none"""
    import jax._src.cudnn.fused_attention_stablehlo as cudnn

    cudnn.check_cudnn_version = lambda *_, **__: 91000
    cudnn.check_compute_capability = lambda *_, **__: True

    def attend(params, x):
        q, k, v = jnp.split((x @ params["qkv"]).reshape(*x.shape[:2], 24, 64), 3, 2)
        y = jax.nn.dot_product_attention(q, k, v, is_causal=True, implementation="cudnn")
        return y.reshape(*x.shape[:2], 512) @ params["out"]

    weights = {"qkv": spec(512, 1536, dtype=jnp.bfloat16), "out": spec(512, 512, dtype=jnp.bfloat16)}
    x = spec(2, 128, 512, dtype=jnp.bfloat16)
    text = jax.jit(attend).trace(weights, x).lower(lowering_platforms=("cuda",)).as_text(debug_info=True)
    return text, 2 * 128 * 512 * (1536 + 512) + 2 * 2 * 8 * 128 * 128 * 64, elements(weights)


@model
def llama():
    """rotary positions, grouped queries, RMSNorm"""
    return linen(nn.Sequential([nn.Embed(32000, 512), LlamaBlock(), LlamaBlock(), nn.RMSNorm(),
                                nn.Dense(32000, use_bias=False)]), spec(1, 256, dtype=jnp.int32))


@model
def decoder_step():
    """one token with a cache of keys and values"""
    def step(params, token, cache_k, cache_v, position):
        x = params["embed"][token]
        q, k, v = jnp.split(x @ params["qkv"], 3, -1)
        split = lambda z: z.reshape(-1, 1, 8, 32)
        cache_k = lax.dynamic_update_slice(cache_k, split(k), (0, position, 0, 0))
        cache_v = lax.dynamic_update_slice(cache_v, split(v), (0, position, 0, 0))
        seen = (jnp.arange(128) <= position)[None, None, None]
        y = jax.nn.dot_product_attention(split(q), cache_k, cache_v, mask=seen)
        return y.reshape(-1, 256) @ params["out"], cache_k, cache_v

    weights = {"embed": spec(1000, 256), "qkv": spec(256, 768), "out": spec(256, 256)}
    return lowered(step, weights, spec(4, dtype=jnp.int32), spec(4, 128, 8, 32), spec(4, 128, 8, 32),
                   spec(dtype=jnp.int32))


class Experts(nn.Module):
    @nn.compact
    def __call__(self, x):
        gates = nn.softmax(nn.Dense(8)(x))
        weight, chosen = lax.top_k(gates, 2)
        route = jnp.sum(jax.nn.one_hot(chosen, 8) * weight[..., None], -2)
        up = self.param("up", nn.initializers.zeros, (8, 128, 256))
        down = self.param("down", nn.initializers.zeros, (8, 256, 128))
        y = jnp.einsum("btd,edf->btef", x, up)
        return jnp.einsum("btef,efd,bte->btd", nn.gelu(y), down, route)


@model
def experts():
    return linen(Experts(), spec(2, 64, 128))


# ---- Recurrence and control flow


@model
def lstm():
    return linen(nn.RNN(nn.OptimizedLSTMCell(256)), spec(4, 50, 128))


@model
def gru_bidirectional():
    return linen(nn.Bidirectional(nn.RNN(nn.GRUCell(128)), nn.RNN(nn.GRUCell(128))), spec(4, 30, 64))


@model
def control():
    """fori_loop, cond, switch"""
    def run(params, x, choice):
        x = lax.fori_loop(0, 5, lambda _, y: jnp.tanh(y @ params["w"]), x)
        x = lax.cond(choice > 0, lambda y: y @ params["w"], lambda y: y, x)
        return lax.switch(choice, [jnp.sin, jnp.cos, lambda y: y * 2], x)

    text, _, parameters = lowered(run, {"w": spec(64, 64)}, spec(8, 64), spec(dtype=jnp.int32))
    return text, 6 * 8 * 64 * 64, parameters


@model
def indexing():
    """gathers, scatters, sorting, cumulative sums"""
    def run(params, x, index):
        rows = params["table"][index]
        sums = jax.ops.segment_sum(x, index, num_segments=16)
        along = jnp.take_along_axis(x, index[:, None], axis=1)
        order = jnp.argsort(x, axis=-1)
        best = jnp.argmax(x, -1)
        return rows, sums, along, order, best, jnp.cumsum(x, 1), x.at[index].set(0.0), jnp.flip(x, 1), jnp.pad(x, 1)

    return lowered(run, {"table": spec(100, 32)}, spec(16, 24), spec(16, dtype=jnp.int32))


@model
def graph_network():
    """messages along edges"""
    def run(params, nodes, senders, receivers):
        for layer in params["layers"]:
            message = jax.nn.relu(jnp.concatenate([nodes[senders], nodes[receivers]], -1) @ layer["message"])
            total = jax.ops.segment_sum(message, receivers, num_segments=nodes.shape[0])
            nodes = jax.nn.relu(jnp.concatenate([nodes, total], -1) @ layer["node"])
        return nodes.mean(0) @ params["out"]

    layers = [{"message": spec(128, 64), "node": spec(128, 64)} for _ in range(3)]
    index = spec(500, dtype=jnp.int32)
    return lowered(run, {"layers": layers, "out": spec(64, 2)}, spec(200, 64), index, index)


# ---- nnx and equinox


class NnxCnn(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 32, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(32, use_running_average=True, rngs=rngs)
        self.conv2 = nnx.Conv(32, 64, (3, 3), rngs=rngs)
        self.dense = nnx.Linear(3136, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(nnx.relu(self.norm(self.conv1(x))), (2, 2), (2, 2))
        x = nnx.avg_pool(nnx.relu(self.conv2(x)), (2, 2), (2, 2))
        return self.dense(x.reshape(x.shape[0], -1))


@model
def nnx_cnn():
    return of_nnx(lambda: NnxCnn(nnx.Rngs(0)), spec(16, 28, 28, 1))


class NnxTransformer(nnx.Module):
    def __init__(self, rngs):
        self.norm1, self.norm2 = nnx.LayerNorm(256, rngs=rngs), nnx.LayerNorm(256, rngs=rngs)
        self.attend = nnx.MultiHeadAttention(8, 256, decode=False, rngs=rngs, use_bias=False)
        self.up, self.down = nnx.Linear(256, 1024, rngs=rngs), nnx.Linear(1024, 256, rngs=rngs)

    def __call__(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


@model
def nnx_transformer():
    return of_nnx(lambda: NnxTransformer(nnx.Rngs(0)), spec(4, 64, 256))


@model
def equinox_mlp():
    return of_equinox(lambda key: eqx.nn.MLP(784, 10, 256, 3, key=key), spec(32, 784))


class EquinoxCnn(eqx.Module):
    layers: list

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.layers = [eqx.nn.Conv2d(3, 32, 3, padding=1, key=a), eqx.nn.GroupNorm(4, 32), jax.nn.silu,
                       eqx.nn.MaxPool2d(2, 2), eqx.nn.Conv2d(32, 64, 3, stride=2, padding=1, key=b), jax.nn.relu,
                       eqx.nn.AdaptiveAvgPool2d(1), jnp.ravel, eqx.nn.Linear(64, 10, key=c)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@model
def equinox_cnn():
    return of_equinox(EquinoxCnn, spec(8, 3, 64, 64))


class EquinoxAttention(eqx.Module):
    attend: eqx.nn.MultiheadAttention
    norm: eqx.nn.LayerNorm

    def __init__(self, key):
        self.attend = eqx.nn.MultiheadAttention(8, 256, key=key)
        self.norm = eqx.nn.LayerNorm(256)

    def __call__(self, x):
        y = jax.vmap(self.norm)(x)
        return x + self.attend(y, y, y)


@model
def equinox_attention():
    return of_equinox(EquinoxAttention, spec(4, 64, 256))


# ---- Writing


def stripped(text):
    """Without what perfc does not read and what differs between machines: places in source files."""
    text = re.sub(r'\n#loc\d* = loc\((?:callsite|unknown|fused|"[^"\n]*"(?:\(|:)).*', "", text)
    kept = set(re.findall(r"\n(#loc\d*) = ", "\n" + text))
    return re.sub(r" loc\((#loc\d*)\)", lambda m: m.group(0) if m.group(1) in kept else "", text)


def main():
    rows = []
    with tarfile.open(HERE / "models.tar.xz", "w:xz", preset=9) as archive:
        for name, make in MODELS.items():
            text, macs, parameters = make()
            data = stripped(text).encode()
            entry = tarfile.TarInfo(f"{name}.mlir")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
            rows.append(f"{name}\t{macs}\t{parameters}\n")
            print(rows[-1], end="", flush=True)
    (HERE / "expected.tsv").write_text("model\tmacs\tparameters\n" + "".join(rows))


if __name__ == "__main__":
    main()
