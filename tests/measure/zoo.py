"""Small networks for the chain from export to prediction: TRAINING to learn from, HELD_OUT to be judged on. No
architecture of one is in the other. Names are factories of this module: each gives (module, example inputs)."""
import torch
from torch import nn

IMAGE, TOKENS = (1, 3, 64, 64), 64


def block(n_in, n_out, window=3, stride=1, groups=1, activation=nn.ReLU):
    return nn.Sequential(nn.Conv2d(n_in, n_out, window, stride, window // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(n_out), activation())


class Residual(nn.Module):
    def __init__(self, body, skip=None):
        super().__init__()
        self.body, self.skip = body, skip or nn.Identity()

    def forward(self, x):
        return self.skip(x) + self.body(x)


class Concatenated(nn.Module):
    """Branches side by side; with `keep`, beside their input (DenseNet)."""

    def __init__(self, *branches, keep=False):
        super().__init__()
        self.branches, self.keep = nn.ModuleList(branches), keep

    def forward(self, x):
        return torch.cat([*([x] if self.keep else []), *(b(x) for b in self.branches)], 1)


class Gate(nn.Module):
    """Squeeze and excite."""

    def __init__(self, n):
        super().__init__()
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(n, n // 4, 1), nn.ReLU(), nn.Conv2d(n // 4, n, 1),
                                  nn.Sigmoid())

    def forward(self, x):
        return x * self.gate(x)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = self.qkv(x).reshape(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(n, length, width))


class Transposed(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return self.body(x.transpose(1, 2)).transpose(1, 2)


def encoder(width, heads, depth):
    layers = []
    for _ in range(depth):
        layers += [
            Residual(nn.Sequential(nn.LayerNorm(width), Attention(width, heads))),
            Residual(
                nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)))
        ]
    return nn.Sequential(*layers)


def head(n):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n, 10))


def perceptron(*widths):
    layers = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1]), torch.zeros(1, widths[0])


def plain(width, depth):
    layers = [block(3, width, stride=2)]
    for i in range(depth):
        layers.append(block(width * (1 + i // 2), width * (1 + (i + 1) // 2)))
    return nn.Sequential(*layers, head(width * (1 + depth // 2))), torch.zeros(IMAGE)


def residual(width, depth):
    body = [
        Residual(nn.Sequential(block(width, width), block(width, width, activation=nn.Identity))) for _ in range(depth)
    ]
    return nn.Sequential(block(3, width, stride=2), *body, head(width)), torch.zeros(IMAGE)


def inverted(width, depth):
    def body(n):
        return Residual(
            nn.Sequential(block(n, 4 * n, 1, activation=nn.ReLU6), block(4 * n, 4 * n, groups=4 * n,
                                                                         activation=nn.ReLU6),
                          block(4 * n, n, 1, activation=nn.Identity)))

    return nn.Sequential(block(3, width, stride=2), *(body(width) for _ in range(depth)),
                         head(width)), torch.zeros(IMAGE)


def text(width, heads, depth, words=1000):
    return nn.Sequential(nn.Embedding(words, width), encoder(width, heads, depth), nn.Linear(
        width, words)), torch.arange(TOKENS).reshape(1, TOKENS)


TRAINING = {
    "mlp_small": lambda: perceptron(64, 128, 128, 10),
    "mlp_wide": lambda: perceptron(512, 2048, 512),
    "mlp_deep": lambda: perceptron(*[256] * 12, 10),
    "mlp_large": lambda: perceptron(1024, 2048, 2048, 1024),
    "plain_small": lambda: plain(8, 2),
    "plain_middle": lambda: plain(16, 4),
    "plain_large": lambda: plain(32, 5),
    "residual_small": lambda: residual(16, 2),
    "residual_middle": lambda: residual(32, 3),
    "residual_large": lambda: residual(64, 3),
    "inverted_small": lambda: inverted(8, 2),
    "inverted_middle": lambda: inverted(16, 4),
    "inverted_large": lambda: inverted(32, 4),
    "text_small": lambda: text(64, 2, 2),
    "text_middle": lambda: text(128, 4, 3),
    "text_large": lambda: text(256, 4, 2),
}


def vgg():
    layers = [block(3, 16), nn.MaxPool2d(2), block(16, 32), nn.MaxPool2d(2), block(32, 64), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 64, 256), nn.ReLU(), nn.Linear(256,
                                                                                              10)), torch.zeros(IMAGE)


def squeeze():
    def fire(n_in, n, n_out):
        return nn.Sequential(block(n_in, n, 1), Concatenated(block(n, n_out, 1), block(n, n_out)))

    return nn.Sequential(block(3, 32, stride=2), fire(32, 16, 32), fire(64, 16, 32), nn.MaxPool2d(2), fire(64, 32, 64),
                         head(128)), torch.zeros(IMAGE)


def dense():
    layers = [Concatenated(block(16 + 16 * i, 16), keep=True) for i in range(5)]
    return nn.Sequential(block(3, 16, stride=2), *layers, head(96)), torch.zeros(IMAGE)


def inception():
    def body(n):
        return Concatenated(block(n, 16, 1), nn.Sequential(block(n, 16, 1), block(16, 16)),
                            nn.Sequential(block(n, 16, 1), block(16, 16, 5)))
    return nn.Sequential(block(3, 32, stride=2), body(32), body(48), body(48), head(48)), torch.zeros(IMAGE)


def gated():
    body = [
        Residual(nn.Sequential(block(32, 64, activation=nn.SiLU), Gate(64), block(64, 32, 1, activation=nn.Identity)))
        for _ in range(3)
    ]
    return nn.Sequential(block(3, 32, stride=2), *body, head(32)), torch.zeros(IMAGE)


def grouped():
    body = [
        Residual(nn.Sequential(block(64, 64, 1), block(64, 64, groups=8), block(64, 64, 1, activation=nn.Identity)))
        for _ in range(3)
    ]
    return nn.Sequential(block(3, 64, stride=2), *body, head(64)), torch.zeros(IMAGE)


def autoencoder():
    return nn.Sequential(block(3, 32, stride=2), block(32, 64, stride=2), block(64, 64), nn.Upsample(scale_factor=2),
                         block(64, 32), nn.Upsample(scale_factor=2), nn.Conv2d(32, 3, 3, padding=1)), torch.zeros(IMAGE)


def vit():
    class Tokens(nn.Module):
        def forward(self, x):
            return x.flatten(2).transpose(1, 2)

    return nn.Sequential(nn.Conv2d(3, 192, 8, 8), Tokens(), encoder(192, 3, 3), nn.LayerNorm(192), nn.Linear(
        192, 10)), torch.zeros(IMAGE)


def mixer():
    def mix(n):
        return Residual(
            nn.Sequential(nn.LayerNorm(128),
                          Transposed(nn.Sequential(nn.Linear(n, 2 * n), nn.GELU(), nn.Linear(2 * n, n)))))

    channels = [
        Residual(nn.Sequential(nn.LayerNorm(128), nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)))
        for _ in range(3)
    ]
    return nn.Sequential(*(layer for c in channels for layer in (mix(TOKENS), c)), nn.Linear(128, 10)), torch.zeros(
        1, TOKENS, 128)


def bottleneck():
    layers = [
        nn.Linear(784, 512),
        nn.LayerNorm(512),
        nn.GELU(),
        nn.Linear(512, 32),
        nn.Tanh(),
        nn.Linear(32, 512),
        nn.GELU(),
        nn.Linear(512, 784)
    ]
    return nn.Sequential(*layers), torch.zeros(1, 784)


HELD_OUT = {
    f.__name__: f for f in (vgg, squeeze, dense, inception, gated, grouped, autoencoder, vit, mixer, bottleneck)
}

globals().update(TRAINING)


def runs_out_of_memory():
    return nn.Linear(1 << 17, 1 << 17), torch.zeros(1, 1 << 17)


class Dies(nn.Module):
    """Can be traced, and does something else when it runs."""

    def __init__(self, how):
        super().__init__()
        self.how, self.linear = how, nn.Linear(4, 4)

    def forward(self, x):
        if not torch.jit.is_tracing():
            self.how()
        return self.linear(x)


def exits():
    import os
    return Dies(lambda: os._exit(3)), torch.zeros(1, 4)


def segfaults():
    import ctypes
    return Dies(lambda: ctypes.string_at(0)), torch.zeros(1, 4)


def hangs():
    import time
    return Dies(lambda: time.sleep(60)), torch.zeros(1, 4)


def raises():
    def fail():
        raise ValueError("a model of the user's own\nfails")
    return Dies(fail), torch.zeros(1, 4)
