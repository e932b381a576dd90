#!/usr/bin/env python3
"""Writes the models of studies/runtimes/judge.py as .pt2 files without weights, and packs them and make_bert_base.py's.

usage: make_models.py [FOLDER]      needs what tests/dispatch/README.md installs

BERT as in NVIDIA/DeepLearningExamples' Triton tables (bert.py), ResNet-50 as timm has it, and the networks
of MLPerf Inference's reference implementations: SSD-ResNet-34 at 1200 x 1200 (v0.7 to v1.1) and RetinaNet with a
ResNeXt-50 at 800 x 800 (from v2.1), without the suppression of boxes.
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "python"), str(HERE)]

import dispatch_models  # noqa: E402,F401  (declares what torchvision registers)
import bert  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402


def bert_large():
    return bert.program(24, 1024, 16, 4096)


def bert_6l_768d():
    return bert.program(6, 768, 12, 3072)


def bert_4l_288d():
    return bert.program(4, 288, 12, 1152)


def resnet50():
    import timm
    return timm.create_model("resnet50").eval(), (torch.zeros(2, 3, 224, 224),)


class SsdResnet34(nn.Module):
    CHANNELS = (256, 512, 512, 256, 256, 256)   #: of the six planes that boxes are read from
    BOXES = (4, 6, 6, 6, 4, 4)                  #: per position
    STEPS = (3, 3, 2, 2, 2, 2)                  #: strides of the convolutions that read them
    INNER = (256, 256, 128, 128, 128)           #: channels between two planes
    SHRINKS = (True, True, True, False, False)  #: whether the next plane is half as wide
    CLASSES = 81

    def __init__(self):
        super().__init__()
        import torchvision
        resnet = torchvision.models.resnet34()
        first = resnet.layer3[0]
        first.conv1.stride = first.downsample[0].stride = (1, 1)
        self.backbone = nn.Sequential(resnet.conv1, resnet.bn1, resnet.relu, resnet.maxpool, resnet.layer1,
                                      resnet.layer2, resnet.layer3)
        self.further = nn.ModuleList(
            nn.Sequential(nn.Conv2d(before, inner, 1), nn.ReLU(),
                          nn.Conv2d(inner, after, 3, 2 if shrinks else 1, 1 if shrinks else 0), nn.ReLU())
            for before, inner, after, shrinks in zip(self.CHANNELS, self.INNER, self.CHANNELS[1:], self.SHRINKS))
        heads = list(zip(self.CHANNELS, self.BOXES, self.STEPS))
        self.places = nn.ModuleList(nn.Conv2d(c, 4 * boxes, 3, step, 1) for c, boxes, step in heads)
        self.labels = nn.ModuleList(nn.Conv2d(c, self.CLASSES * boxes, 3, step, 1) for c, boxes, step in heads)

    def forward(self, x):
        planes = [self.backbone(x)]
        for block in self.further:
            planes.append(block(planes[-1]))
        places = torch.cat([f(p).flatten(2).transpose(1, 2).reshape(p.shape[0], -1, 4)
                            for f, p in zip(self.places, planes)], 1)
        labels = torch.cat([f(p).flatten(2).transpose(1, 2).reshape(p.shape[0], -1, self.CLASSES)
                            for f, p in zip(self.labels, planes)], 1)
        return places, labels.softmax(-1)


def ssd_resnet34():
    return SsdResnet34().eval(), (torch.zeros(2, 3, 1200, 1200),)


class Retinanet(nn.Module):
    CLASSES = 264  #: of OpenImages, as MLPerf has them

    def __init__(self):
        super().__init__()
        from torchvision.models.detection import retinanet
        from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
        from torchvision.ops.feature_pyramid_network import LastLevelP6P7
        self.backbone = resnet_fpn_backbone(backbone_name="resnext50_32x4d", weights=None, returned_layers=[2, 3, 4],
                                            extra_blocks=LastLevelP6P7(256, 256))
        self.head = retinanet.RetinaNetHead(256, 9, self.CLASSES)

    def forward(self, x):
        out = self.head(list(self.backbone(x).values()))
        return out["cls_logits"].sigmoid(), out["bbox_regression"]


def retinanet():
    return Retinanet().eval(), (torch.zeros(2, 3, 800, 800),)


MODELS = (bert_large, bert_6l_768d, bert_4l_288d, resnet50, ssd_resnet34, retinanet)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "runtimes")
    folder.mkdir(parents=True, exist_ok=True)
    for make in MODELS:
        out = folder / f"{make.__name__}.pt2"
        if not out.exists():
            subprocess.run([sys.executable, "-m", "perfc.export", f"make_models:{make.__name__}", "--format", "pt2",
                            "--device", "meta", "--output", str(out)], check=True,
                           env={"PYTHONPATH": f"{ROOT / 'python'}:{HERE}"})
    names = [*(f"{make.__name__}.pt2" for make in MODELS), "bert_base_mask.pir", "bert_base_lengths.pir"]
    subprocess.run(["tar", "-C", str(folder), "-cJf", str(HERE / "models.tar.xz"), *names], check=True)


if __name__ == "__main__":
    main()
