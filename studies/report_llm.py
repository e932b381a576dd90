"""Decoding of language models on one H100, beside ML.ENERGY's measurements (../shared/data/energy, Apache-2.0); a
section of docs/accuracy.md. Nothing is fitted on these rows: they are reported.

    python3 studies/report_llm.py [--perfc build/release/perfc]

A row is a server under load (vLLM): its mean time between tokens is requests in flight / tokens per second, prefill
included. perfc predicts one decoding step for as many requests, bfloat16, compiled: products of weights, and attention
over a cache as long as half of the mean answer. Prompts, which the rows do not tell, and prefill are left out.
"""
import argparse
import csv
import gzip
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judging  # noqa: E402
import tables  # noqa: E402
from language_model_pir import forward  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT.parent / "shared/data/energy/ml_energy_v3_leaderboard.csv.gz"
# Layers, hidden, heads, key and value heads, width of a head, of the feed-forward layer, vocabulary: the models'
# config.json.
MODELS = {
    "meta-llama/Llama-3.1-8B-Instruct": (32, 4096, 32, 8, 128, 14336, 128256),
    "Qwen/Qwen3-8B": (36, 4096, 32, 8, 128, 12288, 151936),
    "Qwen/Qwen3-14B": (40, 5120, 40, 8, 128, 17408, 151936),
    "Qwen/Qwen3-32B": (64, 5120, 64, 8, 128, 25600, 151936),
}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--perfc", default=str(ROOT / "build/release/perfc"))
    args = p.parse_args()
    with gzip.open(ROWS, "rt", newline="") as f:
        rows = [
            r for r in csv.DictReader(f)
            if r["model_id"] in MODELS and r["gpu_model"] == "H100" and r["num_gpus"] == "1"
        ]
    errors = {}
    for r in sorted(rows, key=lambda r: (r["model_id"], r["task"], float(r["avg_batch_size"]))):
        batch, cached = max(round(float(r["avg_batch_size"])), 1), max(round(float(r["avg_output_len"]) / 2), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "step.pir"
            path.write_text(forward(batch, 1, cached, *MODELS[r["model_id"]]))
            said = judging.predicted(args.perfc, path, "--device", "h100", "--dtype", "bf16", "--mode", "compiled",
                                     "--predictor", "whitebox")
        ms, watts = said["latency_ms"], said["power_w"]
        measured = {
            "ms": 1e3 * float(r["avg_batch_size"]) / float(r["output_throughput_tokens_per_sec"]), "W": float(
                r["avg_power_watts"]), "J": float(r["energy_per_token_joules"])
        }
        predicted = {"ms": ms, "W": watts, "J": ms * watts / 1e3 / batch}
        e = {k: predicted[k] / measured[k] - 1 for k in measured}
        for k, v in e.items():
            errors.setdefault((r["model_id"], k), []).append(v)
            errors.setdefault(("all", k), []).append(v)
    lines = [
        "## Decoding of language models: H100, ML.ENERGY", "",
        "One decoding step by the whitebox beside the mean time between tokens, power and energy per token of servers "
        "under load.",
        "Nothing is fitted on these rows; scheduling, prefill and prompts, which the rows do not tell, are not "
        "predicted.",
        "MAPE and, in parentheses, the median of predicted to measured.", "",
        "| model | rows | time | power | energy per token |", "|---|---|---|---|---|"
    ]
    for model in [*MODELS, "all"]:
        cells = [
            f"{tables.percent(statistics.mean(map(abs, errors[model, k])))} "
            f"({1 + statistics.median(errors[model, k]):.2f})"
            for k in ("ms", "W", "J")
        ]
        lines.append(f"| {model} | {len(errors[model, 'ms'])} | " + " | ".join(cells) + " |")
    tables.write_section("llm", "studies/report_llm.py", lines)


if __name__ == "__main__":
    main()
