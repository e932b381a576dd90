#!/usr/bin/env python3
"""Generation of language models on one A100 or H100, beside runs that others published; prints, fits nothing.

    python3 studies/language_models.py [--perfc build/release/perfc] [--framework TensorRT-LLM]

Rows (../shared/data): llm_inference_bench, TensorRT-LLM and vLLM with as many tokens of answer as of prompt; and
lmdeploy_a100, TurboMind. A run is the prompt's forward pass and one step per token of the answer, whose cache grows:
steps at the first, the middle and the last length, by Simpson's rule. 16 bits, compiled, and the device's time alone:
such servers' hosts are C++ or run ahead. Runs whose weights and cache exceed the device wait for memory, and rows that
say less time than reading the weights for every token takes cannot be: both are left out.
"""
import argparse
import collections
import csv
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judging  # noqa: E402
from language_model_pir import forward  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared/data"
# Layers, hidden, heads, key and value heads, width of a head, of the feed-forward layer, vocabulary: the models'
# config.json.
LLAMA_2 = (32, 4096, 32, 32, 128, 11008, 32000)
MODELS = {
    "meta-llama/Llama-2-7b-hf": LLAMA_2,
    "FP16 llama2-7b": LLAMA_2,
    "meta-llama/Meta-Llama-3-8B": (32, 4096, 32, 8, 128, 14336, 128256),
    "mistralai/Mistral-7B-v0.1": (32, 4096, 32, 8, 128, 14336, 32000),
    "Qwen/Qwen2-7B": (28, 3584, 28, 4, 128, 18944, 152064),
}
# perfc's name, GB and GB/s of memory
DEVICES = {"Nvidia A100 GPU": ("a100-40gb", 40, 1555), "Nvidia H100 GPU": ("h100-sxm", 80, 3352),
           "A100-80GB": ("a100-80gb", 80, 2039)}
MOST_OF_MEMORY = 0.9


def milliseconds(perfc, predictor, device, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "step.pir"
        path.write_text(text)
        said = judging.predicted(perfc, path, "--device", device, "--dtype", "fp16", "--mode", "compiled",
                                 "--predictor", predictor)
    low, high = (x / said["latency_ms"] for x in said["latency_ms_interval"])
    return said["device_ms"], low, high


Run = collections.namedtuple("Run", "source device memory_gb gb_s model batch prompt answer seconds first")


def runs():
    with open(DATA / "llm_inference_bench/a100_h100.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["Num of Hardware"] == "1" and r["Model"] in MODELS and r["Framework"] in ("TensorRT-LLM", "vLLM"):
                n = int(r["Input Output Length"])
                yield Run(r["Framework"], *DEVICES[r["Hardware"]], r["Model"], int(r["Batch Size"]), n, n,
                          float(r["Latency"]), None)
    with open(DATA / "lmdeploy_a100/static_inference.csv", newline="") as f:
        for r in csv.DictReader(f):
            if r["model"] in MODELS and r["tp"] == "1" and int(r["prompt_tokens"]) > 1:
                b, n, out = (int(r[x]) for x in ("batch", "prompt_tokens", "output_tokens"))
                yield Run("TurboMind", *DEVICES["A100-80GB"], r["model"], b, n, out,
                          b * out / float(r["throughput(out tok/s)"]), float(r["FTL(min)(s)"]))


def is_judged(run):
    layers, hidden, heads, kv_heads, width, ffn, vocabulary = MODELS[run.model]
    read = 2 * layers * hidden * (2 * heads * width + 2 * kv_heads * width + 3 * ffn) + 2 * vocabulary * hidden
    cache = 4 * layers * kv_heads * width * run.batch * (run.prompt + run.answer)
    fits = read + 2 * vocabulary * hidden + cache < MOST_OF_MEMORY * 1e9 * run.memory_gb
    return fits and run.seconds > run.answer * read / (1e9 * run.gb_s)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    p.add_argument("--predictor", default="default")
    p.add_argument("--framework", help="rows of this one alone")
    p.add_argument("--verbose", action="store_true", help="every run")
    a = p.parse_args()
    found = collections.defaultdict(list)
    first, inside = collections.defaultdict(list), collections.Counter()
    for r in runs():
        if (a.framework and r.source != a.framework) or not is_judged(r):
            continue
        shape = MODELS[r.model]
        prompt = milliseconds(a.perfc, a.predictor, r.device, forward(r.batch, r.prompt, 0, *shape))[0]
        at = [r.prompt + 1, r.prompt + r.answer // 2, r.prompt + r.answer]
        steps, low, high = zip(*(milliseconds(a.perfc, a.predictor, r.device, forward(r.batch, 1, n, *shape))
                                 for n in at))
        seconds = (prompt + r.answer * (steps[0] + 4 * steps[1] + steps[2]) / 6) / 1e3
        key = r.source, r.device, "1" if r.batch == 1 else "2 and more"
        found[key].append(seconds / r.seconds)
        inside[key] += low[1] * seconds <= r.seconds <= high[1] * seconds
        if r.first and r.batch == 1:  # the shortest of several is that of a request without company
            first[r.source, r.device, r.batch].append(prompt / 1e3 / r.first)
        if a.verbose:
            print(f"{r.source} {r.device} {r.model} batch {r.batch}, {r.prompt} + {r.answer}: {seconds:.3f} s of "
                  f"{r.seconds:.3f}, {seconds / r.seconds:.2f}; prompt {prompt:.1f} ms, steps {steps[0]:.2f} to "
                  f"{steps[2]:.2f} ms" + (f"; first {r.first}" if r.first else ""), flush=True)
    for title, table in (("whole", found), ("first token", first)):
        for key, ratios in sorted(table.items(), key=str):
            mape = 100 * statistics.mean(abs(x - 1) for x in ratios)
            print(f"{title}, {', '.join(map(str, key))}: {len(ratios)} runs, MAPE {mape:.1f} %, "
                  f"median predicted / measured {statistics.median(ratios):.2f}" +
                  (f", {inside[key]} within the 90 % interval of the middle step" if table is found else ""))


if __name__ == "__main__":
    main()
