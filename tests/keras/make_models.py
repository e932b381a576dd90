#!/usr/bin/env python3
"""Keras archives without weights, and what Keras knows of them: tests/keras/models.tar.xz, counts.tsv.

usage: make_models.py      (needs keras >= 3.10 and tensorflow; writes beside itself)

Every model is saved by `model.save`; model.weights.h5 is dropped from the archive. counts.tsv has, of one sample,
parameters (`count_params`) and multiply-accumulates by formula over the live layers (`macs` below), which perfc does
not share.
"""
import io
import math
import os
import pathlib
import tarfile
import zipfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
from keras import layers, ops  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {}
SIZES = {"InceptionV3": (299, 299, 3), "Xception": (299, 299, 3)}


def model(make):
    MODELS[make.__name__] = make
    return make


for name in ["ResNet50", "MobileNet", "MobileNetV2", "MobileNetV3Large", "EfficientNetB0", "EfficientNetV2B0",
             "DenseNet121", "InceptionV3", "Xception", "VGG16", "NASNetMobile", "ConvNeXtTiny"]:
    MODELS[name.lower()] = lambda make=getattr(keras.applications, name): make(
        weights=None, input_shape=SIZES.get(make.__name__, (224, 224, 3)))


def encoder_block(x, heads, width, hidden, causal=False):
    attended = layers.MultiHeadAttention(heads, width // heads)(x, x, use_causal_mask=causal)
    x = layers.LayerNormalization(epsilon=1e-12)(layers.Add()([x, attended]))
    y = layers.Dense(hidden, activation="gelu")(x)
    return layers.LayerNormalization(epsilon=1e-12)(layers.Add()([x, layers.Dense(width)(y)]))


@model
def bert_small():
    tokens, segments = keras.Input((128,), dtype="int32", name="tokens"), keras.Input((128,), dtype="int32")
    positions = layers.Embedding(128, 256)(ops.cumsum(ops.ones_like(tokens), axis=1) - 1)
    x = layers.Embedding(30522, 256)(tokens) + layers.Embedding(2, 256)(segments) + positions
    x = layers.Dropout(0.1)(layers.LayerNormalization()(x))
    for _ in range(4):
        x = encoder_block(x, 4, 256, 1024)
    return keras.Model([tokens, segments], layers.Dense(256, activation="tanh")(x[:, 0]))


@model
def vit_small():
    image = keras.Input((224, 224, 3))
    x = layers.Reshape((196, 384))(layers.Conv2D(384, 16, 16)(image))
    x = layers.Dropout(0.1)(x)
    for _ in range(4):
        y = layers.LayerNormalization(epsilon=1e-6)(x)
        x = x + layers.MultiHeadAttention(6, 64)(y, y)
        y = layers.Dense(1536, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(x))
        x = x + layers.Dense(384)(y)
    return keras.Model(image, layers.Dense(1000)(ops.mean(layers.LayerNormalization()(x), axis=1)))


@model
def einsum_transformer():
    """Attention as keras_hub writes it: EinsumDense layers, reshapes and products by hand."""
    x = inputs = keras.Input((64, 256))
    for _ in range(2):
        q, k, v = (layers.EinsumDense("abc,cde->abde", (64, 8, 32), bias_axes="de")(x) for _ in range(3))
        scores = ops.einsum("aecd,abcd->acbe", k, q / math.sqrt(32))
        y = ops.einsum("acbe,aecd->abcd", layers.Softmax()(scores), v)
        x = x + layers.EinsumDense("abcd,cde->abe", (64, 256), bias_axes="e")(y)
        x = x + layers.EinsumDense("abc,cd->abd", (64, 256), bias_axes="d", activation="silu")(x)
    return keras.Model(inputs, x)


@model
def gqa_decoder():
    tokens = keras.Input((64,), dtype="int32")
    table = layers.ReversibleEmbedding(4096, 512)
    x = table(tokens)
    for _ in range(2):
        y = layers.RMSNormalization()(x)
        x = x + layers.GroupQueryAttention(64, 8, 2, use_bias=False)(y, y, use_causal_mask=True)
        y = layers.RMSNormalization()(x)
        gated = layers.Dense(1024, activation="silu", use_bias=False)(y) * layers.Dense(1024, use_bias=False)(y)
        x = x + layers.Dense(512, use_bias=False)(gated)
    return keras.Model(tokens, table(layers.RMSNormalization()(x), reverse=True))


@model
def lstm_text():
    return keras.Sequential([keras.Input((100,), dtype="int32"), layers.Embedding(10000, 128),
                             layers.SpatialDropout1D(0.2), layers.Bidirectional(layers.LSTM(64, return_sequences=True)),
                             layers.Bidirectional(layers.LSTM(32), merge_mode="sum"), layers.Dense(64, "relu"),
                             layers.Dropout(0.5), layers.Dense(1, activation="sigmoid")])


@model
def gru_stack():
    x = inputs = keras.Input((50, 40))
    x = layers.Masking()(x)
    x = layers.GRU(128, return_sequences=True, reset_after=False)(x)
    x, state = layers.GRU(64, return_state=True)(x)
    return keras.Model(inputs, layers.Dense(10, activation="softmax")(layers.Concatenate()([x, state])))


@model
def rnn_zoo():
    inputs = keras.Input((20, 16, 16, 3))
    frame = keras.Sequential([layers.Conv2D(8, 3, activation="relu"), layers.GlobalAveragePooling2D()])
    x = layers.TimeDistributed(frame)(inputs)
    x = layers.TimeDistributed(layers.Dense(16))(x)
    x = layers.SimpleRNN(32, return_sequences=True, go_backwards=True)(x)
    x = layers.RNN([layers.LSTMCell(24), layers.GRUCell(20)], return_sequences=True)(x)
    return keras.Model(inputs, layers.LSTM(16)(x))


@model
def seq2seq():
    source, target = keras.Input((30, 32), name="source"), keras.Input((20, 32), name="target")
    encoded, h, c = layers.LSTM(64, return_sequences=True, return_state=True)(source)
    decoded = layers.LSTM(64, return_sequences=True)(target, initial_state=[h, c])
    context = layers.Attention(use_scale=True)([decoded, encoded])
    other = layers.AdditiveAttention()([decoded, encoded])
    joined = layers.Concatenate()([decoded, context, other])
    return keras.Model([source, target], layers.TimeDistributed(layers.Dense(1000, activation="softmax"))(joined))


@model
def unet():
    x = inputs = keras.Input((128, 128, 1))
    skips = []
    for width in [16, 32, 64]:
        for _ in range(2):
            x = layers.Activation("relu")(layers.BatchNormalization()(layers.Conv2D(width, 3, padding="same")(x)))
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    for width, skip in zip([64, 32, 16], reversed(skips)):
        x = layers.Conv2DTranspose(width, 2, strides=2, padding="same")(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(layers.Concatenate()([x, skip]))
    x = layers.Conv2DTranspose(4, 3, strides=2)(x)
    x = layers.Cropping2D(((0, 1), (1, 0)))(x)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


@model
def audio_1d():
    x = inputs = keras.Input((16000, 1))
    x = layers.Conv1D(32, 80, strides=4, padding="causal", activation="relu")(x)
    x = layers.MaxPooling1D(4)(x)
    x = layers.SeparableConv1D(64, 3, padding="same")(layers.ZeroPadding1D(2)(x))
    x = layers.LeakyReLU()(layers.DepthwiseConv1D(5, depth_multiplier=2)(x))
    x = layers.PReLU(shared_axes=[1])(layers.Cropping1D(3)(layers.AveragePooling1D(2)(x)))
    x = layers.Conv1DTranspose(16, 4, strides=2)(layers.UpSampling1D(2)(x))
    x = layers.GroupNormalization(4)(x)
    return keras.Model(inputs, layers.Dense(35)(layers.GlobalMaxPooling1D()(x)))


@model
def video_3d():
    x = inputs = keras.Input((16, 56, 56, 3))
    x = layers.Conv3D(16, 3, padding="same", activation="elu")(x)
    x = layers.MaxPooling3D((1, 2, 2))(x)
    x = layers.ELU()(layers.Conv3D(32, 3, strides=2, groups=2)(layers.ZeroPadding3D(1)(x)))
    x = layers.AveragePooling3D(2)(x)
    x = layers.Conv3DTranspose(8, 2, strides=2)(x)
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling3D()(x)))


@model
def siamese():
    """One network on two inputs: shared layers, a model within a model."""
    image = keras.Input((64, 64, 3))
    x = layers.Conv2D(32, 3, activation="relu")(image)
    x = layers.SeparableConv2D(64, 3, strides=2, padding="same", depth_multiplier=2)(x)
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    tower = keras.Model(image, layers.UnitNormalization()(layers.Dense(128)(layers.Flatten()(x))))
    a, b = keras.Input((64, 64, 3)), keras.Input((64, 64, 3))
    x, y = tower(a), tower(b)
    joined = [layers.Subtract()([x, y]), layers.Multiply()([x, y]), layers.Average()([x, y]),
              layers.Maximum()([x, y]), layers.Minimum()([x, y])]
    return keras.Model([a, b], [layers.Dot(1)([x, y]), layers.Dense(1)(layers.Concatenate()(joined))])


@model
def preprocessing():
    x = inputs = keras.Input((300, 260, 3), dtype="uint8")
    x = layers.Resizing(256, 256)(x)
    x = layers.CenterCrop(224, 224)(layers.RandomFlip()(layers.RandomRotation(0.1)(x)))
    x = layers.Normalization()(layers.Rescaling(1 / 127.5, offset=-1)(x))
    x = layers.SpectralNormalization(layers.Conv2D(16, 3, strides=2))(layers.GaussianNoise(0.1)(x))
    x = layers.ReLU(max_value=6, negative_slope=0.1)(x)
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalMaxPooling2D()(x)))


@model
def mixed_float16():
    keras.mixed_precision.set_global_policy("mixed_float16")
    x = inputs = keras.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, padding="same", use_bias=False)(x)
    x = layers.Activation("swish")(layers.BatchNormalization()(x))
    x = layers.Dense(10)(layers.GlobalAveragePooling2D()(x))
    out = keras.Model(inputs, layers.Activation("softmax", dtype="float32")(x))
    keras.mixed_precision.set_global_policy("float32")
    return out


@model
def operations():
    """keras.ops on tensors."""
    x = inputs = keras.Input((12, 32))
    y = ops.reshape(x, (-1, 12, 4, 8))
    y = ops.transpose(y, (0, 2, 1, 3))
    parts = ops.split(y, 2, axis=-1)
    y = ops.concatenate([-parts[1], parts[0]], axis=-1)
    y = ops.softmax(ops.matmul(y, ops.swapaxes(y, -1, -2)) * 0.5)
    y = ops.where(y > 0.1, y, 0.0)
    y = ops.sum(ops.exp(ops.clip(y, -1, 1)), axis=-1, keepdims=True)
    y = ops.squeeze(ops.sqrt(ops.abs(y) + 1e-6), axis=-1)
    y = ops.stack([y, ops.square(y), ops.maximum(y, 0)], axis=1)
    z = ops.expand_dims(x[:, ::2, 3:-1], 1) / 3
    z = ops.pad(ops.max(z, axis=2), ((0, 0), (1, 1), (0, 0)))
    z = ops.tile(ops.flip(z, axis=1), (1, 2, 1))
    top, places = ops.top_k(z[..., 0], 3)
    hot = ops.one_hot(places, 6)
    return keras.Model(inputs, [ops.mean(y, axis=(2, 3)), ops.gelu(top), ops.var(hot, axis=-1), ops.argmax(z, axis=-1),
                                ops.take(x, 3, axis=1), ops.repeat(z, 2, axis=1),
                                 ops.cast(ops.roll(x, 2, 1), "float16"),
                                ops.log_softmax(ops.leaky_relu(x) + ops.silu(x)), ops.tril(x[:, :, :12])])


@keras.saving.register_keras_serializable(package="mine")
class Wave(layers.Layer):
    def call(self, x):
        return ops.sin(x)


@model
def custom_layer():
    x = inputs = keras.Input((16,))
    return keras.Model(inputs, layers.Dense(4)(Wave()(layers.Dense(32)(x))))


@model
def mlp():
    m = keras.Sequential([layers.Flatten(), layers.Dense(512, activation="relu"), layers.BatchNormalization(),
                          layers.RepeatVector(3), layers.Permute((2, 1)), layers.Reshape((-1,)), layers.Dense(10)])
    m.build((None, 28, 28))
    return m


def volume(shape):
    return math.prod(d for d in shape if d)


def recurrent_macs(layer, steps, width, units, gates):
    return steps * gates * units * (width + units)


GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1, "LSTMCell": 4, "GRUCell": 3, "SimpleRNNCell": 1}


def macs(layer, inputs, output):
    """Of one call of a layer on one sample; shapes without the batch."""
    kind, x = type(layer).__name__, inputs[0]
    if kind in ("Functional", "Sequential", "Model"):
        return model_macs(layer)
    if kind.startswith("Conv") and kind.endswith("Transpose"):
        return volume(x) * volume(layer.kernel.shape) // layer.kernel.shape[-1]
    if kind.startswith("Conv"):
        return volume(output) * volume(layer.kernel.shape[:-1])
    if kind.startswith("DepthwiseConv"):
        return volume(output) * volume(layer.kernel.shape[:-2])
    if kind.startswith("SeparableConv"):
        places = volume(output[:-1])
        return places * (volume(layer.depthwise_kernel.shape) + volume(layer.pointwise_kernel.shape))
    if kind == "Dense":
        return volume(x) * layer.units
    if kind == "EinsumDense":
        return volume(x) * volume(layer.kernel.shape) // contracted(layer.equation, layer.kernel.shape)
    if kind == "ReversibleEmbedding":
        return volume(x) * layer.input_dim if len(x) == 2 else 0
    if kind in ("MultiHeadAttention", "GroupedQueryAttention"):
        heads = layer.num_heads if kind[0] == "M" else layer.num_query_heads
        width = layer.key_dim if kind[0] == "M" else layer.head_dim
        kv = layer.num_heads if kind[0] == "M" else layer.num_key_value_heads
        n, m, d = x[0], inputs[1][0], x[1]
        return n * d * heads * width * 2 + m * d * kv * width * 2 + 2 * n * m * heads * width
    if kind in ("Attention", "AdditiveAttention"):
        n, m, d = x[0], inputs[1][0], x[1]
        return n * m * d * (2 if kind == "Attention" else 1)
    if kind in GATES:
        return recurrent_macs(layer, x[0], x[1], layer.units, GATES[kind])
    if kind == "RNN":
        total, width = 0, x[1]
        for cell in layer.cell.cells:
            total += recurrent_macs(cell, x[0], width, cell.units, GATES[type(cell).__name__])
            width = cell.units
        return total
    if kind == "Bidirectional":
        one = layer.forward_layer
        return 2 * recurrent_macs(layer, x[0], x[1], one.units, GATES[type(one).__name__])
    if kind == "TimeDistributed":
        return x[0] * macs(layer.layer, [x[1:]], output[1:])
    if kind == "SpectralNormalization":
        return macs(layer.layer, inputs, output)
    if kind == "Matmul":
        return volume(output) * x[-1]
    if kind == "Einsum":
        return volume(output) * einsum_sum(layer.subscripts, inputs)
    return 0


def contracted(equation, kernel):
    """Extents that the kernel shares with the data: of each element of the data, all others are products."""
    data, weight, _ = equation.replace("->", ",").split(",")
    return math.prod(d for label, d in zip(weight, kernel) if label in data)


def einsum_sum(equation, inputs):
    *terms, out = equation.replace("->", ",").split(",")
    extents = {label: d for term, shape in zip(terms, inputs) for label, d in zip(term[1:], shape)}
    return math.prod(d for label, d in extents.items() if label not in out)


def model_macs(m):
    if isinstance(m, keras.Sequential):
        total = 0
        for layer in m.layers:
            total += macs(layer, [shape(layer.input)], shape(layer.output))
        return total
    total = 0
    for layers_of_depth in m._nodes_by_depth.values():
        for node in layers_of_depth:
            if node.input_tensors:
                total += macs(node.operation, [shape(t) for t in node.input_tensors], shape(node.output_tensors[0]))
    return total


def shape(tensor):
    tensor = tensor[0] if isinstance(tensor, (list, tuple)) else tensor
    return tuple(tensor.shape[1:])


def without_weights(path):
    data = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(data, "w") as out:
        for info in source.infolist():
            if info.filename != "model.weights.h5":
                out.writestr(zipfile.ZipInfo(info.filename), source.read(info))
    return data.getvalue()


def main():
    rows = ["file\tmacs\tparams"]
    with tarfile.open(HERE / "models.tar.xz", "w:xz", preset=9) as out:
        for name, make in sorted(MODELS.items()):
            keras.backend.clear_session()
            keras.utils.set_random_seed(0)
            m = make()
            path = pathlib.Path("/tmp") / f"{name}.keras"
            m.save(path)
            data = without_weights(path)
            path.unlink()
            info = tarfile.TarInfo(f"{name}.keras")
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
            rows.append(f"{name}.keras\t{model_macs(m)}\t{m.count_params()}")
            print(rows[-1], flush=True)
    (HERE / "counts.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
