#!/usr/bin/env python3
"""Judges perfc on NVIDIA/DeepLearningExamples' models of speech, segmentation, detection, forecasting, recommendation
and language, as NVIDIA timed them on A100, V100 and T4 from 2020 to 2022.

    python3 studies/nvidia_examples/judge.py --shared ../shared --look      models that may be looked at, row by row
    python3 studies/nvidia_examples/judge.py --shared ../shared --judge     those that judge, as a table

Rows: ../shared/data/latency_nvidia (BSD-3-Clause, Apache-2.0). programs.tar.xz: programs of the same operators and
shapes in perfc's text form, written from the papers and the repository's configurations; README.md says how each is run
and timed. docs/judged.md has the rule and every look.
"""
import collections
import concurrent.futures
import csv
import gzip
import pathlib
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import judging  # noqa: E402

DEVICES = {"A100": "a100-80gb", "V100": "v100-32gb", "T4": "t4"}
EAGER, ENGINE = ("--runtime", "pytorch"), ("--runtime", "tensorrt-8")
AUDIO_FRAMES = 693   # of FastPitch's 8.05 s
WAVE_SAMPLES = 664 * 256  # of HiFi-GAN's utterance: its latencies times its throughputs
DURATIONS = ("2.0s", "7.0s", "16.7s")
SPEECH_BATCHES = (1, 2, 4, 8, 16)

Run = collections.namedtuple("Run", "model program device options ms")


def autocast(r):
    return {"fp16": "amp", "mixed": "amp", "tf32": "tf32", "fp32": "fp32"}[r["precision"]]


def device(r):
    if r["gpu"] == "V100" and r["gpu_mem_gb"].startswith("16"):
        return "v100-16gb"
    return "a100-40gb" if r["gpu"] == "A100" and "A100 40GB" in r["heading_path"] else DEVICES[r["gpu"]]


def batch(r):
    return int(float(r["batch"]))


def number(r, *columns):
    return next((float(r[c]) for c in columns if r[c]), None)


def speech(model, rows):
    """Per GPU and precision a line of names and 15 rows: of each duration, all batches."""
    tables = collections.defaultdict(list)
    for r in rows:
        tables[r["table_id"], r["heading_path"], r["precision"]].append(r)
    for table in tables.values():
        for i, r in enumerate(table[1:]):
            duration, size = DURATIONS[i // len(SPEECH_BATCHES)], SPEECH_BATCHES[i % len(SPEECH_BATCHES)]
            yield Run(model, f"{model}-{duration}-{size}", device(r), (*EAGER, "--dtype", r["precision"]),
                      number(r, "latency_p16", "latency_p32", "latency_unspec"))


def hifigan(rows):
    for r in rows:
        denoises = "no denoising" not in r["context"]
        halves = denoises and r["precision"] == "fp16"  # the generator alone
        kind = "denoise_half" if halves else "denoise" if denoises else "plain"
        dtype = "default" if halves else r["precision"]
        yield Run("hifigan", f"hifigan-{kind}-{batch(r)}", device(r), (*EAGER, "--dtype", dtype),
                  1e3 * batch(r) * WAVE_SAMPLES / float(r["throughput"]))


def fastpitch(rows):
    for r in rows:
        if r["throughput_unit"] == "frames/sec":
            yield Run("fastpitch", f"fastpitch--{batch(r)}", device(r), (*EAGER, "--dtype", r["precision"]),
                      1e3 * batch(r) * AUDIO_FRAMES / float(r["throughput"]))


def nnunet(rows):
    for r in rows:
        dim = "2d" if batch(r) >= 32 else "3d"
        yield Run(f"nnunet-{dim}", f"nnunet-{dim}-{batch(r)}", device(r), (*EAGER, "--dtype", autocast(r)),
                  number(r, "latency_ms_avg"))


def ssd300(rows):
    for r in rows:
        yield Run("ssd300", f"ssd300--{batch(r)}", device(r), (*EAGER, "--dtype", autocast(r)),
                  number(r, "latency_ms_from_throughput"))


def efficientdet(rows):
    for r in rows:
        yield Run("efficientdet-d0", f"efficientdet--{batch(r)}", device(r), (*EAGER, "--dtype", autocast(r)),
                  number(r, "latency_ms_from_throughput"))


def moflow(rows):
    for r in rows:
        yield Run("moflow", f"moflow--{batch(r)}", device(r),
                  (*EAGER, "--dtype", autocast(r), "--layout", "nhwc"), number(r, "latency_ms_avg"))


def ncf(rows):
    for r in rows:
        yield Run("ncf", f"ncf--{batch(r)}", device(r), (*EAGER, "--dtype", r["precision"]),
                  number(r, "latency_avg") * 1e3)


def transformer_xl(rows):
    for r in rows:
        script = r["context"].rstrip("* ").endswith("TorchScript")
        kind = 2 * ("Large" in r["heading_path"]) + script
        yield Run("transformer-xl", f"transformer_xl-{kind}-{batch(r)}", device(r), (*EAGER, "--dtype", r["precision"]),
                  number(r, "latency_ms_avg"))


def offline(rows):
    """Of Triton's rows those of one client, with the time in its backend."""
    return [r for r in rows if r["latency_ms_server_compute_infer"] and "Offline" in r["heading_path"]]


def tft(rows):
    for r in offline(rows):
        kind = 2 + ("traffic" in r["heading_path"])
        engine = "TensorRT" in r["heading_path"]
        dtype = "fp16" if engine else "tf32" if r["gpu"] == "A100" else "fp32"
        # PyTorch's backend does not wait for the device before it says that it is done.
        ms = number(r, "latency_ms_server_compute_infer" if engine else "latency_ms_avg")
        yield Run("tft", f"tft-{kind}-{batch(r)}", device(r), (*(ENGINE if engine else EAGER), "--dtype", dtype), ms)


def wide_and_deep(rows):
    for r in offline(rows):
        if "TensorRT" in r["heading_path"]:
            yield Run("wide-and-deep", f"wide_and_deep--{batch(r)}", device(r), (*ENGINE, "--dtype", "fp16"),
                      number(r, "latency_ms_server_compute_infer"))


def gpunet(rows):
    names = {"05ms-D": "0.5ms-D", "065ms": "0.65ms", "085ms": "0.85ms", "08ms-D": "0.8ms-D", "125ms-D": "1.25ms-D",
             "175ms": "1.75ms", "225ms-D": "2.25ms-D"}
    for r in offline(rows):
        yield Run("gpunet", f"gpunet-{names[r['model_dir'].rsplit('/', 1)[1]]}-{batch(r)}", device(r),
                  (*ENGINE, "--dtype", "fp16"), number(r, "latency_ms_server_compute_infer"))


#: README of the repository that has the rows → how they are read
SOURCES = {
    "PyTorch/SpeechRecognition/Jasper/README.md": lambda rows: speech("jasper", rows),
    "PyTorch/SpeechRecognition/QuartzNet/README.md": lambda rows: speech("quartznet", rows),
    "PyTorch/SpeechSynthesis/HiFiGAN/README.md": hifigan,
    "PyTorch/SpeechSynthesis/FastPitch/README.md": fastpitch,
    "PyTorch/Segmentation/nnUNet/README.md": nnunet,
    "PyTorch/Detection/SSD/README.md": ssd300,
    "PyTorch/Detection/Efficientdet/README.md": efficientdet,
    "PyTorch/DrugDiscovery/MoFlow/README.md": moflow,
    "PyTorch/Recommendation/NCF/README.md": ncf,
    "PyTorch/LanguageModeling/Transformer-XL/README.md": transformer_xl,
    "PyTorch/Forecasting/TFT/triton/README.md": tft,
    "TensorFlow2/Recommendation/WideAndDeep/triton/README.md": wide_and_deep,
    **{f"PyTorch/Classification/GPUNet/triton/{name}/README.md": gpunet
       for name in ("05ms-D", "065ms", "085ms", "08ms-D", "125ms-D", "175ms", "225ms-D")},
}


def runs(shared):
    rows = collections.defaultdict(list)
    with gzip.open(shared / "data/latency_nvidia/deeplearningexamples.csv.gz", "rt", newline="") as f:
        for r in csv.DictReader(f):
            if r["task"] == "inference":
                rows[r["source_path"]].append(r)
    return [run for source, read in SOURCES.items() for run in read(rows[source])]


def may_be_looked_at(run):
    return zlib.crc32(run.model.encode()) % 2 == 0


def main():
    parser = judging.parser(__doc__, "models", "of perfc's, for PyTorch's rows")
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    args = parser.parse_args()
    with judging.unpacked(HERE / "programs.tar.xz") as folder:
        judge(args, folder)


def judge(args, folder):
    def of(run):
        host = judging.host(args) if run.options[1] == "pytorch" else []
        return run, judging.predicted(args.perfc, folder / f"{run.program}.pir", "--device", run.device, *run.options,
                                      *host)

    tables = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for run, said in pool.map(of, [r for r in runs(args.shared) if may_be_looked_at(r) == args.look]):
            bound = "host" if judging.is_host_bound(said) else "device"
            beside = judging.beside(said, run.ms)
            tables[run.model, run.options[1], run.device, run.options[3], bound].append(beside)
            if args.look:
                print(f"{run.program} {run.device} {run.options[1]} {run.options[3]} {bound}: measured {run.ms:.4g} "
                      f"ms, device {said['device_ms']:.4g}, host {said['host_ms']:.4g}, predicted ÷ measured "
                      f"{beside[0]:.2f}{'' if beside[1] else ', outside the interval'}")
    judging.print_table(["model", "runtime", "device", "dtype", "bound by"], sorted(tables.items()))


if __name__ == "__main__":
    main()
