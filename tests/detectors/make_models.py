#!/usr/bin/env python3
"""A small detector with the ends that exporters give YOLO and its kin: tests/detectors/models.tar.xz.

usage: make_models.py     (needs torch, torchvision, onnx, onnxscript)

The network is this project's own: three levels of features, an anchor-free head that gives for each position of a level
a box by its four distances and a score of each class (as FCOS and YOLOX do). Its ends are those of public exports:

  nms           one image: best class, threshold, torchvision's nms of boxes moved apart by class, the first 300
                (ultralytics, `nms=True`); ONNX by both of torch's exporters, TorchScript, torch.export
  class_nms     ONNX NonMaxSuppression of all classes and images, and what it kept (PP-YOLOE, YOLOX, YOLO-NAS)
  efficient     EfficientNMS_TRT (YOLOv7, YOLOv8-TensorRT)
  end_to_end    the best by top-k, without suppression (YOLOv10)
  by_class      scripted: what passes a threshold, suppressed in a loop over the classes that are there (torchvision's
                detectors where there are many boxes)

Weights are left out: of ONNX files they are said to lie in a file that is not there.
"""
import io
import json
import pathlib
import sys
import tarfile
import tempfile

import onnx
import torch
import torchvision  # noqa: F401  declares torchvision::nms
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python"))
CLASSES, SIZE, KEPT = 20, 320, 300
SMALL = 64  # elements of a constant that stays in the file


class Network(nn.Module):
    """Images → boxes (batch, positions, 4) as corners, scores (batch, positions, classes)."""

    def __init__(self):
        super().__init__()
        widths = (16, 32, 64, 96, 128)
        self.stages = nn.ModuleList(
            nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o), nn.SiLU())
            for i, o in zip((3, *widths), widths))
        self.distances = nn.ModuleList(nn.Conv2d(w, 4, 3, 1, 1) for w in widths[2:])
        self.scores = nn.ModuleList(nn.Conv2d(w, CLASSES, 3, 1, 1) for w in widths[2:])
        places, strides = [], []
        for stride in (8, 16, 32):
            at = (torch.arange(SIZE // stride) + 0.5) * stride
            y, x = torch.meshgrid(at, at, indexing="ij")
            places.append(torch.stack((x, y), -1).reshape(-1, 2))
            strides.append(torch.full((places[-1].shape[0], 1), float(stride)))
        self.register_buffer("places", torch.cat(places))
        self.register_buffer("strides", torch.cat(strides))

    def forward(self, x):
        levels: list[torch.Tensor] = []
        for stage in self.stages:
            x = stage(x)
            levels.append(x)
        distances: list[torch.Tensor] = []
        for i, head in enumerate(self.distances):
            distances.append(head(levels[i + 2]).flatten(2))
        scores: list[torch.Tensor] = []
        for i, head in enumerate(self.scores):
            scores.append(head(levels[i + 2]).flatten(2))
        distance = nn.functional.softplus(torch.cat(distances, 2).transpose(1, 2)) * self.strides
        boxes = torch.cat((self.places - distance[..., :2], self.places + distance[..., 2:]), -1)
        return boxes, torch.cat(scores, 2).transpose(1, 2).sigmoid()


class Nms(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = Network()

    def forward(self, x):
        boxes, scores = self.network(x)
        best, of = scores[0].max(-1)
        sure = best > 0.25
        boxes, best, of = boxes[0][sure], best[sure], of[sure]
        kept = torch.ops.torchvision.nms(boxes + of[:, None] * 2.0 * SIZE, best, 0.45)[:KEPT]
        return torch.cat((boxes[kept], best[kept, None], of[kept, None].to(boxes.dtype)), 1)


class Suppression(torch.autograd.Function):
    @staticmethod
    def forward(ctx, boxes, scores):
        return torch.zeros((5, 3), dtype=torch.int64)

    @staticmethod
    def symbolic(g, boxes, scores):
        def constant(value, dtype):
            return g.op("Constant", value_t=torch.tensor([value], dtype=dtype))

        return g.op("NonMaxSuppression", boxes, scores, constant(100, torch.int64), constant(0.5, torch.float32),
                    constant(0.05, torch.float32))


class ClassNms(Nms):
    def forward(self, x):
        boxes, scores = self.network(x)
        scores = scores.transpose(1, 2)
        rows = Suppression.apply(boxes, scores)
        image, of, box = rows[:, 0], rows[:, 1], rows[:, 2]
        return torch.cat((rows.to(boxes.dtype), scores[image, of, box][:, None], boxes[image, box]), 1)


class Plugin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, boxes, scores):
        n = boxes.shape[0]
        return (torch.zeros((n, 1), dtype=torch.int32), torch.zeros((n, 100, 4)), torch.zeros((n, 100)),
                torch.zeros((n, 100), dtype=torch.int32))

    @staticmethod
    def symbolic(g, boxes, scores):
        return g.op("TRT::EfficientNMS_TRT", boxes, scores, outputs=4, background_class_i=-1, box_coding_i=0,
                    iou_threshold_f=0.65, max_output_boxes_i=100, plugin_version_s="1", score_activation_i=0,
                    score_threshold_f=0.25)


class Efficient(Nms):
    def forward(self, x):
        return Plugin.apply(*self.network(x))


class EndToEnd(Nms):
    def forward(self, x):
        boxes, scores = self.network(x)
        at = scores.amax(-1).topk(KEPT)[1][..., None]
        boxes = boxes.gather(1, at.expand(-1, -1, 4))
        scores = scores.gather(1, at.expand(-1, -1, CLASSES))
        best, of = scores.flatten(1).topk(KEPT)
        boxes = boxes.gather(1, (of // CLASSES)[..., None].expand(-1, -1, 4))
        return torch.cat((boxes, best[..., None], (of % CLASSES)[..., None].to(boxes.dtype)), -1)


class ByClass(Nms):
    classes: int

    def __init__(self):
        super().__init__()
        self.classes = CLASSES

    def forward(self, x):
        boxes, scores = self.network(x)
        of = torch.arange(self.classes, device=x.device)[None].expand_as(scores[0]).reshape(-1)
        best = scores[0].reshape(-1)
        sure = torch.where(best > 0.05)[0]
        best, of, boxes = best[sure], of[sure], boxes[0][sure // self.classes]
        kept = torch.zeros_like(best, dtype=torch.bool)
        for one in torch.unique(of):
            here = torch.where(of == one)[0]
            kept[here[torch.ops.torchvision.nms(boxes[here], best[here], 0.45)]] = True
        rows = torch.where(kept)[0]
        rows = rows[best[rows].sort(descending=True)[1]][:300]
        return torch.cat((boxes[rows], best[rows][:, None], of[rows][:, None].to(boxes.dtype)), 1)


def without_weights(path: pathlib.Path) -> bytes:
    model = onnx.load(str(path))
    for tensor in model.graph.initializer:
        elements = 1
        for d in tensor.dims:
            elements *= d
        if elements <= SMALL:
            continue
        for field in ("raw_data", "float_data", "int64_data", "int32_data"):
            tensor.ClearField(field)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value="left_out.bin")
    for node in model.graph.node:
        node.ClearField("doc_string")
        del node.metadata_props[:]
    return model.SerializeToString()


def main() -> None:
    from perfc.export import export_archive, export_module
    torch.manual_seed(0)
    images = torch.rand(1, 3, SIZE, SIZE)
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.onnx")
        for name, module in (("nms", Nms()), ("class_nms", ClassNms()), ("efficient", Efficient()),
                             ("end_to_end", EndToEnd())):
            axes = {} if name == "nms" else {"dynamic_axes": {"images": {0: "batch"}}}
            torch.onnx.export(module.eval(), (images,), str(path), dynamo=False, opset_version=17,
                              input_names=["images"], **axes)
            files[f"{name}.onnx"] = without_weights(path)
        module = Nms().eval()
        torch.onnx.export(module, (images,), str(path), dynamo=True, input_names=["images"], external_data=False)
        files["nms_dynamo.onnx"] = without_weights(path)
        files["nms.json"] = json.dumps(export_module(module, (images,), name="nms")).encode()
        scripted = export_module(ByClass(), (images,), name="by_class", script=True)
        files["by_class.json"] = json.dumps(scripted).encode()
        export_archive(module, (images,), str(pathlib.Path(folder, "model.pt2")))
        files["nms.pt2"] = pathlib.Path(folder, "model.pt2").read_bytes()
    with tarfile.open(HERE / "models.tar.xz", "w:xz") as archive:
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
            print(name, len(data))


if __name__ == "__main__":
    main()
