"""Transformers of diffusion models with random weights, by their config.json on Hugging Face: factories for
studies/diffusion/transformers.txt (python -m perfc.export; torch, diffusers). Inputs are those of an image of 1024 ×
1024, or of the video that ML.ENERGY generated; 2 in a batch are with and without the prompt."""
import functools

import torch

for _operator in () if torch.version.cuda else ("nms", "qnms"):  # torchvision's wheel cannot, beside a CPU's torch
    torch.library.define(f"torchvision::{_operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import diffusers  # noqa: E402
import transformers.modeling_utils  # noqa: E402, F401

for _name in ("FluxTransformer2DModel", "SD3Transformer2DModel", "PixArtTransformer2DModel", "SanaTransformer2DModel",
              "HunyuanDiT2DModel", "WanTransformer3DModel", "HunyuanVideoTransformer3DModel",
              "CogVideoXTransformer3DModel"):
    getattr(diffusers, _name)  # lazy modules are not imported on the meta device

HALF = torch.bfloat16


class Called(torch.nn.Module):
    """Tensors by their place become arguments by name."""

    def __init__(self, model, names, fixed):
        super().__init__()
        self.model, self.names = model.to(HALF).eval(), names
        self.call = functools.partial(self.model, return_dict=False, **fixed)

    def forward(self, *tensors):
        return self.call(**dict(zip(self.names, tensors)))[0]


def _made(kind, config, inputs, **fixed):
    """`inputs`: name -> example."""
    return Called(getattr(diffusers, kind)(**config), tuple(inputs), fixed), tuple(inputs.values())


def _half(*shape):
    return torch.randn(*shape, dtype=HALF)


def _ones(*shape):
    return torch.ones(*shape, dtype=torch.int64)


def _angles(tokens, width):
    return tuple(torch.randn(tokens, width) for _ in range(2))


def flux_dev():
    tokens, words = 64 * 64, 512
    return _made("FluxTransformer2DModel", {"guidance_embeds": True}, {
        "hidden_states": _half(1, tokens, 64), "encoder_hidden_states": _half(1, words, 4096),
        "pooled_projections": _half(1, 768), "timestep": _half(1), "img_ids": _half(tokens, 3),
        "txt_ids": _half(words, 3), "guidance": _half(1)
    })


def _sd35(**config):
    return _made("SD3Transformer2DModel", dict(
        sample_size=128, patch_size=2, in_channels=16, out_channels=16, attention_head_dim=64, joint_attention_dim=4096,
        pooled_projection_dim=2048, qk_norm="rms_norm", **config), {
            "hidden_states": _half(2, 16, 128, 128), "encoder_hidden_states": _half(2, 333, 4096),
            "pooled_projections": _half(2, 2048), "timestep": _half(2)
        })


def sd35_large():
    return _sd35(num_layers=38, num_attention_heads=38, caption_projection_dim=2432, pos_embed_max_size=192)


def sd35_medium():
    return _sd35(num_layers=24, num_attention_heads=24, caption_projection_dim=1536, pos_embed_max_size=384,
                 dual_attention_layers=tuple(range(13)))


def pixart_sigma():
    return _made("PixArtTransformer2DModel", dict(
        num_attention_heads=16, attention_head_dim=72, in_channels=4, out_channels=8, num_layers=28,
        cross_attention_dim=1152, sample_size=128, patch_size=2, caption_channels=4096, interpolation_scale=2,
        use_additional_conditions=False), {
            "hidden_states": _half(2, 4, 128, 128), "encoder_hidden_states": _half(2, 300, 4096),
            "timestep": _ones(2), "encoder_attention_mask": _ones(2, 300)
        }, added_cond_kwargs={"resolution": None, "aspect_ratio": None})


def _sana15(layers):
    return _made("SanaTransformer2DModel", dict(
        in_channels=32, out_channels=32, num_attention_heads=70, attention_head_dim=32, num_layers=layers,
        num_cross_attention_heads=20, cross_attention_head_dim=112, cross_attention_dim=2240, caption_channels=2304,
        mlp_ratio=2.5, sample_size=32, patch_size=1, qk_norm="rms_norm_across_heads"), {
            "hidden_states": _half(2, 32, 32, 32), "encoder_hidden_states": _half(2, 300, 2304),
            "timestep": _ones(2), "encoder_attention_mask": _ones(2, 300)
        })


def sana15_1_6b():
    return _sana15(20)


def sana15_4_8b():
    return _sana15(60)


def hunyuan_dit():
    return _made("HunyuanDiT2DModel", dict(
        num_attention_heads=16, attention_head_dim=88, in_channels=4, patch_size=2, activation_fn="gelu-approximate",
        sample_size=128, hidden_size=1408, num_layers=40, mlp_ratio=4.3637, learn_sigma=True, cross_attention_dim=1024,
        cross_attention_dim_t5=2048, pooled_projection_dim=1024, text_len=77, text_len_t5=256, norm_type="layer_norm",
        use_style_cond_and_image_meta_size=False), {
            "hidden_states": _half(2, 4, 128, 128), "timestep": _half(2), "encoder_hidden_states": _half(2, 77, 1024),
            "text_embedding_mask": _ones(2, 77), "encoder_hidden_states_t5": _half(2, 256, 2048),
            "text_embedding_mask_t5": _ones(2, 256), "image_rotary_emb": _angles(64 * 64, 88)
        })


def _wan(heads, layers, ffn):
    return _made("WanTransformer3DModel", dict(
        patch_size=(1, 2, 2), num_attention_heads=heads, attention_head_dim=128, in_channels=16, out_channels=16,
        text_dim=4096, freq_dim=256, ffn_dim=ffn, num_layers=layers, cross_attn_norm=True,
        qk_norm="rms_norm_across_heads"), {
            "hidden_states": _half(1, 16, 21, 60, 104), "timestep": _ones(1),
            "encoder_hidden_states": _half(1, 512, 4096)
        })


def wan_1_3b():
    return _wan(12, 30, 8960)


def wan_14b():
    return _wan(40, 40, 13824)


def hunyuan_video():
    return _made("HunyuanVideoTransformer3DModel", {}, {
        "hidden_states": _half(1, 16, 33, 90, 160), "timestep": _ones(1), "encoder_hidden_states": _half(1, 256, 4096),
        "encoder_attention_mask": torch.ones(1, 256, dtype=torch.bool), "pooled_projections": _half(1, 768),
        "guidance": _half(1)
    })


def cogvideox_2b():
    return _made("CogVideoXTransformer3DModel", dict(
        num_attention_heads=30, attention_head_dim=64, in_channels=16, out_channels=16, num_layers=30, sample_width=90,
        sample_height=60, sample_frames=49, max_text_seq_length=226, use_rotary_positional_embeddings=False), {
            "hidden_states": _half(2, 13, 16, 60, 90), "encoder_hidden_states": _half(2, 226, 4096),
            "timestep": _ones(2)
        })


def cogvideox15_5b():
    return _made("CogVideoXTransformer3DModel", dict(
        num_attention_heads=48, attention_head_dim=64, in_channels=16, out_channels=16, num_layers=42, sample_width=170,
        sample_height=96, sample_frames=81, patch_size=2, patch_size_t=2, patch_bias=False, max_text_seq_length=226,
        use_rotary_positional_embeddings=True, use_learned_positional_embeddings=False, time_embed_dim=512,
        ofs_embed_dim=None), {
            "hidden_states": _half(2, 22, 16, 96, 170), "encoder_hidden_states": _half(2, 226, 4096),
            "timestep": _ones(2), "image_rotary_emb": _angles(11 * 48 * 85, 64)
        })
