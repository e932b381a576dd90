#!/usr/bin/env python3
"""Writes 31 models, and three with loops, in five forms in which PyTorch programs are exported, without weights.

Transformers have 12 layers, encoders and decoders 6 each: with two, positions and masks are a fifth of all calls.

usage: make_exports.py [--only PATTERN] [--folder build/exports]

Needs what tests/dispatch/README.md installs, and onnx, onnxscript and numpy. Per model and form a file
FOLDER/NAME.FORM.{pt2,json,onnx}, and FOLDER/NAME.json: what torch's FlopCounter counts per batch, and the forms that
torch cannot make, with its reason. What is there is not made again. Then packs tests/exports/models.tar.xz.
"""
import argparse
import fnmatch
import inspect
import json
import pathlib
import sys
import tempfile
import warnings
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "python")]
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import dispatch_models as zoo  # noqa: E402
import packing  # noqa: E402
from dispatch_record import without_stacks  # noqa: E402
from perfc.export import exported, onnx, torchscript  # noqa: E402

#: Of tests/oracle/dispatch_models.py, as they are there.
KNOWN = """timm_resnet18 timm_mobilenetv3_small_050 timm_convnext_atto timm_vit_tiny_patch16_224
    timm_swin_tiny_patch4_window7_224 tv_resnet50 tv_deeplabv3_mobilenet_v3_large tv_raft_small
    tv_retinanet_resnet50_fpn hf_bert_masked hf_modernbert hf_deberta_v2 hf_gpt2 hf_llama hf_qwen3 hf_gemma3
    hf_qwen2_moe hf_mamba hf_t5 hf_bart hf_vit hf_dinov2 hf_segformer hf_detr hf_whisper hf_wav2vec2
    sd_unet_condition sd_vae_decoder""".split()
#: Layers, where the zoo has two: as GPT-2, BERT base and ViT base, and as T5 small, BART base, Whisper base and DETR.
DEPTH = {
    "num_hidden_layers": 12, "n_layer": 12, "num_layers": 6, "num_decoder_layers": 6, "encoder_layers": 6,
    "decoder_layers": 6
}
zoo.SMALL.update(DEPTH)
COUNTED = (1, 8)        #: batches of FlopCounter
TRACED = 1              #: batch of the forms that are traced at one; static .pt2 keeps the zoo's
OPEN = 2                #: batch of the example inputs where it is open: torch.export takes 1 for a constant


class TimeMajor(torch.nn.Module):
    """A recurrent layer whose batch is the second dim."""

    def __init__(self):
        super().__init__()
        self.cell, self.last = torch.nn.LSTM(40, 64, 2, bidirectional=True), torch.nn.Linear(128, 29)

    def forward(self, x):
        return self.last(self.cell(x)[0]).log_softmax(-1)


def clip():
    """Images and as many texts: both inputs carry the batch."""
    name, config, options, inputs = zoo.TRANSFORMERS["clip"]
    deep = {part: {**of, "num_hidden_layers": DEPTH["num_hidden_layers"]} for part, of in options.items()}
    module, (ids, pixels) = zoo._transformer(name, config, deep, inputs)
    return module, (ids, pixels.repeat(len(ids), 1, 1, 1))


def segformer():
    """Two blocks per stage, as B0."""
    name, config, options, inputs = zoo.TRANSFORMERS["segformer"]
    return zoo._transformer(name, config, {**options, "depths": [2, 2, 2, 2]}, inputs)


def mixtral():
    """Experts as transformers runs them by default: one grouped product per layer."""
    _, config, options, inputs = zoo.TRANSFORMERS["mixtral"]
    return zoo._transformer("MixtralModel", config, {**options, "experts_implementation": "grouped_mm"}, inputs)


class Loops(torch.nn.Module):
    """A layer that torch's higher-order operators run several times: `kind` is while_loop, scan or map."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.layer = kind, torch.nn.Linear(64, 64)

    def forward(self, x):
        from torch import _higher_order_ops as ops
        if self.kind == "while_loop":
            start = torch.zeros((), dtype=torch.int64)
            return ops.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, self.layer(h)), (start, x))[1]
        steps = x.transpose(0, 1)
        if self.kind == "map":
            return ops.map(lambda step: torch.relu(self.layer(step)), steps)

        def combine(h, step):
            h = torch.tanh(self.layer(step) + h)
            return h, h.clone()
        return ops.scan(combine, torch.zeros_like(x[:, 0]), steps, dim=0)

    def plain(self, x):
        """The same products in Python's loop: FlopCounter does not look into while_loop."""
        for step in (x,) * 3 if self.kind == "while_loop" else x.transpose(0, 1):
            self.layer(step)


MODELS = {name: zoo.MODELS[name] for name in KNOWN} | {
    "hf_clip_pairs": clip, "hf_segformer": segformer, "hf_mixtral_grouped": mixtral,
    "time_major_lstm": lambda: (TimeMajor(), (torch.rand(20, 2, 40),))
} | {
    f"loops_{kind}": lambda kind=kind: (Loops(kind), (torch.rand(2, 5, 64),))
    for kind in ("while_loop", "scan", "map")
}
BATCH_AXIS = {"time_major_lstm": 1}  #: 0 elsewhere, of every input


def trained(module):
    """Biases and statistics as no model has them before it is trained: exporters leave out additions of zero."""
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.ndim == 1 and tensor.is_floating_point():
            tensor.data.uniform_(0.5, 1.5)
    return module.eval()


def with_batch(name, inputs, batch):
    axis = BATCH_AXIS.get(name, 0)
    return tuple(
        torch.cat([t.narrow(axis, 0, 1)] * batch, axis) if t.shape[axis] != batch else t for t in inputs)


def open_batch(module, name, inputs):
    dims = tuple({BATCH_AXIS.get(name, 0): torch.export.Dim.DYNAMIC} for _ in inputs)
    takes = inspect.signature(module.forward).parameters.values()
    return (dims,) if any(p.kind is p.VAR_POSITIONAL for p in takes) else dims


def write_pt2(program, path):
    with tempfile.TemporaryDirectory() as folder:
        complete, slim = pathlib.Path(folder) / "model.pt2", pathlib.Path(folder) / "slim.pt2"
        torch.export.save(program, complete)
        exported.strip(complete, slim)
        with zipfile.ZipFile(slim) as packed, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as flat:  # xz packs better
            for name in packed.namelist():
                data = packed.read(name)
                flat.writestr(name, without_stacks(data) if name.endswith("model.json") else data)


def static(name, module, inputs, path):
    write_pt2(torch.export.export(module, inputs), path)


def dynamic(name, module, inputs, path):
    inputs = with_batch(name, inputs, OPEN)
    write_pt2(torch.export.export(module, inputs, dynamic_shapes=open_batch(module, name, inputs)), path)


def core_aten(name, module, inputs, path):
    write_pt2(torch.export.export(module, with_batch(name, inputs, TRACED)).run_decompositions(), path)


def traced(name, module, inputs, path):
    torchscript.write(torchscript.export_module(module, with_batch(name, inputs, TRACED), name=name), str(path))


def onnx_dynamo(name, module, inputs, path):
    onnx.export_onnx(module, with_batch(name, inputs, TRACED), str(path), dynamo=True)


FORMS = {"static.pt2": static, "dynamic.pt2": dynamic, "core_aten.pt2": core_aten, "trace.json": traced,
         "dynamo.onnx": onnx_dynamo}


def counted(name, module, inputs):
    """batch → multiply-accumulates; attention and recurrences as the products that the counter knows."""
    macs = {}
    for batch in COUNTED:
        with FlopCounterMode(display=False) as counter, torch.nn.attention.sdpa_kernel(
                torch.nn.attention.SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False):
            getattr(module, "plain", module)(*with_batch(name, inputs, batch))
        macs[batch] = counter.get_total_flops() // 2
    return macs


def make(name, folder):
    """Files of the model that are missing."""
    about = folder / f"{name}.json"
    made = json.loads(about.read_text()) if about.exists() else {"failed": {}}
    missing = [form for form in FORMS if not (folder / f"{name}.{form}").exists() and form not in made["failed"]]
    if "macs" in made and not missing:
        return made
    torch.manual_seed(0)
    for form in missing:
        module, inputs = MODELS[name]()  # anew: exporters leave traces in modules
        try:
            with torch.no_grad():
                FORMS[form](name, trained(module), inputs, folder / f"{name}.{form}")
        except Exception as error:
            made["failed"][form] = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
    if "macs" not in made:
        module, inputs = MODELS[name]()
        with torch.no_grad():
            made["macs"] = counted(name, module.eval().requires_grad_(False), inputs)
    about.write_text(json.dumps(made))
    return made


def pack(folder):
    """tests/exports/models.tar.xz; forms of one kind in a row, which packs better."""
    about = {name: json.loads((folder / f"{name}.json").read_text()) for name in sorted(MODELS)}
    files = [f"{name}.{form}" for form in FORMS for name in sorted(MODELS) if (folder / f"{name}.{form}").exists()]
    target = HERE / "models.tar.xz"
    target.write_bytes(
        packing.archive([("models.json", json.dumps(about, indent=1).encode()),
                         *((f, (folder / f).read_bytes()) for f in files)]))
    print(f"{target}: {len(files)} files, {target.stat().st_size / 1e6:.2f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="names to make, as a shell pattern; nothing is packed then")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "exports")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        if fnmatch.fnmatch(name, args.only):
            made = make(name, args.folder)
            print(name, made["macs"], made["failed"] or "", flush=True)
    if args.only == "*":
        pack(args.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
