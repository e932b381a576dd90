r"""Times of memory-bound kernels from data sheets and shapes: constants of whitebox/price/memory_bound_time.cpp.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scipy
    /tmp/venv/bin/python studies/kernels/memory_bound.py --shared ../shared [--judge] \
        [--cases tests/fixtures/memory_bound_cases.tsv]

Data: NeuSight's operators (float32; P4, P100, V100, T4, A100, MI100, MI210; an operator's time is that between two
events, or the host's where that is longer) and Vidur's (float16; A100, H100; the kernels' own times). One set of
constants for all devices; a device is its data sheet, never its name.

    launch + (dram^p + sm^p)^(1/p)
    dram = (read + again · read + written) · (1 - share found in the L2 cache) / (share · bandwidth)
    sm   = max(rows / SMs · clocks of a row in a full SM, clocks of a row alone) / clock

vLLM's kernels take a thread block for each row, as many at a time as an SM has threads for: what the last of these
waves lacks in rows costs a share `waves` of what they would.

The protocol was written down before the first fit: a shape (kernel and extents) whose CRC-32 is 0, 1 or 2 modulo 10
judges and is never fitted; "left out": all shapes of a device judge, fitted without the device.
"""
import argparse
import collections
import csv
import gzip
import json
import pathlib
import sys
import zlib

import numpy as np
from scipy.optimize import least_squares

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The device's entry in data/devices.json, by the name that the data has.
NEUSIGHT = {
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "Tesla P100-PCIE-16GB": "p100",
    "Tesla P4": "p4",
    "Tesla T4": "t4",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "AMD Instinct MI100": "mi100",
    "AMD Instinct MI210": "mi210"
}
VIDUR = {"a100": "a100-80gb", "h100": "h100-sxm"}
AMD = ("mi100", "mi210")
IN_LINE = ("p4", "t4")  # GDDR whose ECC bits lie in the same memory; HBM has bits of its own

LANES = 64  # float32 lanes of the SMs that a layer norm's clocks are for; others have 128
JUDGED_AS = {"gelu": "elementwise"}  # as when the shapes that judge were drawn
# Of vLLM's kernels the most threads of a block, and columns that one takes: csrc/{layernorm,activation,pos_encoding}_*
THREADS = {"rms_norm": (1024, 1), "gated": (1024, 1), "rotary": (512, 2)}
WARP_COLUMNS = 128  # of a layer norm's row, that a warp loads at a time
PASCAL = ("p4", "p100")  # whose layer norms take longer per row than those of all later chips: not fitted
# Of whitebox/price/memory_bound_time.cpp, where GELU is elementwise with clocks of its own; the others are vLLM's.
SHIPPED = ("elementwise", "softmax_warp", "softmax_block", "layer_norm", "gather")
BINARY, UNARY = ("add", "div", "mul", "pow"), ("addu", "divu", "gelu", "mulu", "powu", "relu", "tanh")
KINDS = ("elementwise", "softmax_warp", "softmax_block", "layer_norm", "gather", "gelu", "rms_norm", "rotary", "gated")
SOFTMAX_WARP = 1024  # columns up to which a warp keeps its row in registers: SoftMax.cu, host_softmax
SMALL_GATHER = 16  # rows up to which index_select walks over rows: Indexing.cu, indexSelectSmallIndex


def devices():
    """{name: data sheet in SI units}"""
    table = {d["name"]: d for d in json.loads((ROOT / "data/devices.json").read_text())["devices"]}
    return {
        n:
        dict(bandwidth=d["bandwidth_gb_s"] * 1e9,
             sms=d["sms"],
             clock=d["boost_clock_mhz"] * 1e6,
             l2=d["l2_mib"] * 2**20,
             lanes=d["vector_tflops"]["float32"] * 1e6 / (2 * d["sms"] * d["boost_clock_mhz"]),
             ecc_in_line=n in IN_LINE)
        for n, d in table.items() if d["kind"] == "gpu" and d.get("sms")
    }


class Rows:
    """Measured kernels as columns; `at(mask)` keeps some."""

    def __init__(self, columns):
        self.__dict__.update(columns)

    def at(self, mask):
        return Rows({k: v[mask] for k, v in self.__dict__.items()})

    def __len__(self):
        return len(self.us)


def judges(*key):
    return zlib.crc32("_".join(map(str, key)).encode()) % 10 < 3


COLUMNS = "device op kind rows columns read written width us judges".split()


def rows_of(records):
    """`records`: (device, operator, kind, rows, columns, bytes read, bytes written, bytes per element, µs, judges)"""
    columns = {n: np.array([r[i] for r in records]) for i, n in enumerate(COLUMNS)}
    for n in ("rows", "columns", "read", "written", "width", "us"):
        columns[n] = columns[n].astype(float)
    sheets = devices()
    for fact in ("bandwidth", "sms", "clock", "l2", "lanes", "ecc_in_line"):
        columns[fact] = np.array([sheets[d][fact] for d in columns["device"]], dtype=float)
    return Rows(columns)


def load_neusight(shared):
    records = []

    def add(device, op, b, h, us):
        kind = {
            "ln": "layer_norm",
            "softmax": "softmax_warp" if h <= SOFTMAX_WARP else "softmax_block"
        }.get(op, "elementwise")
        elements = b * h
        records.append(
            (device, op, kind, b, h, 4 * elements * (2 if op in BINARY else 1), 4 * elements, 4, us, judges(op, b, h)))

    with gzip.open(shared / "data/ops_neusight/ops_train.csv.gz", "rt", newline="") as f:
        for r in csv.DictReader(f):
            if r["op"] not in ("bmm", "linear"):
                add(NEUSIGHT[r["device"]], r["op"], int(float(r["B"])), int(float(r["H"])),
                    float(r["latency_ms"]) * 1e3)
    for path in sorted((shared / "data/ops_amd").glob("train__*.csv.gz")):
        with gzip.open(path, "rt", newline="") as f:
            for r in csv.DictReader(f):
                add(NEUSIGHT[r["Device"]], r["OPName"], int(r["B"]), int(r["H"]), float(r["Latency"]) * 1e3)
    return rows_of(records)


def walked(*parts):
    """Columns of a row that a thread block rotates part by part, two to a thread: threads without any cost half."""
    step = 2 * min(THREADS["rotary"][0], parts[0] / 2)
    return sum((part + step * np.ceil(part / step)) / 2 for part in parts)


def load_vidur(shared):
    """Kernels of language models; the mean of some twenty runs in ticks of 1 µs, or the median beside outliers. What a
    time is of: vidur/profiling/mlp/mlp_impl.py, and Sarathi's layers, which it runs."""
    kinds = {
        "emb": "gather",
        "input_layernorm": "rms_norm",
        "post_attention_layernorm": "rms_norm",
        "attn_rope": "rotary",
        "mlp_act": "gated",
        "add": "elementwise"
    }
    records = []
    for path in sorted((shared / "data/vidur/data/profiling/compute").glob("*/*/*/mlp.csv.gz")):
        with gzip.open(path, "rt", newline="") as f:
            for r in csv.DictReader(f):
                tokens, parts, width = int(r["num_tokens"]), int(r["num_tensor_parallel_workers"]), int(r["n_embd"])
                inner = int(r["n_expanded_embd"]) / parts
                head = width / int(r["n_head"])
                queries, keys = (int(r[n]) / parts * head for n in ("n_head", "n_kv_head"))
                phi = path.parent.name == "phi-2"  # layer norm, GELU; the others RMS norm, gated SiLU
                for name, kind in kinds.items():
                    mean, median = (r.get(f"time_stats.{name}.{s}") or "0" for s in ("mean", "median"))
                    ms = float(mean) if abs(float(mean) - float(median)) <= max(0.0007, 0.03 *
                                                                                float(median)) else float(median)
                    if ms <= 0:
                        continue
                    if phi:
                        kind = {"rms_norm": "layer_norm", "gated": "gelu"}.get(kind, kind)
                    if phi and name == "add":  # attention, perceptron and residual: two kernels
                        ms /= 2
                    columns = {"rotary": queries + keys, "gated": inner, "gelu": inner}.get(kind, width)
                    elements = tokens * columns
                    if kind == "rotary":
                        columns = walked(queries, keys)
                    read = {
                        # Tokens of other workers' words all read the first row.
                        "gather": elements / parts + width * (parts > 1),
                        "rotary": elements + tokens * head,  # with its sines and cosines
                        "gated": 2 * elements,
                        "elementwise": 2 * elements
                    }.get(kind, elements)
                    records.append((VIDUR[path.parents[2].name], kind, kind, tokens, columns, 2 * read, 2 * elements, 2,
                                    ms * 1e3, judges(JUDGED_AS.get(kind, kind), path.parent.name, parts, tokens)))
    return rows_of(records)


# ---- The model: whitebox/price/memory_bound_time.cpp computes the same

# cache_use is as it was when attention_model.py was fitted with it; free it is 0.675.
SHARED = dict(share=0.85, share_in_line=0.76, cache_use=0.683)
# Clocks of an SM: per row, column, byte; of a row alone: fixed, per column. `again`: further reads; `overlap`: p.
NAMES = ("row", "column", "byte", "alone", "alone_column", "again", "lanes", "waves")
KIND = {k: dict(dict.fromkeys(NAMES, 0.0), overlap=4.0) for k in KINDS}
KIND["gated"]["lanes"] = 0.2  # as of a layer norm's clocks, of those that are arithmetic
FREE = {
    "elementwise": ("byte", "overlap"),
    "softmax_warp": ("column", "overlap"),
    "softmax_block": ("column", "again", "overlap"),
    "layer_norm": ("row", "column", "alone_column", "again", "lanes", "overlap"),
    "gather": ("column", "row", "alone", "overlap"),
    "gelu": ("column", "overlap"),
    "rms_norm": ("row", "column", "alone_column", "overlap", "waves"),
    "rotary": ("row", "column", "alone", "alone_column", "overlap", "waves"),
    "gated": ("row", "column", "alone_column", "overlap", "waves")
}
START = dict(row=300.0,
             column=0.7,
             byte=0.05,
             alone=1000.0,
             alone_column=0.5,
             again=0.5,
             lanes=0.6,
             waves=0.5,
             overlap=2.0,
             between=3.0)


RESIDENT = {"layer_norm": 16, "softmax_block": 2}  # rows on an SM of 2,048 threads: blocks of 128 and of 1,024


def missed(x, held):
    """Share that the L2 cache does not hold of what a kernel meets again after `held` bytes."""
    return 1 / (1 + (x["cache_use"] * x["l2"] / held)**4)


def dram_s(x, kind, shared, again):
    """Seconds that DRAM takes. A row is read `again` while others of the same SMs are read and written."""
    share = np.where(x.ecc_in_line > 0, shared["share_in_line"], shared["share"])
    cache = {"cache_use": shared["cache_use"], "l2": x.l2}
    moved = x.read + x.written
    resident = np.minimum(1, x.sms * RESIDENT.get(kind, 1) / x.rows)
    repeated = again * x.read * missed(cache, moved * resident)
    return (moved + repeated) * missed(cache, moved) / (share * x.bandwidth)


def whole_waves(x, kind, c):
    """Rows, and of those that the last wave of thread blocks has room for a share."""
    if kind not in THREADS:
        return x.rows
    most, each = THREADS[kind]
    at_once = x.sms * np.floor(2048 / np.minimum(most, np.ceil(x.columns / each / 32) * 32))
    return x.rows + c["waves"] * (at_once * np.ceil(x.rows / at_once) - x.rows)


def sm_s(x, kind, c):
    """Seconds that the multiprocessors take."""
    columns = WARP_COLUMNS * np.ceil(x.columns / WARP_COLUMNS) if kind == "layer_norm" else x.columns
    full = (whole_waves(x, kind, c) * (c["row"] + c["column"] * columns) + c["byte"] * (x.read + x.written)) / x.sms
    full = full * (1 + c["lanes"] * (LANES / x.lanes - 1))  # part of it is arithmetic
    alone = c["alone"] + c["alone_column"] * x.columns
    if kind == "gather":  # the row index is a load of its own, and few rows are walked one after the other
        alone = np.where(x.rows <= SMALL_GATHER, c["row"] * x.rows, c["alone"])
        full = c["column"] * x.rows * x.columns / x.sms
    return np.maximum(full, alone) / x.clock


def work_us(x, kind, shared, c):
    p = c["overlap"]
    return (dram_s(x, kind, shared, c["again"])**p + sm_s(x, kind, c)**p)**(1 / p) * 1e6


# ---- Fits


def fit(residuals, start, bounds):
    """Least squares on logarithms of positive parameters, outliers damped."""
    low, high = np.log(np.array(bounds, dtype=float).T)
    solution = least_squares(residuals,
                             np.clip(np.log(start), low + 1e-6, high - 1e-6),
                             bounds=(low, high),
                             loss="soft_l1",
                             f_scale=0.1)
    return np.array([float(f"{v:.3g}") for v in np.exp(solution.x)])  # as whitebox/constants/memory_bound.h has them


class Host:
    """What the measurement adds to NeuSight's times: per device and operator the least that the host takes, per device
    what lies between the events. Known (the device's own, of shapes that do not judge) or the others' mean."""

    def __init__(self, floor, gap):
        self.floor, self.gap = floor, gap

    @staticmethod
    def mean(values):
        return float(np.exp(np.mean(np.log(values))))

    def floor_of(self, device, op, others):
        return self.mean([self.floor[d, op] for d in others]) if others else self.floor[device, op]

    def gap_of(self, device, others):
        return self.mean([self.gap[d] for d in others]) if others else self.gap[device]


def floors(x):
    out = {}
    for d in set(x.device):
        for o in set(x.op[x.device == d]):
            out[d, o] = float(np.quantile(x.us[(x.device == d) & (x.op == o)], 0.03))
    return out


def sample(x, per_group, key, seed=0):
    """At most so many rows per group."""
    rng, keep = np.random.default_rng(seed), []
    groups = collections.defaultdict(list)
    for i, k in enumerate(zip(*(getattr(x, k) for k in key))):
        groups[k].append(i)
    for members in groups.values():
        keep += list(rng.permutation(members)[:per_group])
    return x.at(np.array(sorted(keep)))


def join(work, floor):
    """Longer of two that overlap, without a corner."""
    return (work**8 + floor**8)**(1 / 8)


def measured_us(x, kind, shared, c, gap, floor):
    return join(work_us(x, kind, shared, c) + gap, floor)


def fit_shared(neusight, vidur, floor):
    """Shares of the bandwidth and the clocks of a launch, on elementwise operators of all devices; with them
    each device's gap."""
    x = sample(neusight.at(neusight.kind == "elementwise"), 40, ("device", "op"))
    y = sample(vidur.at(vidur.op == "elementwise"), 700, ("device", ))
    low = np.array([floor[d, o] for d, o in zip(x.device, x.op)])
    names = sorted(set(x.device))
    index = np.array([names.index(d) for d in x.device], dtype=int)

    def unpack(p):
        shared = dict(SHARED, share=p[0], share_in_line=p[1], launch=p[2])
        return shared, dict(KIND["elementwise"], overlap=p[3], byte=p[4]), p[5:]

    def residuals(logs):
        shared, c, gaps = unpack(np.exp(logs))
        of_operators = measured_us(x, "elementwise", shared, c, gaps[index], low) / x.us
        of_kernels = kernel_us(y, "elementwise", shared, c) / y.us
        return np.log(np.concatenate([of_operators, of_kernels]))

    p = fit(residuals, [0.85, 0.76, 2000, 3, 0.05] + [15] * len(names),
            [(0.5, 1), (0.5, 1), (300, 10000), (1, 10), (1e-3, 1)] + [(3, 60)] * len(names))
    shared, c, gaps = unpack(p)
    return shared, c, Host(floor, dict(zip(names, gaps)))


BOUNDS = dict(row=(0.1, 5000),
              column=(1e-3, 20),
              alone=(1, 30000),
              alone_column=(1e-3, 10),
              again=(1e-3, 3),
              lanes=(0.01, 1),
              waves=(0.01, 1),
              overlap=(1, 10),
              between=(0.1, 40))


def kernel_us(x, kind, shared, c):
    """A kernel's own time, launch included."""
    return shared["launch"] / x.clock * 1e6 + work_us(x, kind, shared, c)


def operator_us(x, kind, shared, c, host, others=None):
    """An operator's time as NeuSight measured it; `others`: the devices that stand for one whose host is unknown."""
    gap = np.array([host.gap_of(d, others) for d in x.device]) + c.get("between", 0.0)
    floor = np.array([host.floor_of(d, o, others) for d, o in zip(x.device, x.op)])
    return measured_us(x, kind, shared, c, gap, floor)


def fit_kind(kind, shared, neusight, vidur, host):
    """Constants of one kind. `between`: µs between events beyond an elementwise
    operator's."""
    free = FREE[kind] + ("between", )
    if kind == "layer_norm":
        neusight = without(neusight, PASCAL)
    x = sample(neusight.at(neusight.kind == kind), 400, ("device", )) if (neusight.kind == kind).any() else None
    y = sample(vidur.at(vidur.kind == kind), 1200, ("device", )) if (vidur.kind == kind).any() else None

    def constants(p):
        return dict(KIND[kind], **dict(zip(free, p)))

    def residuals(logs):
        c = constants(np.exp(logs))
        parts = [operator_us(x, kind, shared, c, host) / x.us] if x else []
        parts += [kernel_us(y, kind, shared, c) / y.us] if y else []
        return np.log(np.concatenate(parts))

    return constants(fit(residuals, [START[n] for n in free], [BOUNDS[n] for n in free]))


def fit_all(neusight, vidur, floor):
    shared, elementwise, host = fit_shared(neusight, vidur, floor)
    kinds = {k: fit_kind(k, shared, neusight, vidur, host) for k in KINDS if k != "elementwise"}
    return shared, dict(kinds, elementwise=elementwise), host


# ---- What is reported

GROUPS = {
    "elementwise": ("elementwise", ),
    "softmax": ("softmax_warp", "softmax_block"),
    "layer norm": ("layer_norm", )
}


def roofline_us(x):
    """What nothing fitted says: 0.8 of the bandwidth and 3 µs."""
    return (x.read + x.written) / (0.8 * x.bandwidth) * 1e6 + 3


class Report:
    """Errors by two keys (protocol and group of kernels) and device; prints MAPE/median, each device counting the
    same."""

    def __init__(self):
        self.found = collections.defaultdict(dict)

    def add(self, protocol, group, device, predicted_us, x):
        if len(x):
            self.found[protocol, group][device] = 100 * np.abs(predicted_us / x.us - 1)

    def print(self):
        for (protocol, group), by_device in self.found.items():
            mape, median = (np.mean([f(e) for e in by_device.values()]) for f in (np.mean, np.median))
            cells = ", ".join(f"{d} {np.mean(e):.1f}/{np.median(e):.1f}" for d, e in by_device.items())
            print(f"| {protocol} | {group} | **{mape:.1f}/{median:.1f}** | {cells} |")


SEEN = "unseen shapes, seen devices"


def judge_operators(report, protocol, x, fitted, others=None):
    shared, kinds, host = fitted
    for group, members in GROUPS.items():
        for device in sorted(set(x.device)):
            parts = [(k, x.at((x.kind == k) & (x.device == device))) for k in members]
            parts = [(k, part) for k, part in parts if len(part)]
            predicted = np.concatenate([operator_us(part, k, shared, kinds[k], host, others) for k, part in parts])
            actual = Rows({"us": np.concatenate([part.us for _, part in parts])})
            least = np.concatenate([[host.floor[d, o] for d, o in zip(part.device, part.op)] for _, part in parts])
            report.add(protocol, group, device, predicted, actual)
            if protocol == SEEN:
                rooflines = [
                    join(
                        roofline_us(part) + host.gap_of(device, None),
                        np.array([host.floor_of(device, o, None) for o in part.op])) for _, part in parts
                ]
                report.add("roofline, host known", group, device, np.concatenate(rooflines), actual)
            busy = actual.us > 1.2 * least
            report.add(protocol + ", device-bound rows", group, device, predicted[busy], actual.at(busy))


def judge_kernels(report, protocol, x, fitted):
    shared, kinds, _ = fitted
    for kind in KINDS:
        for device in sorted(set(x.device)):
            part = x.at((x.kind == kind) & (x.device == device))
            if len(part):
                report.add(protocol, f"{kind} (Vidur)", device, kernel_us(part, kind, shared, kinds[kind]), part)
                if protocol == SEEN:
                    report.add("roofline", f"{kind} (Vidur)", device, roofline_us(part), part)


# ---- Cases for tests/unit/memory_bound_time_test.cpp

FACTS = ("bandwidth", "l2", "sms", "clock", "lanes")
PROBLEM = ("rows", "columns", "read", "written")


def write_cases(path, rows, shared, kinds, per_group=4):
    """A few rows per kind and device with what the model makes of them, constants as shipped."""
    lines = [
        "# Written by studies/kernels/memory_bound.py --cases; bandwidth is what kernels reach of it.",
        "\t".join(["kind", *FACTS, *PROBLEM, "memory_us", "multiprocessor_us", "work_us"])
    ]
    for kind in SHIPPED:
        x = sample(rows.at(rows.kind == kind), per_group, ("device", ))
        share = np.where(x.ecc_in_line > 0, shared["share_in_line"], shared["share"])
        memory, sm = dram_s(x, kind, shared, kinds[kind]["again"]) * 1e6, sm_s(x, kind, kinds[kind]) * 1e6
        work = work_us(x, kind, shared, kinds[kind])
        for i in range(len(x)):
            facts = [x.bandwidth[i] * share[i], x.l2[i], x.sms[i], x.clock[i], x.lanes[i]]
            values = facts + [getattr(x, n)[i] for n in PROBLEM] + [memory[i], sm[i], work[i]]
            lines.append("\t".join([kind] + [f"{v:.9g}" for v in values]))
    path.write_text("\n".join(lines) + "\n")


def without(x, devices):
    return x.at(~np.isin(x.device, devices))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--shared", type=pathlib.Path, required=True)
    p.add_argument("--judge",
                   action="store_true",
                   help="also judge on the shapes that are never fitted (docs/judged.md lists each look)")
    p.add_argument("--cases", type=pathlib.Path, help="write cases for the unit test")
    args = p.parse_args()
    neusight, vidur = load_neusight(args.shared), load_vidur(args.shared)
    train, kernels = neusight.at(~neusight.judges), vidur.at(~vidur.judges)
    floor = floors(train)
    nvidia = [d for d in NEUSIGHT.values() if d not in AMD]
    report = Report()
    fitted = fit_all(without(train, AMD), kernels, floor)
    print(json.dumps({"shared": fitted[0], "kinds": fitted[1], "gaps_us": fitted[2].gap}, indent=1), file=sys.stderr)
    if args.cases:
        both = rows_of([tuple(getattr(x, n)[i] for n in COLUMNS) for x in (train, kernels) for i in range(len(x))])
        write_cases(args.cases, both, *fitted[:2])
    look = (lambda x: x.at(x.judges)) if args.judge else (lambda x: x.at(~x.judges))
    judge_operators(report, SEEN, look(without(neusight, AMD)), fitted)
    judge_kernels(report, SEEN, look(vidur), fitted)
    for left in nvidia:
        rest = [d for d in nvidia if d != left]
        # An A100 of the other source would tell what the left-out one's memory does.
        found = fit_all(without(train, (left, *AMD)),
                        without(kernels, ("a100-80gb", )) if left.startswith("a100") else kernels, floor)
        part = look(neusight.at(neusight.device == left))
        host = Host(floor, dict(found[2].gap, **{left: fitted[2].gap[left]}))
        judge_operators(report, "device left out, host known", part, (found[0], found[1], host))
        judge_operators(report, "device left out, host unknown", part, found, rest)
    for left, other in (("a100-80gb", "h100-sxm"), ("h100-sxm", "a100-80gb")):
        rest = without(train, (*AMD, "a100-pcie-40gb")) if left.startswith("a100") else without(train, AMD)
        judge_kernels(report, "device left out", look(vidur.at(vidur.device == left)),
                      fit_all(rest, without(kernels, (left, )), floor))
    amd = fit_all(train, kernels, floor)[2].gap  # for the hosts alone
    host = Host(floor, dict(fitted[2].gap, **{d: amd[d] for d in AMD}))
    part = look(neusight.at(np.isin(neusight.device, AMD)))
    judge_operators(report, "AMD left out, host known", part, (fitted[0], fitted[1], host))
    judge_operators(report, "AMD left out, host unknown", part, fitted, nvidia)
    report.print()


if __name__ == "__main__":
    main()
