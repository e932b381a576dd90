#!/usr/bin/env python3
"""OpenVINO IRs without weights, and what their sources know of them: tests/openvino/models.tar.xz, counts.tsv.

usage: make_models.py [MODEL…]     (needs openvino, nncf, torch, torchvision, transformers, tensorflow, keras, onnx)

Every model is converted by `openvino.convert_model` from PyTorch, ONNX or TensorFlow, or put together of OpenVINO's
operators, and saved by `openvino.save_model`. Of the .bin only the constants are kept that shapes can depend on
(integers up to 4096 elements, others up to 64): NAME.small holds their offsets and bytes, from which the tests write a
sparse .bin. counts.tsv has multiply-accumulates (of PyTorch's FlopCounterMode; of ONNX those of
../shared/frameworks/MANIFEST.tsv; of Keras those of tests/keras/make_models.py) and the elements of the floating-point
constants as OpenVINO counts them.
"""
import io
import math
import pathlib
import struct
import sys
import tarfile
import tempfile

import numpy as np
import openvino as ov

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


def flops(module, example):
    from torch.utils.flop_counter import FlopCounterMode
    import torch
    written_out = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)
    with torch.no_grad(), written_out, FlopCounterMode(display=False) as counter:
        module(*example) if isinstance(example, tuple) else module(**example)
    return counter.get_total_flops() // 2


def from_torch(module, example, fp16=False, **convert):
    """The IR, its MACs, and whether weights are kept in half precision (the default of save_model)."""
    import torch
    for p in module.parameters():  # scales of 1 and shifts of 0 would be optimised away
        torch.nn.init.uniform_(p, -0.05, 0.05)
    module = module.eval()
    return ov.convert_model(module, example_input=example, **convert), flops(module, example), fp16


def image(size=224):
    import torch
    return (torch.zeros(1, 3, size, size),)


def vision(name, size=224, fp16=False, **kwargs):
    def make():
        import torchvision
        module = torchvision.models.get_model(name, weights=None, **kwargs)
        return from_torch(module, image(size), fp16, input=[1, 3, size, size])
    MODELS[name] = make


vision("resnet50")
vision("mobilenet_v3_large", fp16=True)
vision("efficientnet_b0", fp16=True)
vision("swin_t")
vision("convnext_tiny")
vision("shufflenet_v2_x1_0")
vision("densenet121")
vision("deeplabv3_mobilenet_v3_large", weights_backbone=None)


@model
def resnet50_dynamic():
    import torchvision
    module = torchvision.models.resnet50(weights=None)
    return from_torch(module, image(), input=ov.PartialShape([-1, 3, ov.Dimension(32, 512), ov.Dimension(32, 512)]))


@model
def r3d_18():
    import torch
    import torchvision
    return from_torch(torchvision.models.video.r3d_18(weights=None), (torch.zeros(1, 3, 16, 112, 112),),
                      input=[1, 3, 16, 112, 112])


def bert(layers=4):
    import transformers
    config = transformers.BertConfig(hidden_size=256, num_hidden_layers=layers, num_attention_heads=4,
                                     intermediate_size=1024, return_dict=False)
    return transformers.BertModel(config)


@model
def bert_small():
    import torch
    ids = torch.ones(1, 128, dtype=torch.int64)
    return from_torch(bert(), {"input_ids": ids, "attention_mask": ids},
                      input=[("input_ids", [1, 128]), ("attention_mask", [1, 128])])


@model
def vit_base_hf():
    import transformers
    return from_torch(transformers.ViTModel(transformers.ViTConfig(num_hidden_layers=4, return_dict=False)), image(),
                      input=[1, 3, 224, 224])


def decoder(heads=8, kv_heads=2, layers=2, width=512, vocabulary=4096):
    """A language model as optimum-intel writes it: stateful, keys and values in variables, all dims open."""
    from openvino import opset13 as o

    rng = np.random.default_rng(0)

    def weight(*shape):
        return o.constant((rng.standard_normal(shape) * 0.02).astype(np.float32))

    def ints(*values):
        return o.constant(np.array(values, np.int64))

    def linear(x, n, m):
        return o.matmul(x, weight(m, n), False, True)

    def rms(x):
        mean = o.reduce_mean(o.power(x, o.constant(np.float32(2))), ints(-1), True)
        return o.multiply(o.divide(x, o.sqrt(o.add(mean, o.constant(np.float32(1e-6))))), weight(1, 1, width))

    def heads_of(x, n):
        return o.transpose(o.reshape(x, ints(0, 0, n, head), True), ints(0, 2, 1, 3))

    head = width // heads
    tokens = o.parameter([-1, -1], np.int64, "input_ids")
    mask = o.parameter([-1, -1], np.int64, "attention_mask")
    beam = o.parameter([-1], np.int32, "beam_idx")
    batch = o.gather(o.shape_of(tokens), ints(0), ints(0))
    x = o.gather(weight(vocabulary, width), tokens, o.constant(np.int64(0)))
    sinks, macs, steps = [], 0, 16
    bias = o.unsqueeze(o.multiply(o.subtract(o.convert(mask, "f32"), o.constant(np.float32(1))),
                                  o.constant(np.float32(1e4))), ints(1, 2))
    for i in range(layers):
        y = rms(x)
        q, states = heads_of(linear(y, width, width), heads), []
        for kind in ("key", "value"):
            new = heads_of(linear(y, width, kv_heads * head), kv_heads)
            start = o.broadcast(o.constant(np.float32(0)),
                                o.concat([batch, ints(kv_heads), ints(0), ints(head)], 0))
            name = f"past_key_values.{i}.{kind}present.{i}.{kind}"
            past = o.read_value(start, name, np.float32, ov.PartialShape([-1, kv_heads, -1, head]))
            whole = o.concat([o.gather(past, beam, o.constant(np.int64(0))), new], 2)
            sinks.append(o.assign(whole, name))
            wide = o.broadcast(o.unsqueeze(whole, ints(2)),
                               o.concat([batch, ints(kv_heads, heads // kv_heads),
                                         o.gather(o.shape_of(whole), ints(2), ints(0)), ints(head)], 0))
            states.append(o.reshape(wide, ints(0, heads, -1, head), True))
        attended = o.scaled_dot_product_attention(q, *states, bias)
        x = o.add(x, linear(o.reshape(o.transpose(attended, ints(0, 2, 1, 3)), ints(0, 0, -1), True), width, width))
        y = rms(x)
        gate = o.multiply(o.swish(linear(y, width, 1024)), linear(y, width, 1024))
        x = o.add(x, linear(gate, 1024, width))
        macs += steps * (2 * width * width + 2 * width * kv_heads * head + 3 * width * 1024) + 2 * steps**2 * width
    logits = linear(rms(x), width, vocabulary)
    macs += steps * width * vocabulary
    result = o.result(logits, "logits")
    net = ov.Model([result], sinks, [tokens, mask, beam], "decoder")
    for port, name in zip(net.inputs, ["input_ids", "attention_mask", "beam_idx"]):
        port.get_tensor().set_names({name})
    return net, macs, False


@model
def decoder_stateful():
    return decoder()


@model
def decoder_int4():
    import nncf
    net, macs, fp16 = decoder()
    return nncf.compress_weights(net, mode=nncf.CompressWeightsMode.INT4_ASYM, group_size=64, ratio=1.0), macs, fp16


@model
def mobilenet_v2_int8():
    import nncf
    import torchvision
    net, macs, _ = from_torch(torchvision.models.mobilenet_v2(weights=None), image(), input=[1, 3, 224, 224])
    data = nncf.Dataset([np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)] * 2)
    return nncf.quantize(net, data, subset_size=2), macs, False


@model
def bert_int8_weights():
    import nncf
    net, macs, _ = bert_small()
    return nncf.compress_weights(net), macs, False


@model
def lstm_tagger():
    import torch

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(5000, 128)
            self.lstm = torch.nn.LSTM(128, 64, 2, batch_first=True, bidirectional=True)
            self.gru = torch.nn.GRU(128, 32)
            self.out = torch.nn.Linear(32, 20)

        def forward(self, x):
            y, _ = self.lstm(self.embed(x))
            y, _ = self.gru(y.transpose(0, 1))
            return self.out(y[-1]).log_softmax(-1)

    module = Tagger()
    net, _, _ = from_torch(module, (torch.zeros(1, 50, dtype=torch.int64),), input=([1, 50], np.int64))
    steps = 50
    macs = steps * 2 * 256 * ((128 + 64) + (128 + 64)) + steps * 96 * (128 + 32) + 32 * 20
    return net, macs, False


@model
def rnn_keras():
    import keras
    layers = keras.layers
    m = keras.Sequential([keras.Input((24, 16), batch_size=1), layers.LSTM(32, return_sequences=True),
                          layers.GRU(16, return_sequences=True, reset_after=False), layers.SimpleRNN(8),
                          layers.Dense(4)])
    macs = 24 * (4 * 32 * 48 + 3 * 16 * 48 + 8 * 24) + 8 * 4
    return from_saved_model(m, macs)


def from_saved_model(m, macs):
    with tempfile.TemporaryDirectory() as folder:
        m.export(folder, verbose=False)
        return ov.convert_model(folder, input=[1, *m.inputs[0].shape[1:]]), macs, False


@model
def mobilenet_v2_tf():
    import keras
    inputs = keras.Input((224, 224, 3), batch_size=1)
    return from_saved_model(keras.applications.MobileNetV2(weights=None, input_tensor=inputs), 300774272)


def from_onnx(name, macs):
    def make():
        return convert_onnx(name), macs, False
    MODELS[name.split(".")[0] + "_onnx"] = make


def convert_onnx(name):
    """A model of ../shared/frameworks, whose weights were dropped, with random ones."""
    import onnx
    archive = HERE.parents[2] / "shared" / "frameworks" / "models.tar.xz"
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            member = next(m for m in tar.getmembers() if m.name.endswith(f"/{name}"))
            path = pathlib.Path(folder) / name
            path.write_bytes(tar.extractfile(member).read())
        net = onnx.load(path, load_external_data=False)
        ends = {}
        for t in net.graph.initializer:
            at = {e.key: e.value for e in t.external_data}
            count = math.prod(t.dims)
            if not at and t.data_type == onnx.TensorProto.FLOAT and count > 1:  # zeros would be optimised away
                t.ClearField("float_data")
                t.raw_data = (rng.random(count) * 0.1).astype(np.float32).tobytes()
            if at:
                end = int(at.get("offset", 0)) + int(at["length"])
                ends[at["location"]] = max(ends.get(at["location"], 0), end)
        onnx.save(net, path)
        for file, size in ends.items():
            values = (rng.random(size // 4 + 1) * 0.1).astype(np.float32)
            (pathlib.Path(folder) / file).write_bytes(values.tobytes()[:size])
        return ov.convert_model(path)


from_onnx("resnet18.legacy.onnx", 1814073344)
from_onnx("mobilenet_v2.legacy.onnx", 300774272)
from_onnx("segformer_b0.legacy.onnx", None)
from_onnx("clip_vit_b32.legacy.onnx", None)


@model
def ssd_head():
    """A detector of the Open Model Zoo's kind: PriorBoxClustered, DetectionOutput, NormalizeL2, ROIPooling."""
    from openvino import opset8 as o
    rng = np.random.default_rng(0)
    x = data = o.parameter([1, 3, 128, 128], np.float32, "data")

    def conv(x, n, m, k, stride=1):
        w = o.constant(rng.standard_normal((m, n, k, k)).astype(np.float32))
        return o.convolution(x, w, [stride] * 2, [k // 2] * 2, [k // 2] * 2, [1, 1])

    x = o.relu(conv(x, 3, 16, 3, 2))
    x = o.normalize_l2(o.relu(conv(x, 16, 32, 3, 2)), o.constant(np.array([1], np.int64)), 1e-6, "max")
    n = 32 * 32 * 4
    flat = o.constant(np.array([1, -1], np.int64))

    def rows(y):
        return o.reshape(o.transpose(y, o.constant(np.array([0, 2, 3, 1], np.int64))), flat, False)

    boxes, scores = rows(conv(x, 32, 16, 3)), rows(conv(x, 32, 12, 3))
    grid = o.strided_slice(o.shape_of(x), *(o.constant(np.array([v], np.int64)) for v in (2, 4, 1)), [0], [0])
    size = o.strided_slice(o.shape_of(data), *(o.constant(np.array([v], np.int64)) for v in (2, 4, 1)), [0], [0])
    attributes = {"width": [10.0, 20.0, 30.0, 40.0], "height": [10.0, 20.0, 30.0, 40.0], "clip": False, "step": 4.0,
                  "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2]}
    priors = o.unsqueeze(o.prior_box_clustered(grid, size, attributes), o.constant(np.int64(0)))
    scores = o.reshape(o.softmax(o.reshape(scores, o.constant(np.array([1, n, 3], np.int64)), False), 2), flat, False)
    head = o.detection_output(boxes, scores, priors, {
        "background_label_id": 0, "top_k": 200, "keep_top_k": [100], "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
        "share_location": True, "nms_threshold": 0.45, "confidence_threshold": 0.01, "normalized": True,
        "variance_encoded_in_target": False})
    regions = o.constant(np.array([[0, 0, 0, 31, 31], [0, 4, 4, 20, 20]], np.float32))
    pooled = o.roi_pooling(x, regions, [4, 4], 0.25, "max")
    net = ov.Model([o.result(head, "detections"), o.result(pooled, "pooled")], [data], "ssd_head")
    return net, 64 * 64 * 16 * 27 + 32 * 32 * 32 * 144 + 32 * 32 * 28 * 288, False


@model
def control_flow():
    """If, Loop, TensorIterator, NonMaxSuppression, TopK, scatters."""
    import torch

    class Flow(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(16, 16)

        def forward(self, x, flag):
            y = x
            for i in range(x.size(0)):
                y = torch.tanh(self.linear(y)) + i
            if bool(flag.sum() > 0):
                y = y * 2
            else:
                y = self.linear(y)
            values, places = y.topk(4, dim=-1)
            return values, y.scatter(1, places, values * 0)

    module = torch.jit.script(Flow().eval())
    net = ov.convert_model(module, input=[ov.PartialShape([8, 16]), ov.PartialShape([4])],
                           example_input=(torch.zeros(8, 16), torch.ones(4)))
    return net, None, False


@model
def image_operators():
    """What vision models use beside convolutions, operator by operator."""
    import torch
    import torch.nn.functional as f

    class Zoo(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1, groups=2)
            self.down = torch.nn.Conv2d(8, 16, 3, padding=1, groups=4, padding_mode="reflect")
            self.norm = torch.nn.GroupNorm(4, 16)
            self.prelu = torch.nn.PReLU(16)

        def forward(self, x):
            y = self.prelu(self.norm(self.down(f.pixel_unshuffle(x, 2)[:, :8])))
            y = f.interpolate(self.up(y), scale_factor=2.0, mode="bilinear")
            pooled = f.avg_pool2d(y, 4, stride=2, ceil_mode=True)[..., :6, :6]
            y = f.adaptive_avg_pool2d(f.hardswish(y), (6, 6)) + pooled
            y = f.grid_sample(y, torch.zeros(1, 5, 5, 2), align_corners=False)
            y = torch.roll(f.mish(f.elu(y)), 1, dims=2).flip(3)
            y = f.pad(torch.cumsum(y, 1), (1, 1, 0, 0), mode="replicate")
            return y.var(1), f.normalize(y, dim=1), torch.einsum("bchw,bdhw->bcd", y, y), f.softplus(y).unbind(1)[0]

    example = (torch.zeros(1, 4, 16, 16),)
    net, _, _ = from_torch(Zoo(), example, input=[1, 4, 16, 16])
    return net, 64 * 16 * 2 * 9 + 16 * 8 * 8 * 4 * 16 + 64 * 35, False


def pack(name, net, fp16, out):
    import xml.etree.ElementTree as xml
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{name}.xml"
        ov.save_model(net, path, compress_to_fp16=fp16)
        text, raw = path.read_bytes(), path.with_suffix(".bin").read_bytes()
    kept = {}
    widths = {"i64": 8, "u64": 8, "f64": 8, "i32": 4, "u32": 4, "f32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2,
              "boolean": 1, "i8": 1, "u8": 1}
    for data in xml.fromstring(text).iter("data"):
        if "offset" in data.attrib and data.get("element_type") in widths:
            offset, size, kind = int(data.get("offset")), int(data.get("size")), data.get("element_type")
            if size // widths[kind] <= (4096 if kind in ("i32", "i64", "u32", "u64", "boolean") else 64):
                kept[offset] = raw[offset:offset + size]
    blob = b"".join(struct.pack("<QI", offset, len(data)) + data for offset, data in sorted(kept.items()))
    for suffix, data in ((".xml", text), (".small", blob)):
        info = tarfile.TarInfo(name + suffix)
        info.size = len(data)
        out.addfile(info, io.BytesIO(data))


def parameters(net):
    """Elements of the constants that hold weights: floating point, and integers of eight bits and less."""
    return sum(
        int(np.prod(node.get_output_shape(0), dtype=np.int64)) for node in net.get_ops()
        if node.get_type_name() == "Constant" and
        (node.get_element_type().is_real() or 1 < node.get_element_type().bitwidth <= 8 and
         node.get_element_type() != ov.Type.boolean))


def main():
    wanted = sys.argv[1:] or sorted(MODELS)
    rows = ["file\tmacs\tparams"]
    with tarfile.open(HERE / "models.tar.xz", "w:xz", preset=9) as out:
        for name in wanted:
            try:
                net, macs, fp16 = MODELS[name]()
            except Exception as problem:  # a converter's failure is its own
                print(f"{name}: {type(problem).__name__}: {problem}"[:400], file=sys.stderr, flush=True)
                continue
            pack(name, net, fp16, out)
            rows.append(f"{name}.xml\t{'' if macs is None else macs}\t{parameters(net)}")
            print(rows[-1], flush=True)
    (HERE / "counts.tsv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
