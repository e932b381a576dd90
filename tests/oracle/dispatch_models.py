"""240 whole models with random weights, for dispatch.py: built from configurations, nothing is downloaded.

MODELS: name → function that gives (module, example inputs). timm and torchvision at their own image sizes,
batch 2; transformers with two layers and narrow ones, batch 2, since what counts is which calls are made.
Modules return tuples of tensors.
"""
import functools
import inspect

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils import _pytree as pytree

from dispatch_libraries import LIBRARIES

try:
    import torchvision  # noqa: F401
except RuntimeError:  # its compiled operators do not load with this torch, so that nothing declares them
    for _op in ("nms", "qnms"):
        torch.library.define(f"torchvision::{_op}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

MODELS = dict(LIBRARIES)


def build(name):
    torch.manual_seed(0)
    module, inputs = MODELS[name]()
    return module.eval(), inputs


def model(function):
    MODELS[function.__name__] = function
    return function


def floats(*shape):
    return torch.rand(shape)


def ints(high, *shape):
    return torch.randint(0, high, shape)


class Tensors(nn.Module):
    """Calls a model with named arguments; gives the tensors among its outputs."""

    def __init__(self, inner, names=None, method=None, **fixed):
        super().__init__()
        self.inner, self.names, self.method, self.fixed = inner, names, method, fixed

    def forward(self, *args):
        call = getattr(self.inner, self.method) if self.method else self.inner
        out = call(**dict(zip(self.names, args)), **self.fixed) if self.names else call(*args, **self.fixed)
        if hasattr(out, "to_tuple"):
            out = out.to_tuple()
        return tuple(t for t in pytree.tree_leaves(out) if isinstance(t, torch.Tensor))


# ---------------------------------------------------------------------------------------------------- timm

TIMM = """
    resnet18 resnet26d resnext26ts seresnet18 ecaresnet26t resnest14d res2net50_14w_8s skresnet18 cspresnet50
    cspdarknet53
    densenet121 dla34 dpn48b vgg11_bn inception_v3 inception_v4 xception41 hrnet_w18_small nfnet_l0 dm_nfnet_f0
    resnetv2_50x1_bit regnetx_002 regnety_002 repvgg_a0 mobileone_s0 gernet_s selecsls42b vovnet39a ghostnet_100
    tinynet_e
    mobilenetv2_050 mobilenetv3_small_050 mobilenetv4_conv_small efficientnet_b0 tf_efficientnetv2_b0 mixnet_s
    fbnetc_100 lcnet_050 mnasnet_small
    convnext_atto convnextv2_atto convmixer_768_32 edgenext_xx_small mobilevit_xxs mobilevitv2_050 fastvit_t8
    repvit_m0_9 starnet_s1 rdnet_tiny
    vit_tiny_patch16_224 deit_tiny_patch16_224 deit3_small_patch16_224 beit_base_patch16_224 eva02_tiny_patch14_224
    cait_xxs24_224 xcit_nano_12_p16_224
    swin_tiny_patch4_window7_224 swinv2_tiny_window8_256 twins_svt_small pvt_v2_b0 poolformer_s12 caformer_s18
    mixer_s16_224 resmlp_12_224 gmlp_ti16_224
    levit_128s efficientformer_l1 maxvit_rmlp_pico_rw_256 coatnet_nano_rw_224 crossvit_tiny_240 volo_d1_224 davit_tiny
    hiera_tiny_224 visformer_tiny
    hgnet_tiny focalnet_tiny_srf tiny_vit_5m_224 vit_relpos_small_patch16_224 sequencer2d_s
""".split()


def _timm(name):
    import timm
    module = timm.create_model(name, pretrained=False)
    size = module.default_cfg["input_size"]
    return module, (floats(2, *size),)


for _name in TIMM:
    MODELS[f"timm_{_name}"] = functools.partial(_timm, _name)

# --------------------------------------------------------------------------------------------- torchvision

TORCHVISION = """resnet50 alexnet vgg16 googlenet squeezenet1_1 shufflenet_v2_x0_5 mobilenet_v3_large mnasnet0_5
efficientnet_b0
    densenet121 regnet_x_400mf convnext_tiny vit_b_16 swin_t swin_v2_t maxvit_t""".split()


def _torchvision():
    import torchvision
    return torchvision.models


def _classifier(name):
    return _torchvision().get_model(name, weights=None), (floats(2, 3, 224, 224),)


def _of_torchvision(part, name, shape, **options):
    models = _torchvision()
    import torchvision.models.detection  # noqa: F401
    import torchvision.models.optical_flow  # noqa: F401
    import torchvision.models.segmentation  # noqa: F401
    import torchvision.models.video  # noqa: F401
    return Tensors(getattr(getattr(models, part), name)(weights=None, **options)), (floats(*shape),)


for _name in TORCHVISION:
    MODELS[f"tv_{_name}"] = functools.partial(_classifier, _name)
for _name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
    MODELS[f"tv_{_name}"] = functools.partial(_of_torchvision, "segmentation", _name, (2, 3, 224, 224),
                                              weights_backbone=None)
MODELS["tv_r3d_18"] = functools.partial(_of_torchvision, "video", "r3d_18", (1, 3, 8, 64, 64))
MODELS["tv_mvit_v2_s"] = functools.partial(_of_torchvision, "video", "mvit_v2_s", (1, 3, 16, 224, 224))
MODELS["tv_swin3d_t"] = functools.partial(_of_torchvision, "video", "swin3d_t", (1, 3, 8, 64, 64))


class DetectorHeads(nn.Module):
    """What of a detector runs before boxes are selected: backbone, pyramid, heads."""

    def __init__(self, detector):
        super().__init__()
        self.backbone = detector.backbone
        self.head = detector.rpn.head if hasattr(detector, "rpn") else detector.head

    def forward(self, x):
        return tuple(pytree.tree_leaves(self.head(list(self.backbone(x).values()))))


def _detector(name, size):
    models = _torchvision()
    import torchvision.models.detection
    return DetectorHeads(getattr(models.detection, name)(weights=None, weights_backbone=None)), (floats(
        1, 3, size, size),)


for _name, _size in (("retinanet_resnet50_fpn", 256), ("fcos_resnet50_fpn", 256),
                     ("ssdlite320_mobilenet_v3_large", 320), ("fasterrcnn_resnet50_fpn_v2", 256)):
    MODELS[f"tv_{_name}"] = functools.partial(_detector, _name, _size)


@model
def tv_raft_small():
    models = _torchvision()
    import torchvision.models.optical_flow
    return Tensors(models.optical_flow.raft_small(weights=None), num_flow_updates=2), (floats(
        1, 3, 128, 128), floats(1, 3, 128, 128))


# -------------------------------------------------------------------------------------------- transformers

#: What configurations call their depth, width, … and what they are set to, where they have it.
SMALL = {
    "num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "num_decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_attention_heads": 4,
    "num_heads": 4, "n_head": 4, "n_heads": 4, "hidden_size": 64, "d_model": 64, "n_embd": 64, "dim": 64,
    "intermediate_size": 128, "d_ff": 128, "hidden_dim": 128, "ffn_dim": 128, "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128, "d_kv": 16, "vocab_size": 512, "head_dim": 16, "max_position_embeddings": 128,
    "embedding_size": 64, "attention_head_size": 16, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "n_positions": 128, "word_embed_proj_dim": 64, "n_inner": 128
}
TOKENS = 32
GATED = {"num_key_value_heads": 2}
MOE = {
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 64, "shared_expert_intermediate_size": 64, "experts_implementation": "batched_mm"
}  # that of "eager" depends on the data, and "grouped_mm" asks which GPU there is


def configured(name, **options):
    import transformers
    kind = getattr(transformers, name)
    known = set(inspect.signature(kind.__init__).parameters) | set(getattr(kind, "attribute_map", {})) | set(
        getattr(kind, "__annotations__", {}))
    for base in kind.__mro__:
        known |= set(vars(base).get("__annotations__", {}))
    small = {k: v for k, v in SMALL.items() if k in known and k not in getattr(kind, "attribute_map", {})}
    return kind(**{**small, **options})


def _transformer(class_name, config, options, inputs, **fixed):
    import transformers
    options = {
        k: (configured(*v) if isinstance(v, tuple) and v and isinstance(v[0], str) and v[0].endswith("Config") else v)
        for k, v in options.items()
    }
    module = getattr(transformers, class_name)(configured(config, **options))
    if "use_cache" in inspect.signature(module.forward).parameters:
        fixed = {"use_cache": False, **fixed}
    made = {k: v() for k, v in inputs.items()}
    return Tensors(module, list(made), **fixed), tuple(made.values())


IDS = {"input_ids": lambda: ints(500, 2, TOKENS)}
MASKED = {**IDS, "attention_mask": lambda: torch.ones(2, TOKENS, dtype=torch.int64)}
SEQ2SEQ = {**IDS, "decoder_input_ids": lambda: ints(500, 2, 16)}
PIXELS = {"pixel_values": lambda: floats(1, 3, 64, 64)}
WAVE = {"input_values": lambda: floats(1, 4000)}
CONV_STEM = {
    "conv_dim": (32, 32, 32), "conv_stride": (5, 4, 4), "conv_kernel": (10, 8, 4), "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4
}
IMAGE = {"image_size": 64, "patch_size": 16}

TRANSFORMERS = {
    # encoders
    "bert": ("BertModel", "BertConfig", {}, IDS),
    "bert_masked": ("BertForMaskedLM", "BertConfig", {}, MASKED),
    "distilbert": ("DistilBertModel", "DistilBertConfig", {}, IDS),
    "roberta": ("RobertaForSequenceClassification", "RobertaConfig", {}, IDS),
    "albert": ("AlbertModel", "AlbertConfig", {}, IDS),
    "electra": ("ElectraModel", "ElectraConfig", {}, IDS),
    "deberta_v2": ("DebertaV2Model", "DebertaV2Config", {"relative_attention": True, "pos_att_type": ["p2c",
                                                                                                      "c2p"]}, IDS),
    "mpnet": ("MPNetModel", "MPNetConfig", {}, IDS),
    "modernbert": ("ModernBertModel", "ModernBertConfig", {}, IDS),
    "fnet": ("FNetModel", "FNetConfig", {}, IDS),
    "convbert": ("ConvBertModel", "ConvBertConfig", {}, IDS),
    "squeezebert": ("SqueezeBertModel", "SqueezeBertConfig", {"embedding_size": 64}, IDS),
    "funnel": ("FunnelModel", "FunnelConfig", {"block_sizes": [1, 1], "num_decoder_layers": 1}, IDS),
    "esm": ("EsmModel", "EsmConfig", {"position_embedding_type": "rotary"}, IDS),
    # decoders
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"pad_token_id": None}, IDS),  # with one it would look for padding
    "gpt_neo": ("GPTNeoModel", "GPTNeoConfig", {"attention_types": [[["global", "local"], 1]]}, IDS),
    "gpt_neox": ("GPTNeoXModel", "GPTNeoXConfig", {}, IDS),
    "gptj": ("GPTJModel", "GPTJConfig", {"rotary_dim": 8}, IDS),
    "opt": ("OPTModel", "OPTConfig", {}, IDS),
    "bloom": ("BloomModel", "BloomConfig", {}, IDS),
    "falcon": ("FalconModel", "FalconConfig", {"new_decoder_architecture": False, "multi_query": True}, IDS),
    "llama": ("LlamaForCausalLM", "LlamaConfig", GATED, IDS),
    "llama_masked": ("LlamaModel", "LlamaConfig", GATED, MASKED),
    "mistral": ("MistralModel", "MistralConfig", GATED, IDS),
    "qwen2": ("Qwen2Model", "Qwen2Config", GATED, IDS),
    "qwen3": ("Qwen3Model", "Qwen3Config", GATED, IDS),
    "gemma": ("GemmaModel", "GemmaConfig", {"num_key_value_heads": 1}, IDS),
    "gemma2": ("Gemma2Model", "Gemma2Config", GATED, IDS),
    "gemma3": ("Gemma3TextModel", "Gemma3TextConfig", GATED, IDS),
    "phi": ("PhiModel", "PhiConfig", {}, IDS),
    "phi3": ("Phi3Model", "Phi3Config", {**GATED}, IDS),
    "olmo2": ("Olmo2Model", "Olmo2Config", GATED, IDS),
    "granite": ("GraniteModel", "GraniteConfig", GATED, IDS),
    "cohere": ("CohereModel", "CohereConfig", GATED, IDS),
    "stablelm": ("StableLmModel", "StableLmConfig", GATED, IDS),
    "starcoder2": ("Starcoder2Model", "Starcoder2Config", GATED, IDS),
    "smollm3": ("SmolLM3Model", "SmolLM3Config", GATED, IDS),
    "glm4": ("Glm4Model", "Glm4Config", GATED, IDS),
    "mpt": ("MptModel", "MptConfig", {}, IDS),
    "codegen": ("CodeGenModel", "CodeGenConfig", {"rotary_dim": 8}, IDS),
    # mixtures of experts
    "mixtral": ("MixtralModel", "MixtralConfig", {**GATED, **MOE}, IDS),
    "qwen2_moe": ("Qwen2MoeModel", "Qwen2MoeConfig", {**GATED, **MOE}, IDS),
    "olmoe": ("OlmoeModel", "OlmoeConfig", {**GATED, **MOE}, IDS),
    # state spaces
    "mamba": ("MambaModel", "MambaConfig", {"state_size": 8}, IDS),
    "mamba2": ("Mamba2Model", "Mamba2Config", {
        "state_size": 8, "num_heads": 8, "head_dim": 16, "n_groups": 1, "chunk_size": 16
    }, IDS),
    "rwkv": ("RwkvModel", "RwkvConfig", {"attention_hidden_size": 64}, IDS),
    # encoder and decoder
    "t5": ("T5Model", "T5Config", {}, SEQ2SEQ),
    "bart": ("BartModel", "BartConfig", {}, SEQ2SEQ),
    "marian": ("MarianModel", "MarianConfig", {"decoder_start_token_id": 0}, SEQ2SEQ),
    "pegasus": ("PegasusModel", "PegasusConfig", {}, SEQ2SEQ),
    "mt5_gated": ("MT5Model", "MT5Config", {}, SEQ2SEQ),
    "prophetnet": ("ProphetNetModel", "ProphetNetConfig", {
        "num_encoder_layers": 2, "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4
    }, SEQ2SEQ),
    # vision
    "vit": ("ViTModel", "ViTConfig", IMAGE, PIXELS),
    "beit": ("BeitModel", "BeitConfig", {**IMAGE, "use_relative_position_bias": True}, PIXELS),
    "dinov2": ("Dinov2Model", "Dinov2Config", IMAGE, PIXELS),
    "swin": ("SwinModel", "SwinConfig", {
        "image_size": 64, "patch_size": 4, "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4
    }, PIXELS),
    "convnext": ("ConvNextModel", "ConvNextConfig", {"hidden_sizes": [16, 32], "depths": [1, 1],
                                                     "num_stages": 2}, PIXELS),
    "segformer": ("SegformerForSemanticSegmentation", "SegformerConfig", {
        "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 4, 8]
    }, PIXELS),
    "dpt": ("DPTForDepthEstimation", "DPTConfig", {
        **IMAGE, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [16, 32, 48, 64],
        "fusion_hidden_size": 32
    }, PIXELS),
    "clip": ("CLIPModel", "CLIPConfig", {
        "text_config": {
            "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
            "vocab_size": 512, "max_position_embeddings": 64
        }, "vision_config": {
            "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, **IMAGE
        }
    }, {**IDS, **PIXELS}),
    "siglip_vision": ("SiglipVisionModel", "SiglipVisionConfig", IMAGE, PIXELS),
    "yolos": ("YolosModel", "YolosConfig", {"image_size": [64, 64], "patch_size": 16,
                                            "num_detection_tokens": 10}, PIXELS),
    "detr": ("DetrForObjectDetection", "DetrConfig", {
        "use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None, "num_queries": 10,
        "backbone_config": ("ResNetConfig",)
    }, {"pixel_values": lambda: floats(1, 3, 64, 64)}),
    "owlvit_vision": ("OwlViTVisionModel", "OwlViTVisionConfig", IMAGE, PIXELS),
    "videomae": ("VideoMAEModel", "VideoMAEConfig", {**IMAGE, "num_frames": 4}, {
        "pixel_values": lambda: floats(1, 4, 3, 64, 64)
    }),
    # speech
    "wav2vec2": ("Wav2Vec2Model", "Wav2Vec2Config", {**CONV_STEM, "hidden_size": 64}, WAVE),
    "hubert": ("HubertModel", "HubertConfig", {**CONV_STEM, "hidden_size": 64}, WAVE),
    "wavlm": ("WavLMModel", "WavLMConfig", {**CONV_STEM, "hidden_size": 64}, WAVE),
    "whisper": ("WhisperModel", "WhisperConfig", {
        "max_source_positions": 50, "max_target_positions": 64, "decoder_start_token_id": 1
    }, {"input_features": lambda: floats(1, 80, 100), "decoder_input_ids": lambda: ints(500, 1, 16)}),
    "sew": ("SEWModel", "SEWConfig", {**CONV_STEM, "hidden_size": 64}, WAVE),
    "conformer": ("Wav2Vec2ConformerModel", "Wav2Vec2ConformerConfig",
                  {**CONV_STEM, "hidden_size": 64, "position_embeddings_type": "rotary"}, WAVE),
    "patchtst": ("PatchTSTModel", "PatchTSTConfig", {
        "num_input_channels": 3, "context_length": 32, "patch_length": 8, "patch_stride": 8
    }, {"past_values": lambda: floats(2, 32, 3)}),
}
for _name, _row in TRANSFORMERS.items():
    MODELS[f"hf_{_name}"] = functools.partial(_transformer, *_row)


class Step(nn.Module):
    """One token with a cache of keys and values."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, token, *cached):
        import transformers
        cache = transformers.DynamicCache(zip(cached[0::2], cached[1::2]))
        out = self.inner(input_ids=token, past_key_values=cache, use_cache=True)
        return (out[0],) + tuple(t for layer in out.past_key_values.layers for t in (layer.keys, layer.values))


def _step(class_name, config, heads, **options):
    import transformers
    module = getattr(transformers, class_name)(configured(config, **options))
    return Step(module), (ints(500, 2, 1), *(floats(2, heads, TOKENS, 16) for _ in range(4)))


MODELS["hf_gpt2_cached"] = functools.partial(_step, "GPT2LMHeadModel", "GPT2Config", 4, pad_token_id=None)
MODELS["hf_llama_cached"] = functools.partial(_step, "LlamaForCausalLM", "LlamaConfig", 2, **GATED)
MODELS["hf_qwen3_cached"] = functools.partial(_step, "Qwen3Model", "Qwen3Config", 2, **GATED)

# ------------------------------------------------------------------------------------------------ diffusion


def _diffusers(name, options, *inputs):
    import diffusers
    module = getattr(diffusers, name)(**options)
    return Tensors(module, return_dict=False), tuple(make() for make in inputs)


MODELS["sd_unet_condition"] = functools.partial(
    _diffusers, "UNet2DConditionModel", {
        "sample_size": 16, "block_out_channels": (32, 64), "layers_per_block": 1, "cross_attention_dim": 64,
        "attention_head_dim": 8, "norm_num_groups": 8, "down_block_types":
            ("CrossAttnDownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")
    }, lambda: floats(2, 4, 16, 16), lambda: torch.tensor([3.0, 5.0]), lambda: floats(2, 16, 64))
MODELS["sd_vae_decoder"] = functools.partial(
    _diffusers, "AutoencoderKL", {
        "block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8, "down_block_types":
            ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2
    }, lambda: floats(1, 3, 32, 32))


class ResidualBlock(nn.Module):
    def __init__(self, cin, cout, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.time = nn.Linear(time, cout)
        self.norm2, self.conv2 = nn.GroupNorm(8, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(t))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class PlainUNet(nn.Module):
    """DDPM's network: residual blocks with time, self-attention at the lowest level, skips by concatenation."""

    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([ResidualBlock(width, width, 4 * width), ResidualBlock(width, 2 * width, 4 * width)])
        self.shrink = nn.Conv2d(width, width, 3, 2, 1)
        self.norm, self.qkv, self.out = nn.GroupNorm(8, 2 * width), nn.Conv1d(2 * width, 6 * width, 1), nn.Conv1d(
            2 * width, 2 * width, 1)
        self.up = nn.ModuleList(
            [ResidualBlock(2 * width, width, 4 * width),
             ResidualBlock(2 * width, width, 4 * width)])
        self.last = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))

    def attend(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x).view(b, c, h * w)).chunk(3, 1)
        weights = torch.einsum("bct,bcs->bts", q * c ** -0.5, k).softmax(-1)
        return x + self.out(torch.einsum("bts,bcs->bct", weights, v)).view(b, c, h, w)

    def forward(self, x, t):
        rates = torch.exp(-torch.arange(self.width // 2, device=x.device) * 0.5)
        angles = t[:, None] * rates[None]
        t = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        a = self.down[0](self.first(x), t)
        b = self.attend(self.down[1](self.shrink(a), t))
        b = F.interpolate(self.up[0](b, t), scale_factor=2.0, mode="nearest")
        return self.last(self.up[1](torch.cat([a, b], 1), t))


@model
def plain_unet():
    return PlainUNet(), (floats(2, 3, 32, 32), torch.tensor([3.0, 5.0]))


# --------------------------------------------------------------------------------------------------- graphs


class GraphConvolution(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        degree = torch.zeros(x.shape[0], device=x.device).index_add(0, target, torch.ones_like(
            target, dtype=x.dtype)).clamp(min=1)
        norm = degree[source].rsqrt() * degree[target].rsqrt()
        x = self.lin(x)
        return torch.zeros_like(x).index_add(0, target, x[source] * norm[:, None])


class GraphAttention(nn.Module):
    def __init__(self, cin, cout, heads=4):
        super().__init__()
        self.lin, self.heads = nn.Linear(cin, heads * cout, bias=False), heads
        self.a, self.b = nn.Parameter(torch.rand(heads, cout)), nn.Parameter(torch.rand(heads, cout))

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        x = self.lin(x).view(x.shape[0], self.heads, -1)
        e = F.leaky_relu((x * self.a).sum(-1)[source] + (x * self.b).sum(-1)[target], 0.2)
        index = target[:, None].expand_as(e)
        top = torch.full((x.shape[0], self.heads), -1e9, device=x.device).scatter_reduce(0, index, e, "amax")
        e = (e - top[target]).exp()
        total = torch.zeros_like(top).scatter_add(0, index, e)
        weight = e / (total[target] + 1e-16)
        return torch.zeros_like(x).index_add(0, target, x[source] * weight[..., None]).flatten(1)


class GraphIsomorphism(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(cin, cout), nn.BatchNorm1d(cout), nn.ReLU(), nn.Linear(cout, cout))
        self.eps = nn.Parameter(torch.zeros(()))

    def forward(self, x, edges):
        near = torch.zeros_like(x).scatter_add(0, edges[1][:, None].expand(-1, x.shape[1]), x[edges[0]])
        return self.mlp((1 + self.eps) * x + near)


class GraphSage(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.own, self.near = nn.Linear(cin, cout), nn.Linear(cin, cout, bias=False)

    def forward(self, x, edges):
        index = edges[1][:, None].expand(-1, x.shape[1])
        mean = torch.zeros_like(x).scatter_reduce(0, index, x[edges[0]], "mean", include_self=False)
        return F.normalize(self.own(x) + self.near(mean), dim=-1)


class Graph(nn.Module):
    def __init__(self, layer, width, heads=1):
        super().__init__()
        self.layers = nn.ModuleList([layer(16, width), layer(heads * width, width)])
        self.last = nn.Linear(heads * width, 5)

    def forward(self, x, edges):
        for layer in self.layers:
            x = F.relu(layer(x, edges))
        return self.last(x.mean(0, keepdim=True)).log_softmax(-1)


for _name, _layer, _heads in (("gcn", GraphConvolution, 1), ("gat", GraphAttention, 4), ("gin", GraphIsomorphism, 1),
                              ("sage", GraphSage, 1)):
    MODELS[f"graph_{_name}"] = functools.partial(
        lambda layer, heads: (Graph(layer, 32, heads), (floats(40, 16), ints(40, 2, 100))), _layer, _heads)

# ------------------------------------------------------------------------------------------------ recurrent


class Recurrent(nn.Module):
    def __init__(self, cell, vocabulary=200, width=32, **options):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.cell = cell(width, width, 2, batch_first=True, **options)
        self.last = nn.Linear(width * (2 if options.get("bidirectional") else 1), vocabulary)

    def forward(self, tokens):
        return self.last(self.cell(self.embed(tokens))[0])


for _name, _cell, _options in (("lstm", nn.LSTM, {}), ("bilstm", nn.LSTM, {"bidirectional": True}), ("gru", nn.GRU, {}),
                               ("rnn", nn.RNN, {})):
    MODELS[f"recurrent_{_name}"] = functools.partial(
        lambda cell, options: (Recurrent(cell, **options), (ints(200, 2, 12),)), _cell, _options)


@model
def recurrent_deepspeech():
    """Convolutions over a spectrogram, bidirectional GRU, letters per frame."""
    class Speech(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Sequential(nn.Conv2d(1, 8, (11, 5), (2, 2), (5, 2)), nn.BatchNorm2d(8), nn.Hardtanh(0, 20),
                                      nn.Conv2d(8, 8, (11, 5), (1, 2), (5, 2)), nn.BatchNorm2d(8), nn.Hardtanh(0, 20))
            self.gru = nn.GRU(8 * 10, 32, bidirectional=True)
            self.last = nn.Linear(64, 29, bias=False)

        def forward(self, x):
            x = self.conv(x).flatten(1, 2).permute(2, 0, 1)
            return self.last(self.gru(x)[0]).log_softmax(-1)
    return Speech(), (floats(2, 1, 20, 64),)


@model
def recurrent_cells():
    """A decoder written with cells, its steps unrolled."""
    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.cell, self.last = nn.Embedding(50, 16), nn.LSTMCell(32, 32), nn.Linear(32, 50)
            self.start = nn.Parameter(torch.rand(1, 32))

        def forward(self, tokens, context):
            h = c = self.start.expand(tokens.shape[0], -1)
            scores = []
            for t in range(tokens.shape[1]):
                h, c = self.cell(torch.cat([self.embed(tokens[:, t]), context], 1), (h, c))
                scores.append(self.last(h))
            return torch.stack(scores, 1)
    return Decoder(), (ints(50, 2, 4), floats(2, 16))


# ------------------------------------------------------------------------------------------ torch.nn, others


@model
def nn_transformer():
    module = nn.Transformer(32, 4, 2, 2, 64, batch_first=True)
    return module, (floats(2, 10, 32), floats(2, 8, 32))


@model
def nn_transformer_encoder():
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 64, activation="gelu", norm_first=True, batch_first=True), 2), (floats(
            2, 10, 32),)


@model
def dlrm():
    """Recommendation: bags of embeddings, pairwise products, perceptrons."""
    class Recommender(nn.Module):
        def __init__(self):
            super().__init__()
            self.dense = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
            self.tables = nn.ModuleList([nn.EmbeddingBag(100, 16, mode="sum") for _ in range(4)])
            self.top = nn.Sequential(nn.Linear(16 + 10, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
            pairs = torch.tril_indices(5, 5, -1)
            self.register_buffer("row", pairs[0])
            self.register_buffer("column", pairs[1])

        def forward(self, dense, sparse):
            x = self.dense(dense)
            all_of = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
            products = torch.bmm(all_of, all_of.transpose(1, 2))[:, self.row, self.column]
            return self.top(torch.cat([x, products], 1))
    return Recommender(), (floats(2, 13), ints(100, 2, 4, 3))


@model
def wavenet():
    class WaveNet(nn.Module):
        def __init__(self, width=16):
            super().__init__()
            self.first = nn.Conv1d(1, width, 1)
            self.gates = nn.ModuleList([nn.Conv1d(width, 2 * width, 2, dilation=2 ** i) for i in range(4)])
            self.mix = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(4)])
            self.last = nn.Conv1d(width, 256, 1)

        def forward(self, x):
            x = self.first(x)
            skips = 0
            for i, (gate, mix) in enumerate(zip(self.gates, self.mix)):
                a, b = gate(F.pad(x, (2 ** i, 0))).chunk(2, 1)
                y = mix(torch.tanh(a) * torch.sigmoid(b))
                skips, x = skips + y, x + y
            return self.last(F.relu(skips))
    return WaveNet(), (floats(2, 1, 64),)


@model
def nerf():
    class Nerf(nn.Module):
        def __init__(self, width=64):
            super().__init__()
            self.a = nn.Sequential(nn.Linear(63, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
            self.b = nn.Sequential(nn.Linear(width + 63, width), nn.ReLU())
            self.density, self.colour = nn.Linear(width, 1), nn.Linear(width, 3)

        def forward(self, points):
            parts = [points]
            for i in range(10):
                parts += [torch.sin(2 ** i * points), torch.cos(2 ** i * points)]
            x = torch.cat(parts, -1)
            h = self.b(torch.cat([self.a(x), x], -1))
            density = F.softplus(self.density(h)).squeeze(-1)
            alpha = 1 - torch.exp(-density * 0.1)
            left = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
            return ((alpha * left)[..., None] * torch.sigmoid(self.colour(h))).sum(1)
    return Nerf(), (floats(8, 16, 3),)


@model
def pix2pix_generator():
    class Generator(nn.Module):
        def __init__(self, width=16):
            super().__init__()
            self.down = nn.ModuleList([nn.Conv2d(3, width, 4, 2, 1), nn.Conv2d(width, 2 * width, 4, 2, 1)])
            self.up = nn.ModuleList(
                [nn.ConvTranspose2d(2 * width, width, 4, 2, 1),
                 nn.ConvTranspose2d(2 * width, 3, 4, 2, 1)])
            self.norm = nn.ModuleList([nn.InstanceNorm2d(2 * width, affine=True), nn.InstanceNorm2d(width)])

        def forward(self, x):
            a = F.leaky_relu(self.down[0](x), 0.2)
            b = F.leaky_relu(self.norm[0](self.down[1](a)), 0.2)
            c = F.relu(self.norm[1](self.up[0](b)))
            return torch.tanh(self.up[1](torch.cat([a, c], 1)))
    return Generator(), (floats(1, 3, 32, 32),)


@model
def pointnet():
    class PointNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 64, 1),
                                   nn.BatchNorm1d(64), nn.ReLU())
            self.last = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3),
                                      nn.Linear(32, 10))

        def forward(self, x):
            return self.last(self.a(x.transpose(1, 2)).max(-1)[0]).log_softmax(-1)
    return PointNet(), (floats(2, 64, 3),)


@model
def espcn():
    return nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.Tanh(), nn.Conv2d(16, 8, 3, padding=1), nn.Tanh(),
                         nn.Conv2d(8, 9, 3, padding=1), nn.PixelShuffle(3)), (floats(1, 1, 24, 24),)
