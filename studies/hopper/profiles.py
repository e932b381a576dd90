"""Profiles of one H200 (measured/): what ran, for how long."""
import collections
import csv
import json
import lzma
import pathlib
import re

HERE = pathlib.Path(__file__).parent / "measured"
SMS, CLOCK_MHZ = 132, 1980
GAP_US = 1.2  # between kernels on a stream that is kept busy: what runs take beyond their kernels, per kernel
#: What cuDNN launches around a convolution's own kernel.
BESIDE = ("nchwToNhwcKernel", "nhwcToNchwKernel", "AddPadding", "Memset", "convertTensor", "init_device_workspace",
          "precompute_indices")

Row = collections.namedtuple("Row", "cell position call operator dims types strides arguments kernel grid block us")


def rows(name):
    """Kernels of a table in the order in which they ran."""
    with lzma.open(HERE / f"{name}.tsv.xz", "rt") as file:
        for line in file:
            row = Row(*line.rstrip("\n").split("\t"))
            yield row._replace(us=float(row.us))


def by_cell(name):
    out = collections.OrderedDict()
    for row in rows(name):
        out.setdefault(row.cell, []).append(row)
    return out


def labels(*groups):
    with open(HERE / "labels.tsv", newline="") as file:
        return [r for r in csv.DictReader(file, delimiter="\t") if r["group"] in groups and r["latency_ms"]]


def operator_of(cell):
    """"op/conv?n=1,c=64 fp16 tf32" -> kind, sizes, dtype."""
    kind, sizes, dtype, tf32 = re.fullmatch(r"op/(\w+)\?(\S+) (\w+)( tf32)?", cell).groups()
    return kind, {k: int(v) for k, v in (s.split("=") for s in sizes.split(","))}, "tf32" if tf32 else dtype


def dtype_of(cell):
    """Of a model's cell; what autocast multiplies in for amp."""
    dtype = cell.split(" batch ")[1].split()[1]
    return {"amp": "fp16"}.get(dtype, dtype)


def runs_of(kernels, joined):
    """Kernels of one call together, where `joined` says of an operator that a call may launch several."""
    out = []
    for row in kernels:
        key = (row.call, row.operator, row.dims, row.strides)
        if out and out[-1][0] == key and joined(row.operator):
            out[-1][1].append(row)
        else:
            out.append((key, [row]))
    return [found for _, found in out]


def convolutions(tables):
    """Convolutions of cells: extents, order of channels, µs of their own kernel and of those beside it."""
    for table in tables:
        for cell, kernels in by_cell(table).items():
            for found in runs_of(kernels, lambda o: o == "aten::cudnn_convolution"):
                made = convolution(cell, found)
                if made:
                    yield made


def convolution(cell, found):
    first = found[0]
    if first.operator not in ("aten::cudnn_convolution", "aten::_conv_depthwise2d"):
        return None
    data, weight = json.loads(first.dims)[:2]
    if len(data) != 4:
        return None
    arguments, strides = json.loads(first.arguments), json.loads(first.strides)
    if first.operator == "aten::cudnn_convolution":
        padding, stride, _, groups = (json.loads(a) for a in arguments[2:6])
    else:
        stride, padding, groups = json.loads(arguments[4]), json.loads(arguments[5]), data[1]
    rows_, columns = ((data[i] + 2 * padding[i - 2] - weight[i]) // stride[i - 2] + 1 for i in (2, 3))
    own = [r for r in found if not any(b in r.kernel for b in BESIDE)]
    dtype = operator_of(cell)[2] if cell.startswith("op/") else dtype_of(cell)
    return {"cell": cell, "dtype": dtype, "last": strides[0][1] == 1 and data[1] > 1,
            "n": data[0], "c": data[1], "plane": data[2] * data[3], "k": weight[0], "window": weight[2] * weight[3],
            "stride": stride[0], "groups": groups, "positions": rows_ * columns, "us": sum(r.us for r in own),
            "beside_us": sum(r.us for r in found) - sum(r.us for r in own), "kernels": [r.kernel for r in own]}
