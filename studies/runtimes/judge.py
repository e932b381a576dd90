#!/usr/bin/env python3
"""How well --runtime tensorrt and onnxruntime do on rows that NVIDIA and Microsoft published.

usage: judge.py --shared ../shared [--judge] [--perfc build/release/perfc]

Rows: closed single-stream results of MLPerf Inference (int8, batch 1, one GPU, median latency; of several submitters
the median), Triton's compute time of BERT in NVIDIA/DeepLearningExamples (fp16, one client, TensorRT 8.0 and ONNX
Runtime 1.9 of 2021), and latencies of bert-base, fused by ONNX Runtime's optimiser, fp16, that its developers wrote
into pull requests of 2022 (onnxruntime.tsv, whose source is the request; of its attention "unfused", with a mask of two
dims, and by TensorRT's flash kernels, with lengths). docs/judged.md has the rule: ResNet-50, BERT-large and bert-base
on T4 may be looked at, all other rows judge.
"""
import argparse
import collections
import csv
import gzip
import math
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402

ROOT = HERE.parents[1]
LOOKED_AT = {"resnet50", "bert_large"}
MLPERF = {"resnet50": "resnet50", "ssd-resnet34": "ssd_resnet34", "retinanet": "retinanet"}
MLPERF_DEVICES = {"NVIDIA A10": "a10", "NVIDIA A100-PCIe-40GB": "a100-pcie-40gb", "NVIDIA A100-PCIe-80GB":
                  "a100-pcie-80gb", "NVIDIA A100-PCIE-80GB": "a100-pcie-80gb", "NVIDIA A100-SXM-80GB": "a100-80gb",
                  "NVIDIA A100-SXM-80GB (1x1g.10gb MIG)": "a100-80gb:1g.10gb", "NVIDIA A100-SXM4": "a100-40gb",
                  "NVIDIA A100-SXM4 (1x1g.5gb MIG)": "a100-40gb:1g.5gb", "NVIDIA A30": "a30",
                  "NVIDIA A30 (1x1g.6gb MIG)": "a30:1g.6gb", "NVIDIA A2": "a2", "NVIDIA L4": "l4",
                  "NVIDIA L40S": "l40s", "NVIDIA T4": "t4", "NVIDIA H100-PCIe-80GB": "h100-pcie"}
TRITON = {"BERT/triton/large": "bert_large", "BERT/triton/dist6l": "bert_6l_768d", "BERT/triton/dist4l": "bert_4l_288d"}
TRITON_DEVICES = {"V100": "v100-32gb", "A100": "a100-80gb", "T4": "t4"}

Row = collections.namedtuple("Row", "source model device runtime dtype batch ms tokens", defaults=[0])


def may_be_looked_at(row):
    return row.model in LOOKED_AT or (row.model.startswith("bert_base") and row.device == "t4")


def rows_of(name: str, shared: pathlib.Path) -> list[dict]:
    with gzip.open(shared / "data" / "latency_nvidia" / f"{name}.csv.gz", "rt", newline="") as f:
        return list(csv.DictReader(f))


def mlperf(shared: pathlib.Path) -> list[Row]:
    found = collections.defaultdict(list)
    for r in rows_of("mlperf_inference", shared):
        if (r["division"], r["scenario"]) != ("closed", "SingleStream") or not r["framework"].startswith("TensorRT"):
            continue
        # Half of the power: another clock than the data sheet's.
        if r["model"] in MLPERF and r["accelerator"] in MLPERF_DEVICES and "MaxQ" not in r["source_path"]:
            found[MLPERF[r["model"]], MLPERF_DEVICES[r["accelerator"]]].append(float(r["p50_latency_ns"]) / 1e6)
    return [Row("MLPerf", model, device, "tensorrt", "int8", 1, statistics.median(ms))
            for (model, device), ms in sorted(found.items())]


def triton(shared: pathlib.Path) -> list[Row]:
    out = []
    for r in rows_of("deeplearningexamples", shared):
        what = r["heading_path"]
        ms = r["latency_ms_server_compute_infer"]
        if r["model_dir"] not in TRITON or r["concurrency"] != "1" or not ms or "PyTorch" in what:
            continue
        if "Backend accelerator" in what:  # TensorRT behind ONNX Runtime: the same kernels once more
            continue
        runtime = "tensorrt-8" if "TensorRT" in what else "onnxruntime"
        out.append(Row("Triton", TRITON[r["model_dir"]], TRITON_DEVICES[r["gpu"]], runtime, "fp16",
                       int(float(r["batch"])), float(ms)))
    return out


def onnxruntime() -> list[Row]:
    with open(HERE / "onnxruntime.tsv", newline="") as f:
        return [Row(f"onnxruntime #{r['source']}", r["model"], r["device"], "onnxruntime", "fp16", int(r["batch"]),
                    float(r["ms"]), int(r["tokens"])) for r in csv.DictReader(f, delimiter="\t")]


def predicted(perfc: str, folder: pathlib.Path, row: Row) -> dict:
    form, dims = ("pir", ["--dim", f"b={row.batch}", "--dim", f"s={row.tokens}"]) if row.tokens else (
        "pt2", ["--batch", str(row.batch)])
    return judging.predicted(perfc, folder / f"{row.model}.{form}", *dims, "--device", row.device, "--runtime",
                             row.runtime, "--dtype", row.dtype, "--top", "0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--judge", action="store_true", help="the models that judge, not those that may be looked at")
    parser.add_argument("--perfc", default=str(ROOT / "build" / "release" / "perfc"))
    args = parser.parse_args()

    rows = [r for r in mlperf(args.shared) + triton(args.shared) + onnxruntime() if may_be_looked_at(r) != args.judge]
    groups = collections.defaultdict(list)
    orders = collections.defaultdict(list)
    with judging.unpacked(HERE / "models.tar.xz") as folder:
        for row in rows:
            p = predicted(args.perfc, folder, row)
            ratio, inside = judging.beside(p, row.ms)
            groups[row.source, row.runtime, row.dtype, row.model].append((ratio, inside))
            orders[row.source, row.model, row.tokens, row.device, row.runtime, row.dtype].append((row.batch, row.ms,
                                                                                      p["latency_ms"]))
            tokens = f", {row.tokens} tokens" if row.tokens else ""
            print(f"{row.model:22} {row.device:18} {row.runtime:12} {row.dtype:5} batch {row.batch:3}{tokens}  "
                  f"measured {row.ms:8.3f} ms, predicted / measured {ratio:5.2f}{'' if inside else ' *'}")
    print("\n| rows | runtime | dtype | model | n | MAPE | median predicted / measured | inside the 90 % interval |")
    print("|---|---|---|---|---|---|---|---|")
    everything = [x for ratios in groups.values() for x in ratios]
    for key, ratios in [*sorted(groups.items()), (("all", "", "", ""), everything)]:
        mape = 100 * statistics.mean(abs(r - 1) for r, _ in ratios)
        median = math.exp(statistics.median(math.log(r) for r, _ in ratios))
        inside = 100 * statistics.mean(i for _, i in ratios)
        source, runtime, dtype, model = key
        print(f"| {source} | {runtime} | {dtype} | {model} | {len(ratios)} | {mape:.1f} % | {median:.2f} | "
              f"{inside:.0f} % |")
    wrong = sum(1 for series in orders.values() for a in series for b in series
                if a[1] / a[0] < 0.95 * b[1] / b[0] and a[2] / a[0] > b[2] / b[0])
    print(f"\nbatch sizes of one model ordered wrongly by time per sample: {wrong}")


if __name__ == "__main__":
    main()
