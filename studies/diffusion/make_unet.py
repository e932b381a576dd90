"""Writes unet.pir.xz: the UNet of Stable Diffusion 1.5 with an open batch, weights at random.

    pip install torch diffusers transformers; python studies/diffusion/make_unet.py [--perfc build/release/perfc]
"""
import argparse
import lzma
import pathlib
import subprocess
import tempfile

import torch
from diffusers import UNet2DConditionModel

HERE = pathlib.Path(__file__).resolve().parent


class Unet(torch.nn.Module):
    """Of the widths of runwayml/stable-diffusion-v1-5, unet/config.json."""

    def __init__(self):
        super().__init__()
        self.u = UNet2DConditionModel(sample_size=64, layers_per_block=2, block_out_channels=(320, 640, 1280, 1280),
                                      down_block_types=("CrossAttnDownBlock2D",) * 3 + ("DownBlock2D",),
                                      up_block_types=("UpBlock2D",) + ("CrossAttnUpBlock2D",) * 3,
                                      cross_attention_dim=768, attention_head_dim=8)

    def forward(self, x, t, c):
        return self.u(x, t, c, return_dict=False)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfc", default="build/release/perfc")
    args = parser.parse_args()
    batch = torch.export.Dim("b", min=1, max=63)
    operands = (torch.zeros(2, 4, 64, 64), torch.tensor(10), torch.zeros(2, 77, 768))
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        program = torch.export.export(Unet().eval(), operands, dynamic_shapes=({0: batch}, None, {0: batch}))
        exported, text = pathlib.Path(folder, "unet.pt2"), pathlib.Path(folder, "unet.pir")
        torch.export.save(program, exported)
        subprocess.run([args.perfc, "import", exported, "-o", text], check=True)
        (HERE / "unet.pir.xz").write_bytes(lzma.compress(text.read_bytes(), preset=9))


if __name__ == "__main__":
    main()
