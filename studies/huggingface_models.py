"""Writes the graphs that studies/huggingface.py judges, with the transformers of those runs.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install torch==2.13.0 transformers==4.41.2 timm scipy pillow
    PYTHONPATH=python /tmp/venv/bin/python studies/huggingface_models.py --out build/huggingface

One file per model and batch: BERT and GPT as TorchScript (docs/torch.md), the others, which cannot be traced on the
meta device, as .pt2. No weights are downloaded.
"""
import argparse
import csv
import pathlib

import torch

for _name in ("nms", "qnms"):  # a CPU build of torch cannot load torchvision's
    torch.library.define(f"torchvision::{_name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import transformers
from transformers import AutoConfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Language models of NeuSight (its scripts/asplos/data/DLmodel_configs): class, configuration, tokens
GPT = {"activation_function": "gelu_new", "vocab_size": 50257, "layer_norm_epsilon": 1e-5}
LANGUAGE = {
    "bert_large": ("BertForSequenceClassification", "bert", 512, {
        "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
        "vocab_size": 30522, "layer_norm_eps": 1e-12}),
    "gpt2_large": ("GPT2LMHeadModel", "gpt2", 1024, GPT | {
        "n_embd": 1280, "n_head": 20, "n_layer": 36, "n_positions": 1024}),
    "gpt3_xl": ("GPT2LMHeadModel", "gpt2", 2048, GPT | {
        "n_embd": 3072, "n_head": 24, "n_layer": 24, "n_positions": 2048}),
    "gpt3_27": ("GPT2LMHeadModel", "gpt2", 2048, GPT | {
        "n_embd": 2560, "n_head": 32, "n_layer": 32, "n_positions": 2048}),
    "opt_13": ("OPTForCausalLM", "opt", 2048, {
        "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32, "ffn_dim": 8192,
        "vocab_size": 50272, "word_embed_proj_dim": 2048, "max_position_embeddings": 2048,
        "do_layer_norm_before": True, "activation_function": "relu", "dropout": 0.1}),
}
#: Of TorchInductor's dashboards, in training: class, tokens; their configurations are the classes' own
TRAINING = {
    "albert_mlm": ("AlbertForMaskedLM", 512), "megatron_bert_qa": ("MegatronBertForQuestionAnswering", 512),
    "bert_qa": ("BertForQuestionAnswering", 128), "roberta_qa": ("RobertaForQuestionAnswering", 128),
    "layoutlm_mlm": ("LayoutLMForMaskedLM", 512),
    # of Lambda's
    "bert_base_squad": ("BertForQuestionAnswering", 384),
    "bert_large_squad": ("BertForQuestionAnswering", 384)
}
BERT_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
RESNET = {"layer_type": "bottleneck", "hidden_sizes": [256, 512, 1024, 2048]}
R50 = RESNET | {"depths": [3, 4, 6, 3]}
R101 = RESNET | {"depths": [3, 4, 23, 3]}
SWIN_B = {"embed_dim": 128, "depths": [2, 2, 18, 2], "num_heads": [4, 8, 16, 32], "window_size": 12, "image_size": 384}
SWIN_T = {"embed_dim": 96, "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24], "window_size": 7}
STAGES = {"out_features": ["stage1", "stage2", "stage3", "stage4"]}
COCO = (800, 1066)  # an image of 480 × 640, its shorter side made 800, as these models' processors do


def detr(backbone, cls, config):
    """DETR with transformers' own ResNet instead of timm's: the same convolutions."""
    resnet = transformers.ResNetConfig(**backbone, out_features=["stage2", "stage3", "stage4"])
    return cls, config(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=resnet)


def vision(name):
    """A model's class, its configuration and the shape of an image."""
    t = transformers
    if name == "vit_base":
        return t.ViTForImageClassification, t.ViTConfig(), (224, 224)
    if name == "beit_base":
        return t.BeitForImageClassification, t.BeitConfig(
            use_relative_position_bias=True, use_mean_pooling=True, num_labels=21841), (224, 224)
    if name == "convnext_large":
        return t.ConvNextForImageClassification, t.ConvNextConfig(
            hidden_sizes=[192, 384, 768, 1536], depths=[3, 3, 27, 3], num_labels=1000), (224, 224)
    if name == "resnet50":
        return t.ResNetForImageClassification, t.ResNetConfig(**R50, num_labels=1000), (224, 224)
    if name == "segformer_b0":
        return t.SegformerForSemanticSegmentation, t.SegformerConfig(num_labels=150), (512, 512)
    if name == "deeplab_mobilenet_v2":
        return t.MobileNetV2ForSemanticSegmentation, t.MobileNetV2Config(
            num_labels=21, image_size=513, output_stride=8), (513, 513)
    if name == "maskformer_swin_base":
        backbone = t.SwinConfig(**SWIN_B, **STAGES)
        return t.MaskFormerForInstanceSegmentation, t.MaskFormerConfig(
            backbone_config=backbone, decoder_config=t.DetrConfig(num_queries=100)), (640, 864)
    if name == "mask2former_swin_tiny":
        return t.Mask2FormerForUniversalSegmentation, t.Mask2FormerConfig(
            backbone_config=t.SwinConfig(**SWIN_T, **STAGES)), (384, 384)
    if name == "detr_resnet50":
        return *detr(R50, t.DetrForObjectDetection, t.DetrConfig), COCO
    if name == "detr_resnet101":
        return *detr(R101, t.DetrForObjectDetection, t.DetrConfig), COCO
    if name == "conditional_detr_resnet50":
        return *detr(R50, t.ConditionalDetrForObjectDetection, t.ConditionalDetrConfig), COCO
    raise KeyError(name)


class Loss(torch.nn.Module):
    """The loss of a model."""

    def __init__(self, model, answers):
        super().__init__()
        self.model, self.answers = model, answers

    def forward(self, ids, labels):
        if self.answers:
            return self.model(ids, start_positions=labels[:, 0], end_positions=labels[:, 1])[0]
        return self.model(ids, labels=labels)[0]


def training_step(name, batch):
    """The program of a model in training, dropout on, and its loss."""
    from perfc.export import torchscript
    torch.set_default_device("meta")
    cls, tokens = TRAINING[name]
    cls = getattr(transformers, cls)
    config = cls.config_class(**(BERT_LARGE if name == "bert_large_squad" else {}), torchscript=True)
    config.pad_token_id = 0
    model = Loss(cls._from_config(config, attn_implementation="eager"), name.endswith(("qa", "squad"))).train()
    ids = torch.ones(batch, tokens, dtype=torch.int64)
    return torchscript.program(torch.jit.trace(model, (ids, ids.clone()), strict=False, check_trace=False), name)


def made(name, batch):
    """A model and its inputs, on the meta device; vision models read their own numbers while they are made."""
    if name in LANGUAGE:
        torch.set_default_device("meta")
        cls, kind, tokens, options = LANGUAGE[name]
        config = AutoConfig.for_model(kind, **options, torchscript=True, attn_implementation="eager")
        config.use_cache = True
        model = getattr(transformers, cls)._from_config(config, attn_implementation="eager")
        return model, (torch.ones(batch, tokens, dtype=torch.int64),)
    cls, config, (height, width) = vision(name)
    config.torchscript = True
    torch.set_default_device("cpu")
    model = cls(config).to("meta")
    torch.set_default_device("meta")
    return model, (torch.zeros(batch, 3, height, width),)


def main():
    from perfc.export import exported, torchscript
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="names that begin so")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with open(ROOT / "studies/huggingface.tsv", newline="") as f:
        wanted = sorted({(r["model"], int(r["batch"])) for r in csv.DictReader(f, delimiter="\t")})
    for name, batch in wanted:
        traced = name in TRAINING or name.startswith(("bert", "gpt"))
        file = args.out / f"{name}-{batch}.{'json' if traced else 'pt2'}"
        if file.exists() or not name.startswith(args.only):
            continue
        if name in TRAINING:
            torchscript.write(training_step(name, batch), str(file))
            print(file.name, flush=True)
            continue
        model, inputs = made(name, batch)
        if traced:
            torchscript.write(torchscript.export_module(model.eval(), inputs, name=name), str(file))
        else:
            exported.export_archive(model, inputs, str(file))
        print(file.name, flush=True)


if __name__ == "__main__":
    main()
