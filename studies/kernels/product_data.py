"""Measured dense products of shared/data as rows of one table, the facts of their devices, and which rows judge."""
import json
import os
import pathlib
import re
import zlib

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = os.environ.get("PERFC_SHARED", str(ROOT.parent / "shared")) + "/data/"

# Names in the measurements -> in data/devices.json
NAMES = {"a100-sxm": "a100-80gb", "h100-sxm": "h100-sxm", "h200-sxm": "h200", "l40s": "l40s",
         "RTX3090": "rtx3090", "RTX4090": "rtx4090",
         "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb", "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
         "Tesla P100-PCIE-16GB": "p100", "Tesla P4": "p4", "Tesla T4": "t4",
         "AMD Instinct MI100": "mi100", "AMD Instinct MI210": "mi210", "mi210": "mi210", "mi355x": "mi355x",
         "b200-sxm": "b200", "b300-sxm": "b300", "gb200": "gb200", "gb300": "gb300"}
BLACKWELL = ("b200-sxm", "b300-sxm", "gb200", "gb300")
GRACE = ("gb200", "gb300")  # beside a Grace CPU
AMD = ("AMD Instinct MI100", "AMD Instinct MI210")  # in float32
AMD_HALF = ("mi210", "mi355x")
GROUPS = {"ga100": ("a100-sxm",), "graphics": ("l40s",), "hopper": ("h100-sxm", "h200-sxm"), "blackwell": BLACKWELL}
VECTOR_CLASSES = {"vector_pascal": "VectorPascal", "vector_volta": "VectorVolta"}  # of float32 before Ampere
VECTOR_GROUPS = {"vector": ("NVIDIA A100-PCIE-40GB",),
                 "vector_pascal": ("Tesla P4", "Tesla P100-PCIE-16GB"),
                 "vector_volta": ("Tesla V100-PCIE-32GB", "Tesla T4")}
BEFORE_AMPERE = tuple(x for g in VECTOR_CLASSES for x in VECTOR_GROUPS[g])
# By which devices a class is fitted, where not by its own: on odd extents, all that NeuSight has, P100's linear layers
# lose a quarter of the peak that its square products reach (square_products.py).
FITTED_BY = {"vector_pascal": BEFORE_AMPERE}
NEUSIGHT = ("Tesla P4", "Tesla P100-PCIE-16GB", "Tesla V100-PCIE-32GB", "Tesla T4", "NVIDIA A100-PCIE-40GB")


NEVER = 1e12  # kNever of whitebox/constants/products.h

SHEETS = {d["name"]: d for d in json.loads((ROOT / "data/devices.json").read_text())["devices"]}


def facts_of(sheet, peak_tflops, vector=False):
    """product_model.FACTS of a data sheet whose units reach that peak; `vector`: they are the vector units."""
    tma, graphics = sheet["architecture"] in ("hopper", "blackwell"), sheet["memory_type"] == "gddr"
    values = (sheet["sms"], sheet["boost_clock_mhz"], peak_tflops, sheet["bandwidth_gb_s"], sheet["l2_mib"],
              sheet["tdp_w"], tma, graphics, peak_tflops, vector and sheet["architecture"] != "pascal")
    return np.array([x * u for x, u in zip(values, (1, 1e6, 1e12, 1e9, 2.0**20, 1, 1, 1, 1e12, 1))])


def load_facts():
    facts = {}
    for name, ours in NAMES.items():
        d = SHEETS[ours]
        vector = name in NEUSIGHT
        peak = d["vector_tflops"]["float32"] if vector else d["matrix_tflops"]["float32" if name in AMD else "bfloat16"]
        facts[name] = facts_of(d, peak, vector)
    return facts


FACTS = load_facts()


def sm_flops(devices):
    """FLOPs per clock of an SM, on average."""
    return np.mean([FACTS[x][2] / (FACTS[x][0] * FACTS[x][1]) for x in devices])


def class_row(chip):
    """Constants of a row of kProducts (whitebox/constants/products.h), as text; `chip`: its name, "VectorVolta"."""
    text = (ROOT / "whitebox/constants/products.h").read_text()
    return re.search(rf"// {chip}\n\s*\{{([^}}]*)\}}", text).group(1).split(",")


def class_constants(chip, names):
    """The first of them as numbers, as many as `names`."""
    return np.array([NEVER if x.strip() == "kNever" else float(x) for x in class_row(chip)[:len(names)]])


def split_of(*shape):
    """0: judged once a form is chosen (20 %); 1: chooses the form (20 %); 2: fits."""
    return min(zlib.crc32(",".join(map(str, shape)).encode()) % 5, 2)


def table(d, split, **columns):
    """Columns of every source: batch, ea, ew, eo (bytes per element), rotate (copies of a weight that take turns)."""
    d = d.assign(**{**dict(batch=1, ea=2.0, ew=2.0, eo=2.0, rotate=0.0), **columns})
    d["part"] = [split_of(*s) for s in zip(*(d[c] for c in split))]
    return d.reset_index(drop=True)


def bf16():
    """torch.nn.functional.linear, cuBLAS; one library version per device; six copies of each weight take turns."""
    d = pd.concat([pd.read_csv(DATA + f"datacenter/gemm_bf16_torch{s}.csv.xz") for s in ("", ".l40s")])
    d = d[d.version.isin(["0.24.0", "0.5.10"])]
    return table(d.assign(t=d.latency_ms * 1e-3), ("m", "n", "k"), rotate=6.0)


def fp32():
    """torch.matmul and linear in float32 without TF32 by NeuSight; times of 150 µs and less are the host's."""
    d = pd.read_csv(DATA + "ops_neusight/ops_train.csv.gz")
    d = d[d.op.isin(["bmm", "linear"])].rename(columns=dict(B="b", M="m", N="n", K="k"))
    d = d[(d.latency_ms > 0.15)].astype(dict(b=int, m=int, n=int, k=int))
    d = d.groupby(["device", "op", "b", "m", "n", "k"], as_index=False).latency_ms.median()
    return table(d.assign(t=d.latency_ms * 1e-3), ("b", "m", "n", "k"), batch=d.b, ea=4.0, ew=4.0, eo=4.0, rotate=1.0)


def amd_fp32():
    """torch.bmm and linear in float32 by NeuSight on MI100 and MI210 (ROCm, rocBLAS: matrix cores)."""
    frames = [pd.read_csv(DATA + f"ops_amd/test__{op}__{device.replace(' ', '_')}.csv.gz",
                          usecols=["OPName", "Latency", "B", "M", "N", "K"]).assign(device=device)
              for op in ("bmm", "linear") for device in AMD]
    d = pd.concat(frames).rename(columns=dict(OPName="op", B="b", M="m", N="n", K="k"))
    d = d[d.Latency > 0.15].astype(dict(b=int, m=int, n=int, k=int))
    d = d.groupby(["device", "op", "b", "m", "n", "k"], as_index=False).Latency.median()
    return table(d.assign(t=d.Latency * 1e-3), ("b", "m", "n", "k"), batch=d.b, ea=4.0, ew=4.0, eo=4.0, rotate=1.0)


def amd_bf16():
    """Kernels in bfloat16 that AMD's tuner of products found fastest, most of them hipBLASLt's or AMD's own: MI210,
    aiter/configs/bf16_tuned_gemm.csv of aviallon/aiter-gfx90a (commit 58666153), and of gfx950 with 256 compute units,
    taken for MI355X, the same of ROCm/aiter (commit 032c54e4), which writes float32. Both MIT."""
    d = pd.read_csv(ROOT / "studies/kernels/cdna_products.tsv", sep="\t")
    return table(d.assign(t=d.us * 1e-6), ("n", "k"), eo=d.result_bytes)


# Llama-3.1-8B's layers: n, k
LLAMA = {"qkv_proj": (6144, 4096), "q_proj": (4096, 4096), "k_proj": (1024, 4096), "o_proj": (4096, 4096),
         "gate_up_proj": (28672, 4096), "gate_proj": (14336, 4096), "down_proj": (4096, 14336),
         "lm_head": (128256, 4096)}


def geforce():
    """Layers of Llama-3.1-8B in vLLM by LLMServingSim, RTX 4090 and 3090: bf16, from one token on."""
    new = pd.read_csv(DATA + "llmservingsim/perf__RTX4090__meta-llama__Llama-3.1-8B__bf16__tp1__dense.csv.gz")
    old = pd.read_csv(DATA + "llmservingsim/v0__RTX3090__meta-llama__Llama-3.1-8B__tp1__layers.csv.gz")
    old = old.rename(columns={"layer_name": "layer", "input": "tokens", "tp_size": "tp"})
    old = old.groupby(["layer", "tokens"], as_index=False)["latency(ns)"].median()
    d = pd.concat([new.assign(device="RTX4090", t=new.time_us * 1e-6),
                   old.assign(device="RTX3090", t=old["latency(ns)"] * 1e-9)])
    d = d[d.layer.isin(LLAMA)]
    d = d.assign(m=d.tokens, n=[LLAMA[x][0] for x in d.layer], k=[LLAMA[x][1] for x in d.layer])
    return table(d[["device", "m", "n", "k", "t"]], ("m", "n", "k"))


def vidur():
    """Projections of language models in fp16 by vidur, A100 and H100: independent of every fit."""
    frames = []
    for path in sorted(pathlib.Path(DATA + "vidur/data/profiling/compute").glob("*/*/*/mlp.csv.gz")):
        v = pd.read_csv(path)
        parts, head = v.num_tensor_parallel_workers, v.n_embd // v.n_head
        up = v.n_expanded_embd * np.where(v.use_gated_mlp, 2, 1) // parts
        shapes = {"attn_pre_proj": ((v.n_head + 2 * v.n_kv_head) * head // parts, v.n_embd),
                  "attn_post_proj": (v.n_embd, v.n_embd // parts), "mlp_up_proj": (up, v.n_embd),
                  "mlp_down_proj": (v.n_embd, v.n_expanded_embd // parts)}
        for op, (n, k) in shapes.items():
            frames.append(pd.DataFrame({"device": "h100-sxm" if "/h100/" in str(path) else "a100-sxm", "op": op,
                                        "m": v.num_tokens, "n": n, "k": k, "t": v[f"time_stats.{op}.median"] * 1e-3}))
    d = pd.concat(frames)
    return table(d[d.t > 0].dropna(), ("m", "n", "k"))


def rows(d):
    return d[["batch", "m", "n", "k", "ea", "ew", "eo", "rotate"]].to_numpy(float)


def facts(d):
    return np.stack([FACTS[x] for x in d.device])
