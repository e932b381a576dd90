"""Models of libraries of models, for dispatch_models.py: what nobody had in mind who wrote perfc's rules."""
import functools
import importlib

import torch

IMAGES, VOLUME, WORDS = (2, 3, 224, 224), (1, 1, 64, 64, 64), 512
VIT = {"image_size": 224, "num_classes": 100}
PLAIN = VIT | {"patch_size": 28, "dim": 256, "depth": 3, "heads": 8, "mlp_dim": 512}
STAGES = {"num_classes": 100, "dim": (64, 128, 256, 512), "depth": (1, 1, 2, 1)}
TOKENS = ((7, 4), (3, 2), (3, 2))
SEPARATED = {"num_classes": 100, "heads": (1, 2, 4, 8), "depth": (1, 2, 2, 1)}
MIXED = {"num_classes": 100, "dim_conv_stem": 64, "dim": 64, "dim_head": 32, "depth": (1, 1, 2, 1), "window_size": 7}

#: vit-pytorch (MIT): module, class, options
VIT_PYTORCH = {
    "deepvit": ("DeepViT", PLAIN),
    "cait": ("CaiT", PLAIN | {"cls_depth": 1}),
    "t2t": ("T2TViT", VIT | {"dim": 256, "depth": 2, "heads": 8, "mlp_dim": 512, "t2t_layers": TOKENS}),
    "cvt": ("CvT", {"num_classes": 100}),
    "twins_svt": ("TwinsSVT", {"num_classes": 100, "s3_depth": 2}),
    "regionvit": ("RegionViT", STAGES | {"window_size": 7}),
    "crossformer": ("CrossFormer", STAGES | {"global_window_size": (8, 4, 2, 1), "local_window_size": 7}),
    "sep_vit": ("SepViT", SEPARATED | {"dim": 32, "dim_head": 32}),
    "max_vit": ("MaxViT", MIXED),
    "nest": ("NesT", VIT | {"patch_size": 4, "dim": 96, "heads": 3, "num_hierarchies": 3, "block_repeats": (1, 1, 2)}),
    "rvt": ("RvT", PLAIN),
    "normalized_vit": ("nViT", PLAIN),
    "parallel_vit": ("ViT", PLAIN | {"num_parallel_branches": 2}),
    "vit_with_patch_merger": ("ViT", PLAIN | {"patch_merge_layer": 2, "patch_merge_num_tokens": 8}),
}
#: x-transformers (MIT): options of three layers
X_TRANSFORMERS = {
    "alibi": {"alibi_pos_bias": True},
    "relative": {"rel_pos_bias": True},
    "gated": {"ff_glu": True, "ff_swish": True, "use_rmsnorm": True},
    "grouped": {"attn_kv_heads": 2, "attn_flash": True},
    "residual": {"residual_attn": True, "attn_qk_norm": True},
    "sparse": {"attn_sparse_topk": 8, "attn_num_mem_kv": 16},
    "macaron": {"macaron": True, "shift_tokens": 1},
}
#: segmentation-models-pytorch (MIT): architecture, encoder
SEGMENTATION = {
    "unetplusplus": ("UnetPlusPlus", "resnet34"),
    "manet": ("MAnet", "resnet34"),
    "pan": ("PAN", "resnet34"),
    "deeplabv3plus": ("DeepLabV3Plus", "mobilenet_v2"),
    "upernet": ("UPerNet", "resnet18"),
    "segformer": ("Segformer", "mit_b0"),
}
#: MONAI (Apache-2.0): class, arguments, options
MONAI = {
    "unet": ("UNet", (3, 1, 2, (16, 32, 64, 128), (2, 2, 2)), {"num_res_units": 2}),
    "attention_unet": ("AttentionUnet", (3, 1, 2, (16, 32, 64), (2, 2)), {}),
    "segresnet": ("SegResNet", (3, 8, 1, 2), {}),
    "vnet": ("VNet", (3, 1, 2), {}),
    "dynunet": ("DynUNet", (3, 1, 2, [3, 3, 3], [1, 2, 2], [2, 2]), {}),
    "swinunetr": ("SwinUNETR", (), {"in_channels": 1, "out_channels": 2, "feature_size": 24}),
    "seresnet": ("SEResNet50", (), {"spatial_dims": 3, "in_channels": 1, "num_classes": 2}),
    "mednext": ("MedNeXt", (), {"spatial_dims": 3, "in_channels": 1, "out_channels": 2, "init_filters": 16}),
}
#: open_clip (MIT)
OPEN_CLIP = ("RN50", "ViT-B-32", "ViTamin-S")


def _vit(module, name, options):
    return getattr(importlib.import_module(f"vit_pytorch.{module}"), name)(**options), (torch.rand(IMAGES), )


def _x_transformer(options):
    library = importlib.import_module("x_transformers")
    layers = library.Decoder(dim=256, depth=3, heads=8, **options)
    return library.TransformerWrapper(num_tokens=20000, max_seq_len=WORDS, attn_layers=layers), (torch.randint(
        0, 20000, (2, WORDS)), )


def _segmentation(architecture, encoder):
    library = importlib.import_module("segmentation_models_pytorch")
    return getattr(library, architecture)(encoder, encoder_weights=None, classes=5), (torch.rand(2, 3, 256, 256), )


def _monai(name, arguments, options):
    return getattr(importlib.import_module("monai.networks.nets"), name)(*arguments, **options), (torch.rand(VOLUME), )


def _open_clip(name):
    module = importlib.import_module("open_clip").create_model(name, pretrained=None)
    side = module.visual.image_size
    side = side if isinstance(side, int) else side[0]
    return module, (torch.rand(2, 3, side, side), torch.randint(0, 1000, (2, module.context_length)))


LIBRARIES = {
    **{f"lib_vit_{k}": functools.partial(_vit, k, *v) for k, v in VIT_PYTORCH.items()},
    **{f"lib_x_{k}": functools.partial(_x_transformer, v) for k, v in X_TRANSFORMERS.items()},
    **{f"lib_smp_{k}": functools.partial(_segmentation, *v) for k, v in SEGMENTATION.items()},
    **{f"lib_monai_{k}": functools.partial(_monai, *v) for k, v in MONAI.items()},
    **{f"lib_clip_{k.lower().replace('-', '_')}": functools.partial(_open_clip, k) for k in OPEN_CLIP},
}
