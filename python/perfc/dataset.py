"""Builds the training set of the latency predictor and its published splits.

    PYTHONPATH=python python3 -m perfc.dataset build --shared ../shared --out build/dataset
    PYTHONPATH=python python3 -m perfc.dataset splits --dataset build/dataset --out data/splits
    PYTHONPATH=python python3 -m perfc.dataset measured labels.csv --out build/mine

`build` unpacks timm's graphs (../shared/graphs) below OUT and writes OUT/labels.csv, the
format of docs/gnn.md, and OUT/all.csv, a split with every architecture in training, from
timm's own benchmark runs (../shared/data/timm, Apache-2.0):
inference under AMP on RTX 3090, 4090 and 5090, eager and compiled, nchw and nhwc.
Runs are labelled with the TorchScript graph, which shows what was launched, and a third of them
again with the ONNX export, which is what users have (it may hold constants of one image's batch).
--forms all writes every run with both. Compiled attention is the stack's (perfc devices --stacks).
Rows are left out, counted by reason, never in silence.

Single operators come from NeuSight's timings (../shared/data/ops_neusight, MIT): float32 on
A100, V100, T4, P100 and P4. Each becomes a graph of one operator in perfc's text form below
OUT/operators, with labels in OUT/operators.csv; OPERATORS of each kind and device are drawn, by
geometry, so that devices share them. Their family is "operator": they belong to no fold.

`splits` writes one CSV (architecture,split) per split: R.csv, 70/15/15 % of the
architectures at random, and F0.csv to F9.csv, each with a tenth of the families as test.
Architectures with identical graphs are one architecture. Families are timm's modules.

`measured` joins files of `python -m perfc.measure` (docs/own-device.md) into OUT/labels.csv, paths put right, and
counts what it leaves out: rows that are not ok, modes that perfc does not predict, what is flagged with one of
--without, what is measured twice. Models of the list --test go into OUT/test.csv, to judge by; the rest is
OUT/labels.csv, to learn from. OUT/all.csv puts all of these into training.
"""
import argparse
import collections
import csv
import gzip
import hashlib
import json
import os
import pathlib
import sys
import tarfile

from perfc import files

FOLDS = 10
NORMS = pathlib.Path(__file__).resolve().parents[2] / "data/timm_norms.tsv"  # made by python/timm_norms.py
# torch 2.5 changed the reference attention (it computes in float32 since): runs of
# these families, and of architectures so named, on torch 2.4 are of other kernels than perfc predicts.
CHANGED_SINCE_24 = ("nest", "vision_transformer_sam", "mobilenetv4_hybrid")
# Exporters drop or repeat a few parameters; beyond this share of them it is another network.
OTHER_NETWORK = 0.4
# The files do not say which runs had `--fast-norm`; networks with GroupNorm do, which are 1.5 times
# slower without, 1.2 times compiled: runs on RTX 3090 and 4090 had it, those on RTX 5090 had not.
RUNS = [  # file, device, mode, layout, column of data/timm_norms.tsv where it ran with --fast-norm
    ("nchw-pt240-cu124-rtx3090", "rtx3090", "eager", "nchw", "timm_1_0_9"),
    ("nhwc-pt240-cu124-rtx3090", "rtx3090", "eager", "nhwc", "timm_1_0_9"),
    ("nchw-pt240-cu124-rtx4090", "rtx4090", "eager", "nchw", "timm_1_0_9"),
    ("nhwc-pt240-cu124-rtx4090", "rtx4090", "eager", "nhwc", "timm_1_0_9"),
    ("nchw-pt240-cu124-rtx4090-dynamo", "rtx4090", "compiled", "nchw", "timm_1_0_9"),
    ("nchw-pt291-cu128-4090", "rtx4090", "eager", "nchw", "timm_1_0_24"),
    ("nchw-pt291-cu128-4090-dynamo", "rtx4090", "compiled", "nchw", "timm_1_0_24"),
    ("nchw-pt291-cu130-5090", "rtx5090", "eager", "nchw", None),
    ("nchw-pt291-cu130-5090-dynamo", "rtx5090", "compiled", "nchw", None),
]
FORMS = [("torchscript", "timm_torchscript.tar.xz", ".json"), ("onnx", "timm.tar.xz", ".onnx")]
OPERATORS = 100
NEUSIGHT_DEVICES = {
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "Tesla T4": "t4",
    "Tesla P100-PCIE-16GB": "p100",
    "Tesla P4": "p4",
}
# NeuSight's name -> inputs (dimensions by column), and the operator on them. "u": with a scalar.
NEUSIGHT_OPERATORS = {
    "add": (["B H", "B H"], "add({})"), "mul": (["B H", "B H"], "multiply({})"),
    "div": (["B H", "B H"], "divide({})"), "pow": (["B H", "B H"], "power({})"),
    "addu": (["B H", ""], "add({})"), "mulu": (["B H", ""], "multiply({})"),
    "divu": (["B H", ""], "divide({})"), "powu": (["B H", ""], "power({})"),
    "relu": (["B H"], "nn.relu({})"), "gelu": (["B H"], "nn.gelu({})"), "tanh": (["B H"], "tanh({})"),
    "softmax": (["B H"], "nn.softmax({}, axis=-1)"), "ln": (["B H", "H", "H"], "nn.layer_norm({}, axis=-1)"),
    "bmm": (["B M K", "B K N"], "nn.batch_matmul({})"), "linear": (["M K", "K N", "N"], "nn.dense({})"),
    "conv": (["B in_channels input_size input_size", "out_channels in_channels kernel kernel"],
             "nn.conv2d({{}}, strides=[{stride}, {stride}], padding=[{padding}, {padding}, {padding}, {padding}])"),
}
COLUMNS = ["model", "batch", "device", "dtype", "mode", "layout", "norms", "stack", "task", "pacing", "latency_ms",
           "memory_mib", "energy_j", "source", "licence", "architecture", "family", "form"]
STACK = "pytorch-2.10"  # of timm's runs, by PyTorch 2.4 and 2.9


def read_tsv(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def unpack(archive, folder):
    done = folder / ".unpacked"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            for member in tar:
                if member.isfile():
                    target = folder / pathlib.PurePosixPath(member.name).name
                    with files.writing(target, "wb") as f:
                        f.write(tar.extractfile(member).read())
        done.touch()


def signature(path):
    """Equal for graphs that differ in names only."""
    with open(path) as f:
        graph = json.load(f)
    digest = hashlib.sha256()
    digest.update(json.dumps([[i["dtype"], i["shape"]] for i in graph["inputs"]]).encode())
    for node in graph["nodes"]:
        digest.update(
            json.dumps([node["op"], node.get("attributes"), [o.get("shape") for o in node["outputs"]]],
                       sort_keys=True).encode())
    return digest.hexdigest()


def same_architectures(folder):
    """Name of an architecture -> the first of those that share a graph with it."""
    parent = {}

    def find(a):
        while parent.setdefault(a, a) != a:
            a = parent[a]
        return a

    first = {}
    for path in sorted(folder.glob("*.json")):
        name = path.name.split(".")[0].rsplit("_", 1)[0]
        other = find(first.setdefault(signature(path), name))
        a, b = sorted((find(name), other))
        parent[b] = a
    return {name: find(name) for name in list(parent)}


def operator_graph(kind, geometry):
    """The text form (docs/architecture.md) of one operator of NeuSight's."""
    inputs, call = NEUSIGHT_OPERATORS[kind]
    if kind == "conv":
        call = call.format(**geometry)
    parameters, operands, body = [], [], ""
    for name, dims in zip("xyz", inputs):
        sizes = [geometry[d] for d in dims.split()]
        if sizes:
            parameters.append(f"%{name}: Tensor[({', '.join(sizes)}{',' if len(sizes) == 1 else ''}), float32]")
            operands.append(f"%{name}")
        else:  # a scalar, as a constant
            operands.append(f"%{len(parameters)}")
            body = f"  %{len(parameters)} = const[2.0] : Tensor[(), float32];\n"
    result = f"%{len(inputs)}"
    return f'#[version = "perfc-ir/1"]\ndef @{kind}({", ".join(parameters)}) {{\n{body}' \
           f'  {result} = {call.format(", ".join(operands))};\n  ({result})\n}}\n'


def operators(shared, out, wanted):
    """Rows of labels.csv for `wanted` operators of each kind and device; writes their graphs."""
    measured = collections.defaultdict(list)
    for name in ("ops_train", "conv_train"):
        with gzip.open(shared / f"data/ops_neusight/{name}.csv.gz", "rt", newline="") as f:
            for r in csv.DictReader(f):
                kind, device, latency = r.pop("op", "conv"), r.pop("device"), r.pop("latency_ms")
                if kind in NEUSIGHT_OPERATORS:  # one row repeats the header
                    measured[kind, NEUSIGHT_DEVICES[device]].append(({k: v for k, v in r.items() if v}, latency))
    (out / "operators").mkdir(exist_ok=True)
    for (kind, device), rows in sorted(measured.items()):
        named = sorted(((f"{kind}_{'x'.join(g.values())}", g, latency) for g, latency in rows),
                       key=lambda row: draw(row[0], "operator"))
        for name, geometry, latency in named[:wanted]:
            path = out / "operators" / f"{name}.pir"
            if not path.exists():
                files.write_text(path, operator_graph(kind, geometry))
            yield [
                path.relative_to(out), "", device, "fp32", "eager", "nchw", "full", "", "infer", "awaited", latency, "",
                "", "NeuSight", "MIT", name, "operator", "pir"
            ]


def is_wanted(form, row, forms):
    """Which forms of a run's graph are written."""
    return forms == "all" or form == "torchscript" or row % 3 == 0


def build(shared, out, forms, wanted_operators):
    families = {r["arch"]: r["family"] for r in read_tsv(shared / "graphs/families.tsv")}
    aliases = {(r["csv_arch"], r["img_size"]): pathlib.PurePosixPath(r["file"]).stem
               for r in read_tsv(shared / "graphs/aliases.tsv")}
    params = {pathlib.PurePosixPath(r["file"]).name: r["params"] for r in read_tsv(shared / "graphs/MANIFEST.tsv")}
    for form, archive, _ in FORMS:
        unpack(shared / "graphs" / archive, out / form)
    same = same_architectures(out / "torchscript")
    classes = {r["arch"]: r for r in read_tsv(NORMS)}

    def norms(version, arch):
        return "half" if version and arch in classes and classes[arch][version] == "fast" else "full"

    def graphs_params(stem):
        """Parameters of the network as it is trained and of the reparameterised one; 0 where there is no such graph."""
        return [float(params.get(f"{stem}{x}.onnx") or 0) for x in ("", ".reparam")]

    def reparameterised(stem, param_count):
        """Did the run time the reparameterised network? Its parameter count tells."""
        plain, other = graphs_params(stem)
        if not plain or not other:
            return False
        count = float(param_count) * 1e6
        return abs(other - count) < abs(plain - count)

    def is_another(stem, param_count):
        """Did the run time another network of that name? timm's ecaresnext50t_32x4d grew from 2 layers a stage to 3
        to 6."""
        graphs = [count for count in graphs_params(stem) if count]
        return bool(graphs) and all(abs(count / (float(param_count) * 1e6) - 1) > OTHER_NETWORK for count in graphs)

    counts = collections.Counter()
    architectures = set()
    with files.writing(out / "labels.csv", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(COLUMNS)
        for run, device, mode, layout, fast_norm in RUNS:
            with open(shared / f"data/timm/benchmark-infer-amp-{run}.csv", newline="") as g:
                rows = list(csv.DictReader(g))
            for number, r in enumerate(rows):
                name, size = r["model"].split(".")[0], r["infer_img_size"]
                stem = aliases.get((name, size), f"{name}_{size}")
                arch = stem.rsplit("_", 1)[0]
                family = families.get(arch) or families.get(name)
                if family is None:
                    counts["left out: family not known"] += 1
                    continue
                if "pt240" in run and (family in CHANGED_SINCE_24 or arch.startswith(CHANGED_SINCE_24)):
                    counts["left out: attention changed after torch 2.4"] += 1
                    continue
                if is_another(stem, r["param_count"]):
                    counts["left out: other parameters than the graph's"] += 1
                    continue
                reparam = ".reparam" if reparameterised(stem, r["param_count"]) else ""
                for form, _, suffix in FORMS:
                    if not is_wanted(form, number, forms):
                        continue
                    path = out / form / f"{stem}{reparam}{suffix}"
                    if not path.exists():
                        counts[f"left out: no {form} graph"] += 1
                        continue
                    writer.writerow([
                        path.relative_to(out), r["infer_batch_size"], device, "amp", mode, layout,
                        norms(fast_norm, arch), STACK, "infer", "awaited", r["infer_step_time"], "", "", f"timm {run}",
                        "Apache-2.0", same.get(arch, arch), family, form
                    ])
                    architectures.add(same.get(arch, arch))
                    counts[f"{run} {form}"] += 1
    with files.writing(out / "operators.csv", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in operators(shared, out, wanted_operators):
            writer.writerow(row)
            architectures.add(row[COLUMNS.index("architecture")])
            counts[f"operators on {row[COLUMNS.index('device')]}"] += 1
    with files.writing(out / "all.csv") as f:
        f.write("architecture,split\n")
        f.writelines(f"{a},training\n" for a in sorted(architectures))
    for what, count in sorted(counts.items()):
        print(f"{count:6d}  {what}")


def measured(paths, out, without, test):
    """Joins labels of perfc.measure; `test` names the targets to judge by."""
    parts, counts, seen, targets = {"labels": [], "test": []}, collections.Counter(), set(), set()
    for path in paths:
        with open(path, newline="") as f:
            reader = csv.DictReader(f)
            if "target" not in (reader.fieldnames or ()):
                raise ValueError(f"{path}: has no column 'target': it is not a file of perfc.measure")
            for row in reader:
                targets.add(row["target"])
                cell = tuple(row[c] for c in ("target", "batch", "device", "dtype", "mode", "layout", "task"))
                doubtful = sorted(set(row["flags"].split("+")) & set(without))
                why = (f"status {row['status']}"
                       if row["status"] != "ok" else "mode cuda-graph" if row["mode"] == "cuda-graph" else
                       f"flagged {doubtful[0]}" if doubtful else "measured twice" if cell in seen else "")
                if why:
                    counts[f"left out: {why}"] += 1
                    continue
                seen.add(cell)
                part = "test" if row["target"] in test else "labels"
                row["model"] = os.path.relpath(pathlib.Path(path).parent / row["model"], out)
                own = {"form": pathlib.PurePath(row["model"]).suffix[1:], "norms": "full", "stack": "",
                       "pacing": row.get("pacing", "queued")}  # older files have no such column
                parts[part].append([own[c] if c in own else row[c] for c in COLUMNS])
                counts[f"{part}.csv, {row['device']}"] += 1
    if missing := sorted(set(test) - targets):
        raise ValueError(f"--test: '{missing[0]}' is not in the labels" +
                         (f", and {len(missing) - 1} more" if missing[1:] else ""))
    out.mkdir(parents=True, exist_ok=True)
    for part, rows in parts.items():
        if part == "test" and not test:
            continue
        with files.writing(out / f"{part}.csv", newline="") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(rows)
    with files.writing(out / "all.csv") as f:
        f.write("architecture,split\n")
        f.writelines(f"{a},training\n" for a in sorted({row[COLUMNS.index("architecture")] for row in parts["labels"]}))
    for what, count in sorted(counts.items()):
        print(f"{count:6d}  {what}")


def draw(name, salt):
    """A number in [0, 1) that depends on the name alone."""
    return int.from_bytes(hashlib.sha256(f"{salt}:{name}".encode()).digest()[:8], "big") / 2**64


def splits(dataset, out):
    with open(dataset / "labels.csv", newline="") as f:
        family_of = {r["architecture"]: r["family"] for r in csv.DictReader(f) if r["family"] != "operator"}
    out.mkdir(parents=True, exist_ok=True)

    def write(name, part_of):
        with files.writing(out / f"{name}.csv") as f:
            f.write("architecture,split\n")
            f.writelines(f"{a},{part_of(a)}\n" for a in sorted(family_of))

    def random_part(a):
        x = draw(a, "R")
        return "training" if x < 0.7 else "validation" if x < 0.85 else "test"

    write("R", random_part)
    # Families go to the fold that has the fewest architectures, the largest first.
    sizes = collections.Counter(family_of.values())
    load, fold_of = [0] * FOLDS, {}
    for family, size in sorted(sizes.items(), key=lambda kv: (-kv[1], kv[0])):
        fold_of[family] = min(range(FOLDS), key=lambda k: (load[k], k))
        load[fold_of[family]] += size
    for k in range(FOLDS):
        write(f"F{k}", lambda a: "test" if fold_of[family_of[a]] == k else "training")
    print(f"{len(family_of)} architectures of {len(sizes)} families; folds of {min(load)} to {max(load)}")


def main():
    p = argparse.ArgumentParser(prog="perfc.dataset", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="what", required=True)
    b = sub.add_parser("build", help="unpack graphs, write labels.csv")
    b.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    b.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/dataset"))
    b.add_argument("--forms", choices=["usual", "all"], default="usual", help="see above")
    b.add_argument("--operators", type=int, default=OPERATORS, help="of each kind and device [%(default)s]")
    s = sub.add_parser("splits", help="write the published splits")
    s.add_argument("--dataset", type=pathlib.Path, default=pathlib.Path("build/dataset"))
    s.add_argument("--out", type=pathlib.Path, default=pathlib.Path("data/splits"))
    m = sub.add_parser("measured", help="join labels of perfc.measure")
    m.add_argument("labels", nargs="+")
    m.add_argument("--out", type=pathlib.Path, required=True)
    m.add_argument("--without", default="",
                   help="comma-separated flags whose rows are left out: spread, energy, memory, throttled")
    m.add_argument("--test", type=pathlib.Path, help="list of the models to judge by")
    args = p.parse_args()
    try:
        if args.what == "build":
            build(args.shared, args.out, args.forms, args.operators)
        elif args.what == "splits":
            splits(args.dataset, args.out)
        else:
            test = [w[0] for w in (line.partition("#")[0].split() for line in args.test.read_text().splitlines()) if w
                   ] if args.test else []
            measured(args.labels, args.out, [f for f in args.without.split(",") if f], test)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as e:
        sys.exit(f"perfc.dataset: error: {e}")


if __name__ == "__main__":
    files.exit_with(main)
