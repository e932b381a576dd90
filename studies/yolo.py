"""Judges perfc on YOLO and RT-DETR as Ultralytics and their authors publish them, which nothing in it was fitted to.

    pip install ultralytics onnx; python studies/yolo.py export --out build/yolo
    python3 studies/yolo.py judge --models build/yolo [--perfc build/release/perfc] [--verbose]

Published: docs.ultralytics.com, the tables of YOLO11 (T4, TensorRT 10) and YOLOv8 (A100, TensorRT 8); YOLOv10 (arXiv
2405.14458, table 1) and RT-DETR (T4, TensorRT, frames per second); github.com/ultralytics/yolov5 (V100, PyTorch), all
in float16 at 640 x 640. A run holds what Python and copies take around it, 0.5 ms and more, which perfc does not
predict.
Ultralytics' code is AGPL: no file of theirs is here.
"""
import argparse
import json
import pathlib
import subprocess

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: (device, runtime, batch) -> model -> ms per batch
PUBLISHED = {
    ("t4", "tensorrt", 1): {"yolo11n": 1.5, "yolo11s": 2.5, "yolo11m": 4.7, "yolo11l": 6.2, "yolo11x": 11.3,
                            "yolov10n": 1.79, "yolov10s": 2.39, "yolov10m": 4.63, "rtdetr-l": 8.77, "rtdetr-x": 13.5},
    ("a100-80gb", "tensorrt", 1): {"yolov8n": 0.99, "yolov8s": 1.2, "yolov8m": 1.83, "yolov8l": 2.39, "yolov8x": 3.53},
    ("v100-16gb", "pytorch", 1): {"yolov5n": 6.3, "yolov5s": 6.4, "yolov5m": 8.2, "yolov5l": 10.1, "yolov5x": 12.1},
    ("v100-16gb", "pytorch", 32): {"yolov5n": 19.2, "yolov5s": 28.8, "yolov5m": 54.4, "yolov5l": 86.4,
                                   "yolov5x": 153.6},
}


def export(args):
    import torch
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from ultralytics.nn.tasks import DetectionModel, RTDETRDetectionModel
    args.out.mkdir(parents=True, exist_ok=True)
    for name in sorted({name for models in PUBLISHED.values() for name in models}):
        transformer = name.startswith("rtdetr")
        model = (RTDETRDetectionModel if transformer else DetectionModel)(f"{name}.yaml", verbose=False).eval()
        if not transformer:
            model = model.fuse(verbose=False)
        model.model[-1].export, model.model[-1].format, model.model[-1].dynamic = True, "onnx", False
        torch.onnx.export(model.requires_grad_(False), (torch.zeros(1, 3, 640, 640),),
                          str(args.out / f"{name}.onnx"), opset_version=17, dynamo=False)


def judge(args):
    print("| device | runtime | batch | models | MAPE | median predicted ÷ measured | in the 90 % interval |")
    print("|---|---|---|---|---|---|---|")
    for (device, runtime, batch), models in PUBLISHED.items():
        found = []
        for name, measured_ms in models.items():
            text = subprocess.check_output(
                [args.perfc, args.models / f"{name}.onnx", "--batch", str(batch), "--device", device, "--dtype", "fp16",
                 "--runtime", runtime, "--json", "--quiet"], text=True)
            p = json.loads(text)["predictions"][0]
            low, high = p["latency_ms_interval"]
            found.append((p["latency_ms"] / measured_ms, low <= measured_ms <= high))
            if args.verbose:
                print(f"{device:10} {runtime:9} batch {batch:2} {name:9} measured {measured_ms:7.2f} ms, "
                      f"predicted / measured {found[-1][0]:.2f}")
        print(f"| {device} | {runtime} | {batch} | {tables.judged(found)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    action = actions.add_parser("export")
    action.add_argument("--out", type=pathlib.Path, required=True)
    action.set_defaults(run=export)
    action = actions.add_parser("judge")
    action.add_argument("--models", type=pathlib.Path, required=True)
    action.add_argument("--perfc", type=pathlib.Path, default=ROOT / "build/release/perfc")
    action.add_argument("--verbose", action="store_true")
    action.set_defaults(run=judge)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
