"""Twelve small models as .pir text, for any batch: blocks of known networks, each kernel class in one of them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "studies"))
from bert_pir import Text, convolution, encoder  # noqa: E402


def program(t, batch, shape, result, dtype="float32"):
    dims = ", ".join(str(d) for d in (batch, *shape)) + ("" if shape else ",")
    return f'#[version = "perfc-ir/1"]\ndef @main(%x: Tensor[({dims}), {dtype}]) {{\n' + "\n".join(t.lines) + \
        f"\n  ({result})\n}}\n"


def perceptron(batch):
    t, x = Text(), "%x"
    for n_in, n_out in ((784, 1024), (1024, 1024), (1024, 10)):
        x = t.add(f"nn.bias_add({t.add(f'nn.dense({x}, {t.weight(n_in, n_out)})')}, {t.weight(n_out)}, axis=1)")
        x = t.add(f"nn.relu({x})")
    return program(t, batch, (784,), x)


def pooled(t, x, channels, classes=10):
    x = t.add(f"nn.batch_flatten({t.add(f'nn.global_avg_pool({x})')}, axis=1)")
    return t.add(f"nn.dense({x}, {t.weight(channels, classes)})")


def plain(batch):
    """Like VGG: large windows, many channels."""
    t, x, n = Text(), "%x", 3
    for n_out in (64, 64, 128, 128):
        x, n = convolution(t, x, n, n_out, (3, 3)), n_out
    return program(t, batch, (3, 64, 64), pooled(t, x, n))


def residual(batch):
    """A stage of ResNet-50."""
    t = Text()
    x = convolution(t, "%x", 3, 256, (7, 7), (4, 4))
    for _ in range(3):
        y = convolution(t, x, 256, 64, (1, 1))
        y = convolution(t, convolution(t, y, 64, 64, (3, 3)), 64, 256, (1, 1), activation=None)
        x = t.add(f"nn.relu({t.add(f'add({x}, {y})')})")
    return program(t, batch, (3, 224, 224), pooled(t, x, 256))


def depthwise(batch):
    """Blocks of MobileNet."""
    t = Text()
    x = convolution(t, "%x", 3, 64, (3, 3), (2, 2))
    for _ in range(4):
        x = convolution(t, convolution(t, x, 64, 64, (3, 3), groups=64), 64, 64, (1, 1))
    return program(t, batch, (3, 112, 112), pooled(t, x, 64))


def grouped(batch):
    """Blocks of ResNeXt."""
    t = Text()
    x = convolution(t, "%x", 3, 128, (3, 3), (2, 2))
    for _ in range(3):
        x = convolution(t, convolution(t, x, 128, 128, (3, 3), groups=32), 128, 128, (1, 1))
    return program(t, batch, (3, 56, 56), pooled(t, x, 128))


def transformer(batch):
    """Two layers of BERT-base, attention written out."""
    return encoder(batch, 128, 768, 2, 12, 3072, 30522)


def vision_transformer(batch):
    """Two blocks of ViT-S, fused attention."""
    t, tokens, hidden, heads = Text(), 197, 384, 6
    x = "%x"
    for _ in range(2):
        y = t.add(f"nn.layer_norm({x}, {t.weight(hidden)}, {t.weight(hidden)}, axis=-1, epsilon=1e-06)")
        parts = []
        for _ in range(3):
            z = t.add(f"reshape({t.add(f'nn.dense({y}, {t.weight(hidden, hidden)})')}, "
                      f"{t.ints(batch, tokens, heads, hidden // heads)})")
            parts.append(t.add(f"transpose({z}, perm=[0, 2, 1, 3])"))
        y = t.add(f"nn.sdpa({', '.join(parts)})")
        y = t.add(f"transpose({y}, perm=[0, 2, 1, 3])")
        y = t.add(f"reshape({y}, {t.ints(batch, tokens, hidden)})")
        x = t.add(f"add({x}, {t.add(f'nn.dense({y}, {t.weight(hidden, hidden)})')})")
        y = t.add(f"nn.gelu({t.add(f'nn.dense({x}, {t.weight(hidden, 4 * hidden)})')})")
        x = t.add(f"add({x}, {t.add(f'nn.dense({y}, {t.weight(4 * hidden, hidden)})')})")
    return program(t, batch, (tokens, hidden), x)


def recurrent(batch):
    t = Text()
    x = t.add("transpose(%x, perm=[1, 0, 2])")
    weights = f"{t.weight(1, 1024, 128)}, {t.weight(1, 1024, 256)}"
    t.lines.append(f"  %{t.next}:3 = nn.lstm({x}, {weights}, hidden_size=256);")
    return program(t, batch, (32, 128), f"%{t.next}.0")


def recommender(batch):
    """Rows of tables, and a tower."""
    t = Text()
    rows = [t.add(f"take({t.weight(100000, 64)}, %x, axis=0)") for _ in range(4)]
    x = t.add(f"concatenate({', '.join(rows)}, axis=1)")
    for n_in, n_out in ((256, 128), (128, 1)):
        x = t.add(f"nn.relu({t.add(f'nn.dense({x}, {t.weight(n_in, n_out)})')})")
    return program(t, batch, (), x, "int64")


def elementwise(batch):
    t, x = Text(), "%x"
    for what in ("tanh", "nn.relu", "exp", "nn.gelu"):
        x = t.add(f"{what}({x})")
    return program(t, batch, (512, 512), x)


def rows(batch):
    """Norms and softmaxes of rows."""
    t = Text()
    x = t.add(f"nn.layer_norm(%x, {t.weight(768)}, {t.weight(768)}, axis=-1, epsilon=1e-06)")
    x = t.add(f"nn.softmax({x}, axis=-1)")
    x = t.add(f"sum_axes({x}, axes=[1], keepdims=0)")
    return program(t, batch, (196, 768), x)


def hourglass(batch):
    """Down and up again, as in U-Net."""
    t = Text()
    a = convolution(t, "%x", 3, 32, (3, 3))
    b = convolution(t, convolution(t, a, 32, 64, (3, 3), (2, 2)), 64, 64, (3, 3))
    up = t.add(f"nn.conv2d_transpose({b}, {t.weight(64, 32, 2, 2)}, kernel_size=[2, 2], strides=[2, 2])")
    x = convolution(t, t.add(f"concatenate({a}, {up}, axis=1)"), 64, 32, (3, 3))
    return program(t, batch, (3, 128, 128), x)


MODELS = (perceptron, plain, residual, depthwise, grouped, transformer, vision_transformer, recurrent, recommender,
          elementwise, rows, hourglass)
