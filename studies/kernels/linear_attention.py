#!/usr/bin/env python3
"""Attention without a softmax (gated delta networks), and the causal convolution before it.

    python3 studies/kernels/linear_attention.py [--shared ../shared]                      fits
    python3 studies/kernels/linear_attention.py --judge [--perfc build/release/perfc]     what perfc says

The fit: the constants of flash-linear-attention's chunked kernels (whitebox/constants/linear_attention.h) on all
devices of shared/data/datacenter/gated_delta_net, runs of vLLM and of SGLang 0.5.14 (but its H200, 3.5 times as slow as
others'), then each class of chips left out. TensorRT-LLM's runs of its own build of these kernels judge.

--judge: perfc beside a sample of the runs, by kernel, and beside linear_attention.tsv: ONNX Runtime's own table of an
H200, float16, 16 heads of queries and keys, 48 of values, 128 channels (its documentation of contributed operators,
gdn.md, §7 and §11; µs of a call, of which ONNX Runtime's Run has 13; of one and four tokens µs of the kernel). Of
GatedDeltaNet the kernels that today's rule takes. Its constants are of that page, too: the page cannot judge them, but
what was fitted elsewhere.
"""
import csv
import json
import pathlib
import random
import statistics
import tempfile

import emitted
import numpy as np
from product_data import NAMES
from scipy.optimize import least_squares

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NET = """#[version = "perfc-ir/1"]
def @main(%q: Tensor[({b}, {t}, {qk}), {dtype}], %k: Tensor[({b}, {t}, {qk}), {dtype}],
          %v: Tensor[({b}, {t}, {width}), {dtype}], %s: Tensor[({b}, {heads}, 128, 128), float32],
          %g: Tensor[({b}, {t}, {heads}), float32], %e: Tensor[({b}, {t}, {heads}), float32]) {{
  %6:2 = nn.linear_attention(%q, %k, %v, %s, %g, %e, q_num_heads={keys}, kv_num_heads={heads});
  (%6.0, %6.1)
}}
"""
TOKEN_MAJOR = """#[version = "perfc-ir/1"]
def @main(%q: Tensor[({b}, {t}, {keys}, 128), {dtype}], %k: Tensor[({b}, {t}, {keys}, 128), {dtype}],
          %v: Tensor[({b}, {t}, {heads}, 128), {dtype}], %g: Tensor[({b}, {t}, {heads}), float32],
          %e: Tensor[({b}, {t}, {heads}), float32], %s: Tensor[({b}, {heads}, 128, 128), float32]) {{
  %6:2 = nn.gated_delta_net(%q, %k, %v, _, %g, %e, %s);
  (%6.0, %6.1)
}}
"""
CONVOLUTION = """#[version = "perfc-ir/1"]
def @main(%x: Tensor[({b}, {channels}, {t}), {dtype}], %s: Tensor[({b}, {channels}, 3), {dtype}]) {{
  %2 = weight : Tensor[({channels}, 1, 4), {dtype}];
  %3:2 = nn.causal_conv(%x, %2, _, %s, activation="silu");
  (%3.0, %3.1)
}}
"""
CHUNK = 64
KERNELS = 7
RUN_US = 13
CHIPS = {"L40S": ["l40s"], "Hopper": ["h100-sxm", "h200-sxm"],
         "Blackwell": ["b200-sxm", "b300-sxm", "gb200", "gb300"]}
TODAY = (("vllm", "0.24.0"), ("sglang", "0.5.14"))
SLOW = ("h200-sxm", "sglang")
EACH = 150  # runs of a kernel on a device that judge, drawn by a fixed seed
PEOPLE = {"chunk_gated_delta_rule": "chunks", "chunk_gated_delta_rule_triton": "chunks",
          "fused_recurrent_gated_delta_rule": "one token",
          "fused_recurrent_gated_delta_rule_packed_decode": "one token",
          "causal_conv1d_fn": "convolution", "causal_conv1d_update": "convolution of one token"}


def runs(shared):
    """Measured µs by (device, framework, version, kernel, batch, tokens, heads of keys, heads of values)."""
    out = {}
    for r in emitted.datacenter(shared, "gated_delta_net"):
        key = (r["device"], r["framework"], r["version"], r["kernel_source"],
               *(int(r[c]) for c in ("batch_size", "seq_len", "num_k_heads", "num_v_heads")))
        out[key] = float(r["latency_ms"]) * 1e3
    return out


def chunked(measured, own):
    """Rows of chunked kernels in Triton, the median of versions: (device, framework, batch, tokens, heads, µs)."""
    found = {}
    for (device, framework, version, kernel, batch, tokens, keys, heads), us in measured.items():
        slow = (device, framework) == SLOW
        if PEOPLE.get(kernel) != "chunks" or tokens < 2 or slow or (framework == "trtllm") == own:
            continue
        found.setdefault((device, framework, batch, tokens, keys, heads), []).append(us)
    return [(d, fw, b, t, h, statistics.median(us)) for (d, fw, b, t, _, h), us in found.items()]


def predicted(parameters, rows, devices):
    launch, wait, clocks, bytes_of_token, resident, empty = parameters
    of = [devices[NAMES[r[0]]] for r in rows]
    sms, mhz, gb_s, l2 = (np.array([d[f] for d in of], float)
                          for f in ("sms", "boost_clock_mhz", "bandwidth_gb_s", "l2_mib"))
    batch, tokens, heads = (np.array([r[i] for r in rows], float) for i in (2, 3, 4))
    steps = np.ceil(tokens / CHUNK)
    full = empty + (1 - empty) * tokens / (CHUNK * steps)
    computed = np.maximum(batch * heads * steps * full * clocks / sms, steps * wait) / mhz
    moved = batch * heads * steps * full * CHUNK * bytes_of_token
    missed = 1 / (1 + (0.683 * l2 * 2**20 / (moved * resident)) ** 4)  # kCacheUse
    return KERNELS * (2 + launch) + np.hypot(computed, moved * missed / (0.905 * gb_s * 1e3))


def fit(rows, devices):
    us = np.log([r[5] for r in rows])
    groups = [r[:2] for r in rows]
    weight = 1 / np.sqrt([groups.count(g) for g in groups])
    found = least_squares(lambda x: weight * (np.log(predicted(np.exp(x), rows, devices)) - us),
                          np.log([1, 5000, 28000, 5000, 0.3, 0.6]), loss="soft_l1", f_scale=0.01)
    return np.exp(found.x)


def report(parameters, rows, devices):
    ratio = predicted(parameters, rows, devices) / np.array([r[5] for r in rows])
    for group in sorted({r[:2] for r in rows}):
        of = ratio[[r[:2] == group for r in rows]]
        print(f"  {group[0]:8} {group[1]:7} {len(of):5} runs: {emitted.summary(of)}")


def causal_clocks(measured, devices):
    """Clocks of an SM per byte that causal_conv1d_fn moves: long ones where memory is far from its bandwidth."""
    out = []
    for (device, framework, version, kernel, batch, tokens, keys, heads), us in measured.items():
        bytes_ = 2 * 2 * batch * tokens * 128 * (2 * keys + heads)  # read and written
        long = kernel == "causal_conv1d_fn" and (framework, version) in TODAY and bytes_ > 3e8
        if not long or device not in ("h100-sxm", "h200-sxm", "b200-sxm") or (device, framework) == SLOW:
            continue
        d = devices[NAMES[device]]
        out.append(us * d["boost_clock_mhz"] * d["sms"] / bytes_)
    return statistics.median(out)


def fit_all(shared):
    devices = {d["name"]: d for d in json.loads((ROOT / "data/devices.json").read_text())["devices"]}
    measured = runs(shared)
    print(f"kCausalByteClocks = {causal_clocks(measured, devices):.3f}")
    rows, others = chunked(measured, True), chunked(measured, False)
    found = fit(rows, devices)
    names = ("kLibraryLaunchUs", "kLibraryWaitClocks", "kLibraryChunkClocks", "kLibraryTokenBytes", "kLibraryResident",
             "kLibraryEmptyChunk")
    print(", ".join(f"{n} = {v:.4g}" for n, v in zip(names, found)))
    report(found, rows, devices)
    print("TensorRT-LLM's, which were not fitted")
    report(found, others, devices)
    for chip, names_of in CHIPS.items():
        rest = [r for r in rows if r[0] not in names_of]
        print(f"without {chip}")
        report(fit(rest, devices), [r for r in rows if r[0] in names_of], devices)


def say(perfc, model, device, runtime, dtype="bf16"):
    found = list(emitted.kernels(perfc, model, "--device", device, "--dtype", dtype, "--runtime", runtime))
    return sum(float(k["time_us"]) for k in found)


def judge(perfc, shared):
    by_kernel = {}
    for (device, framework, version, kernel, batch, tokens, keys, heads), us in runs(shared).items():
        kind = PEOPLE.get(kernel)
        today, slow = (framework, version) in TODAY, (device, framework) == SLOW
        known = today or kind == "one token" or (kind == "chunks" and framework == "vllm")
        if kind is None or slow or not known:
            continue
        by_kernel.setdefault((kind, device), []).append((batch, tokens, keys, heads, us))
    chosen = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.pir"
        for (kind, device), all_of in sorted(by_kernel.items()):
            ratios = []
            for batch, tokens, keys, heads, us in chosen.sample(all_of, min(EACH, len(all_of))):
                shape = {"b": batch, "t": tokens, "keys": keys, "heads": heads, "qk": 128 * keys, "width": 128 * heads,
                         "channels": 128 * (2 * keys + heads), "dtype": "bfloat16"}
                model.write_text((CONVOLUTION if kind.startswith("conv") else NET).format(**shape))
                ratios.append(say(perfc, model, NAMES[device], "pytorch") / us)
            print(f"{kind:24} {device:8} {len(ratios):4} runs: {emitted.summary(ratios)}")
        with open(HERE / "linear_attention.tsv", newline="") as f:
            for r in csv.DictReader(f, delimiter="\t"):
                b, t = int(r["sequences"]), int(r["tokens"])
                runtime = "pytorch" if r["of"] == "LibraryChunk" else "onnxruntime"
                text = TOKEN_MAJOR if r["of"].startswith("GatedDeltaNet") else NET
                model.write_text(text.format(b=b, t=t, keys=16, heads=48, qk=2048, width=6144, dtype="float16"))
                us = say(perfc, model, "h200", runtime, "fp16")
                measured = float(r["us"]) - (RUN_US if runtime == "onnxruntime" and t > 4 else 0)
                print(f"h200 {r['of']:18} {b} x {t:5}: {measured:9.1f} us, predicted {us:9.1f}, {us / measured:.2f}")


def main():
    args = emitted.arguments(__doc__)
    if args.judge:
        judge(args.perfc, args.shared)
    else:
        fit_all(args.shared)


if __name__ == "__main__":
    main()
