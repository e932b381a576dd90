"""Judges perfc on whole models that nothing in it was fitted to: torchvision's on four GPUs, NVIDIA's on three, timm's.

    build/venv-oracle/bin/python studies/strangers.py export --out build/strangers        (torch, torchvision)
    python3 studies/strangers.py judge --models build/strangers --shared ../shared [--perfc build/release/perfc]
    python3 studies/strangers.py judge-nvidia --shared ../shared [--perfc build/release/perfc]
    python3 studies/strangers.py judge-inductor --shared ../shared [--perfc build/release/perfc]

torchvision: ryujaehun/pytorch-gpu-benchmark (MIT), ../shared/data/torchvision_gpus: inference at batch 12, eager, one
GPU. A run holds the copy of the images from pageable memory, which perfc does not predict: COPY_GB_S is taken for it,
fixed before the first look. float is what PyTorch 1.7 did when nobody said anything: TF32 on an A100, else float32.

NVIDIA: the convolutional networks of NVIDIA/DeepLearningExamples, ../shared/data/latency_nvidia: eager inference of
2020 and 2021 at batches 1 to 256, by throughput; channels last under AMP, first otherwise (its configs.yml). The graphs
are timm's of the same architectures, ../shared/graphs.

timm: training steps (forward, backward, SGD) of networks without attention, as PyTorch's developers timed them on an
A100 of 40 GB in February and March 2023, eager and by TorchInductor without CUDA graphs, channels first: inductor.tsv
has the rows that we could read (pytorch/pytorch #93794, #96191, #96192). TorchInductor lays convolutions out channels
last since; what it still does not, is told apart.

Every look is a row of docs/judged.md. What is seen here must not change the program: a set that is fitted to judges
nothing any more.
"""
import argparse
import collections
import csv
import gzip
import itertools
import pathlib
import sys
import tarfile
import tempfile

import judging

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "studies")]
BATCH, SIDE = 12, 224  # images, and the pixels of their sides
COPY_GB_S = 6.0  # of pageable memory to the device; NVIDIA's bandwidthTest on PCIe 3.0 has 6
DEVICES = {
    "A100-SXM4-40GB": "a100-40gb",
    "GeForce RTX 2080 Ti": "rtx2080ti",
    "TITAN RTX": "titan-rtx",
    "TITAN Xp": "titan-xp"
}
BYTES = {"float": 4, "half": 2}
#: timm's graph of NVIDIA's network, and the side of its images where it is not the graph's
NVIDIA_MODELS = {
    "resnet50v1.5": ("resnet50_224", None),
    "resnext101-32x4d": ("resnext101_32x4d_224", None),
    "se-resnext101-32x4d": ("seresnext101_32x4d_224", None),
    "efficientnet-b0": ("efficientnet_b0_224", None),
    "efficientnet-b4": ("efficientnet_b4_384", 380)
}
NVIDIA_DEVICES = {"A100": "a100-80gb", "V100": "v100-16gb", "T4": "t4"}
NVIDIA_SETTINGS = {"mixed": ("amp", "nhwc"), "tf32": ("tf32", "nchw"), "fp32": ("fp32", "nchw")}
LARGE = 64  # batch from which the device bounds these runs
#: networks of inductor.tsv with grouped or narrowing convolutions: torch/_inductor/graph.py, decide_layout_opt
STAY = ("hrnet_w18_224", "res2next50_224", "resnest101e_256", "resnext101_32x16d_224")
UNSET = ("googlenet", "inception_v3")  # which draw their weights by scipy, minutes long


def dtype_of(device, precision):
    if precision == "half":
        return "fp16"
    return "tf32" if device.startswith("a100") else "fp32"


def labels(shared):
    with open(shared / "data/torchvision_gpus/torchvision_bs12.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["task"] == "inference" and r["gpus"] == "1" and r["precision"] in BYTES:
                yield r["model"], DEVICES[r["gpu"]], r["precision"], float(r["mean_ms"])


def export(args):
    import torch
    for name in ("nms", "qnms"):  # a CPU build of torch cannot load torchvision's
        torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision
    from perfc.export import torchscript
    args.out.mkdir(parents=True, exist_ok=True)
    for name in sorted({model for model, *_ in labels(args.shared)}):
        options = {"init_weights": False} if name in UNSET else {}
        module = torchvision.models.get_model(name, weights=None, **options).eval()
        program = torchscript.export_module(module, (torch.zeros(1, 3, SIDE, SIDE),), name=name)
        torchscript.write(program, str(args.out / f"{name}.json"))
        print(name, flush=True)


def predict(args, path, device, dtype, *options, batch=BATCH):
    return judging.predicted(args.perfc, path, "--batch", str(batch), "--device", device, "--dtype", dtype, *options,
                             *judging.host(args))


def judged_run(p, measured_ms, copy_ms=0):
    """A prediction beside what was measured, and whether the host bounds it, as print_table has it."""
    return *judging.beside(p, measured_ms, copy_ms), judging.is_host_bound(p)


def judge(args):
    groups = collections.defaultdict(list)
    for model, device, precision, measured_ms in labels(args.shared):
        p = predict(args, args.models / f"{model}.json", device, dtype_of(device, precision))
        copy_ms = BATCH * 3 * SIDE**2 * BYTES[precision] / (COPY_GB_S * 1e6)
        group = groups[device, precision]
        group.append(judged_run(p, measured_ms, copy_ms))
        if args.verbose:
            print(f"{device:10} {precision:6} {model:20} {measured_ms:8.2f} ms, predicted ÷ measured "
                  f"{group[-1][0]:.2f}")
    print_table(groups)


def print_table(groups):
    """`groups`: (device, precision) → (predicted ÷ measured, in the interval, host-bound) of each run."""
    print("| device | precision | runs | MAPE | median predicted ÷ measured | in the 90 % interval | host-bound |")
    print("|---|---|---|---|---|---|---|")
    for (device, precision), found in sorted(groups.items()):
        judged = judging.cells([run[:2] for run in found])
        print(f"| {device} | {precision} | {judged} | {sum(host for *_, host in found)} |")


def extract(shared, graphs, folder):
    """timm's graphs by these names as PyTorch launches them, into a folder."""
    with tarfile.open(shared / "graphs/timm_torchscript.tar.xz") as tar:
        wanted = {f"./{graph}.json" for graph in graphs}
        tar.extractall(folder, members=[m for m in tar if m.name in wanted], filter="data")


def nvidia_labels(shared):
    with gzip.open(shared / "data/latency_nvidia/deeplearningexamples.csv.gz", "rt", newline="") as f:
        for r in csv.DictReader(f):
            ours = r["framework"] == "PyTorch" and r["task"] == "inference" and r["model"] in NVIDIA_MODELS
            if ours and r["model_dir"].startswith("ConvNets/") and "triton" not in r["model_dir"]:
                yield r["model"], r["gpu"], r["precision"], int(r["batch_size"]), float(r["latency_ms_from_throughput"])


def judge_nvidia(args):
    groups = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        extract(args.shared, [graph for graph, _ in NVIDIA_MODELS.values()], folder)
        for model, gpu, precision, batch, measured_ms in nvidia_labels(args.shared):
            (graph, side), (dtype, layout) = NVIDIA_MODELS[model], NVIDIA_SETTINGS[precision]
            options = ["--layout", layout]
            if side:
                options += ["--shape", f"x.1={batch},3,{side},{side}"]
            path = pathlib.Path(folder, f"{graph}.json")
            p = predict(args, path, NVIDIA_DEVICES[gpu], dtype, *options, batch=batch)
            size = f"batch {LARGE} and more" if batch >= LARGE else f"batch below {LARGE}"
            group = groups[gpu, f"{precision}, {size}"]
            group.append(judged_run(p, measured_ms))
            if args.verbose:
                print(f"{gpu:5} {precision:6} {model:20} {batch:4} {measured_ms:8.2f} ms, "
                      f"predicted ÷ measured {group[-1][0]:.2f}")
    print_table(groups)


def judge_inductor(args):
    with open(ROOT / "studies/inductor.tsv", newline="") as f:
        rows = list(csv.DictReader(f, delimiter="\t"))
    groups = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        extract(args.shared, [row["graph"] for row in rows], folder)
        for row, mode in itertools.product(rows, ("eager", "compiled")):
            p = predict(args, pathlib.Path(folder, f"{row['graph']}.json"), "a100-40gb", row["dtype"], "--mode", mode,
                        "--task", "train", "--optimizer", "sgd", batch=row["batch"])
            measured_ms = float(row[f"{mode}_ms"])
            layout = "" if mode == "eager" else ", channels first today" if row["graph"] in STAY else ", last today"
            group = groups["a100-40gb", f"{row['dtype']}, {mode}{layout}"]
            group.append(judged_run(p, measured_ms))
            if args.verbose:
                print(f"{row['dtype']:5} {mode:9} {row['graph']:22} {measured_ms:8.2f} ms, "
                      f"predicted ÷ measured {group[-1][0]:.2f}")
    print_table(groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    for name, run in (("export", export), ("judge", judge), ("judge-nvidia", judge_nvidia),
                      ("judge-inductor", judge_inductor)):
        action = actions.add_parser(name)
        action.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
        action.set_defaults(run=run)
        if run is export:
            action.add_argument("--out", type=pathlib.Path, required=True)
        else:
            if run is judge:
                action.add_argument("--models", type=pathlib.Path, required=True)
            action.add_argument("--perfc", type=pathlib.Path, default=ROOT / "build/release/perfc")
            action.add_argument("--host", help="a host of perfc's instead of each device's own")
            action.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
