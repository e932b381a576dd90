"""Look-alikes of the MAELSTROM applications (maelstrom-eurohpc.eu) that are PyTorch networks.

Written anew from their descriptions, without weights; ap4_unet.json and ap2_deberta.json beside
this file are what the exporter makes of them, on one CPU, with torch 2.13 and transformers 5:

    cd tests/maelstrom
    PYTHONPATH=../../python python -m perfc.export models:ap4_unet
    PYTHONPATH=../../python python -m perfc.export models:ap2_deberta
"""
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Sequential):
    def __init__(self, given: int, made: int):
        super().__init__(nn.Conv2d(given, made, 3, padding=1), nn.BatchNorm2d(made), nn.ReLU(),
                         nn.Conv2d(made, made, 3, padding=1), nn.BatchNorm2d(made), nn.ReLU())


class UNet(nn.Module):
    """Post-processing of ensemble forecasts on a global half-degree grid (ENS-10: Ashkboos et al., NeurIPS 2022).

    14 fields in, mean and spread of one variable out; 361 rows do not halve evenly, so skips are padded to.
    """

    def __init__(self, fields: int = 14, widths=(32, 64, 128)):
        super().__init__()
        self.down = nn.ModuleList(Block(a, b) for a, b in zip((fields, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(Block(2 * a, a) for a in widths[:-1])
        self.out = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        skips = []
        for level, block in enumerate(self.down):
            x = block(functional.max_pool2d(x, 2) if level else x)
            skips.append(x)
        for up, join, skip in zip(reversed(self.up), reversed(self.join), reversed(skips[:-1])):
            x = up(x)
            x = functional.pad(x, (0, skip.shape[3] - x.shape[3], 0, skip.shape[2] - x.shape[2]))
            x = join(torch.cat((skip, x), dim=1))
        return self.out(x)


def ap4_unet():
    return UNet().eval(), (torch.zeros(1, 14, 361, 720),)


def ap2_deberta():
    """Rain from tweets: DeBERTa-v3-small (He et al., ICLR 2023) with a head of two classes, 128 tokens."""
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification
    config = DebertaV2Config(vocab_size=128100, hidden_size=768, num_hidden_layers=6, num_attention_heads=12,
                             intermediate_size=3072, max_position_embeddings=512, type_vocab_size=0,
                             relative_attention=True, position_buckets=256, norm_rel_ebd="layer_norm",
                             share_att_key=True, pos_att_type="p2c|c2p", position_biased_input=False,
                             layer_norm_eps=1e-7, pad_token_id=0, num_labels=2, pooler_hidden_size=768)
    config.return_dict = False
    tokens = torch.ones(1, 128, dtype=torch.int64)
    return DebertaV2ForSequenceClassification(config).eval(), (tokens, torch.ones_like(tokens))
