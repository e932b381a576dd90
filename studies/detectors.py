"""Judges perfc on detectors as their authors and others publish them, which nothing in it was fitted to.

    pip install ultralytics rfdetr onnx; python studies/detectors.py export --out build/detectors
    python3 studies/detectors.py judge --models build/detectors [--perfc build/release/perfc] [--verbose]

Ultralytics: docs.ultralytics.com, the tables of YOLO11 (T4, TensorRT 10) and YOLOv8 (A100, TensorRT 8); YOLOv10 (arXiv
2405.14458, table 1) and RT-DETR (T4, TensorRT, frames per second); github.com/ultralytics/yolov5 (V100, PyTorch), all
in float16 at 640 x 640. A run holds what Python and copies take around it, 0.5 ms and more, which perfc does not
predict.

Roboflow: rfdetr.roboflow.com/develop/learn/benchmarks, one image on a T4 by TensorRT 10.4 in float16: a CUDA graph
between two events, 200 ms after the one before, so that the card is cool (github.com/roboflow/
single_artifact_benchmarking). RF-DETR at its own sizes, YOLO26 at 640 x 640 without a suppression.

Ultralytics' code is AGPL: no file of theirs is here.
"""
import argparse
import pathlib
import shutil
import tempfile

import judging

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: (source, device, runtime, batch) -> model -> ms per batch
PUBLISHED = {
    ("Ultralytics and authors", "t4", "tensorrt", 1): {
        "yolo11n": 1.5, "yolo11s": 2.5, "yolo11m": 4.7, "yolo11l": 6.2, "yolo11x": 11.3, "yolov10n": 1.79,
        "yolov10s": 2.39, "yolov10m": 4.63, "rtdetr-l": 8.77, "rtdetr-x": 13.5},
    ("Ultralytics", "a100-80gb", "tensorrt", 1): {"yolov8n": 0.99, "yolov8s": 1.2, "yolov8m": 1.83, "yolov8l": 2.39,
                                                  "yolov8x": 3.53},
    ("Ultralytics", "v100-16gb", "pytorch", 1): {"yolov5n": 6.3, "yolov5s": 6.4, "yolov5m": 8.2, "yolov5l": 10.1,
                                                 "yolov5x": 12.1},
    ("Ultralytics", "v100-16gb", "pytorch", 32): {"yolov5n": 19.2, "yolov5s": 28.8, "yolov5m": 54.4, "yolov5l": 86.4,
                                                  "yolov5x": 153.6},
    ("Roboflow, RF-DETR", "t4", "tensorrt", 1): {
        "RFDETRNano": 2.3, "RFDETRSmall": 3.5, "RFDETRMedium": 4.4, "RFDETRLarge": 6.8, "RFDETRSegNano": 3.4,
        "RFDETRSegSmall": 4.4, "RFDETRSegMedium": 5.9, "RFDETRSegLarge": 8.8, "RFDETRSegXLarge": 13.5,
        "RFDETRSeg2XLarge": 21.8, "RFDETRKeypointPreview": 9.7},
    ("Roboflow, YOLO26", "t4", "tensorrt", 1): {
        "yolo26n": 1.7, "yolo26s": 2.6, "yolo26m": 4.4, "yolo26l": 5.7, "yolo26x": 9.6, "yolo26n-seg": 2.31,
        "yolo26s-seg": 3.47, "yolo26m-seg": 6.32, "yolo26l-seg": 7.58, "yolo26x-seg": 12.92, "yolo26n-pose": 1.9,
        "yolo26s-pose": 2.7, "yolo26m-pose": 4.6, "yolo26l-pose": 5.9, "yolo26x-pose": 9.8},
}


def export_ultralytics(name, out):
    import torch
    from ultralytics.nn import tasks
    transformer = name.startswith("rtdetr")
    kind = ("RTDETRDetectionModel" if transformer else "SegmentationModel" if name.endswith("-seg") else
            "PoseModel" if name.endswith("-pose") else "DetectionModel")
    model = getattr(tasks, kind)(f"{name}.yaml", verbose=False).eval()
    if name.startswith("yolo26"):
        model.end2end = True
    if not transformer:
        model = model.fuse(verbose=False)
    model.model[-1].export, model.model[-1].format, model.model[-1].dynamic = True, "onnx", False
    torch.onnx.export(model.requires_grad_(False), (torch.zeros(1, 3, 640, 640),), str(out), opset_version=17,
                      dynamo=False)


def export_rfdetr(name, out):
    import rfdetr
    with tempfile.TemporaryDirectory() as folder:
        getattr(rfdetr, name)(pretrain_weights=None).export(output_dir=folder)
        shutil.move(next(pathlib.Path(folder).glob("*.onnx")), out)


def export(args):
    import torch
    for operator in ("nms", "qnms"):  # a CPU build of torch cannot load torchvision's
        torch.library.define(f"torchvision::{operator}",
                             "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    args.out.mkdir(parents=True, exist_ok=True)
    for name in sorted({name for models in PUBLISHED.values() for name in models}):
        out = args.out / f"{name}.onnx"
        if not out.exists():
            (export_rfdetr if name.startswith("RFDETR") else export_ultralytics)(name, out)


def judge(args):
    found = {key: [] for key in PUBLISHED}
    for (source, device, runtime, batch), models in PUBLISHED.items():
        for name, measured_ms in models.items():
            p = judging.predicted(args.perfc, args.models / f"{name}.onnx", "--batch", str(batch), "--device", device,
                                  "--dtype", "fp16", "--runtime", runtime)
            found[source, device, runtime, batch].append(judging.beside(p, measured_ms))
            if args.verbose:
                print(f"{device:10} {runtime:9} batch {batch:2} {name:22} measured {measured_ms:7.2f} ms, "
                      f"predicted / measured {p['latency_ms'] / measured_ms:.2f}")
    judging.print_table(["source", "device", "runtime", "batch"], found.items())


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
