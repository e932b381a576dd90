"""The command line of python -m perfc.measure."""
from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import os
import pathlib
import re
import sys

from perfc import files, isolate
from . import cells, describe
from .backend import Unavailable
from .protocol import PROTOCOLS
from .table import LabelsError, LabelsFile

EPILOG = """LIST is a list of models as for python -m perfc.export (timm/NAME, torchvision/NAME, transformers/NAME or
module:factory, one a line), or the manifest.csv that it wrote. Models of a list are exported to models/ beside the
labels. Every cell (model, batch, dtype, mode, layout, task) runs in a process of its own and is one row, written at
once: the same command again goes on with what is missing. Rows that are not ok say why; --retry-failed measures them
again."""


def words(known):
    def parse(text: str) -> list[str]:
        chosen = text.split(",")
        for word in chosen:
            if word not in known:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(known)}")
        return list(dict.fromkeys(chosen))
    return parse


def batches(text: str) -> list[int]:
    try:
        chosen = [int(b) for b in text.split(",")]
        if min(chosen) < 1:
            raise ValueError
        return list(dict.fromkeys(chosen))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of whole numbers from 1, such as 1,8,32") from None


def seconds(text: str) -> float:
    """"8m", "90s", "1.5h", "480"."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time, such as 8m, 90s or 1.5h")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def parse(argv):
    p = argparse.ArgumentParser(prog="python -m perfc.measure", description=__doc__.splitlines()[0], epilog=EPILOG)
    p.add_argument("lists", metavar="LIST", nargs="*", help="see below")
    p.add_argument("-o", "--output", metavar="FILE", help="labels.csv to write, or to go on with")
    p.add_argument("--ops", action="store_true",
                   help="measure single operators over a designed grid, too: what a device reaches")
    p.add_argument("--device", help=
                   "perfc's name of this device, as in `perfc devices` [what the device calls itself]; with --host, "
                   "the host's name")
    p.add_argument("--backend", choices=("cuda", "cpu"), help="[cuda where torch sees a GPU, else cpu]")
    grid = p.add_argument_group("grid", "comma-separated")
    grid.add_argument("--batch", type=batches, metavar="N,…", help="[1,8,32,128; on a CPU 1,8]")
    grid.add_argument("--dtype", type=words(cells.DTYPES), metavar="D,…",
                      help=f"of {', '.join(cells.DTYPES)} [fp32,fp16,bf16; on a CPU fp32]")
    grid.add_argument("--mode", type=words(cells.MODES), metavar="M,…", default=["eager"],
                      help=f"of {', '.join(cells.MODES)} [eager]")
    grid.add_argument("--layout", type=words(cells.LAYOUTS), metavar="L,…", default=["nchw"],
                      help="of nchw, nhwc [nchw]")
    grid.add_argument("--task", type=words(cells.TASKS), metavar="T,…", default=["infer"],
                      help="of infer, train (a step with Adam) [infer]")
    how = p.add_argument_group("how")
    how.add_argument(
        "--protocol", choices=sorted(PROTOCOLS), default="default", help=
        "default: 5 runs of warm-up, then at least 30 and 1 s, their median, again while the spread is above 5 %% (at "
        "most 3 times); dippm: 5 and 30 runs, their mean [default]")
    how.add_argument("--runs", type=int, metavar="N", help="at least so many")
    how.add_argument("--seconds", type=float, metavar="S", help="at least so long")
    how.add_argument("--budget", type=seconds, metavar="TIME",
                     help="stop after this time, such as 8m, the most informative cells first")
    how.add_argument("--timeout", type=seconds, default=300.0, metavar="TIME", help="of a cell [5m]")
    how.add_argument("--memory-limit", type=float, metavar="MIB",
                     help="of a cell's process, on a CPU [80 %% of what is free]")
    how.add_argument("--threads", type=int, help="of torch, on a CPU [torch's choice]")
    how.add_argument("--retry-failed", action="store_true", help="measure again what was not ok")
    how.add_argument("--licence", default="", help="column of the labels: what may be done with them")
    p.add_argument("--describe", metavar="FILE",
                   help="write a device file of this CPU for perfc's --device-file, and stop")
    p.add_argument("--host", action="store_true",
                   help="write what PyTorch's dispatch takes on this machine, with or without a GPU, for perfc's "
                   "--host (to -o FILE, else to standard output), and stop")
    p.add_argument("--products", action="store_true",
                   help="write what two dozen dense products in 16 bits take on this GPU, for perfc devices calibrate "
                   "(to -o FILE, else to standard output), and stop")
    args = p.parse_args(argv)
    for alone, other in (("host", args.products), ("products", args.host)):
        if getattr(args, alone) and (args.describe or args.lists or args.ops or other):
            p.error(f"--{alone} stands alone: models and operators are measured by another call")
    if args.products and args.dtype not in (None, ["fp16"], ["bf16"]):
        p.error("--products is of one --dtype, fp16 or bf16")
    if args.describe or args.host or args.products:
        return args
    if not args.output:
        p.error("name the labels to write with -o")
    if not args.lists and not args.ops:
        p.error("nothing to measure: name a LIST, or --ops")
    if cells.SESSION in args.mode:
        if args.backend != "cpu":
            p.error(f"mode {cells.SESSION} needs --backend cpu")
        if args.task != ["infer"] or args.dtype not in (None, ["fp32"]) or args.layout != ["nchw"]:
            p.error(f"mode {cells.SESSION} is of inference in fp32, nchw: measure other settings by another call")
    if args.mode == ["cuda-graph"] and args.backend == "cpu":
        p.error("mode cuda-graph needs --backend cuda")
    return args


def find_backend(wanted: str | None) -> str:
    """torch is asked in a process of its own: the parent must not hold a context."""
    if wanted != "cpu":
        os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # NVML's order
        outcome = isolate.call(_cuda_is_available, timeout_s=120)
        if outcome.status != "ok":
            raise Unavailable(outcome.message)
        if wanted == "cuda" and not outcome.value:
            raise Unavailable("--backend cuda: torch sees no GPU")
        if outcome.value:
            return "cuda"
    return "cpu"


def _cuda_is_available(caller) -> bool:
    import torch
    return torch.cuda.is_available()


def make_sensors(backend: str):
    if backend == "cuda":
        from .cuda import CudaSensors
        return CudaSensors()
    from .cpu import CpuSensors
    return CpuSensors()


def find_models(args, folder: pathlib.Path) -> list:
    """Models of the lists with their files; lists are exported first."""
    from perfc.export import batch, operators, targets
    from .session import Model, relative
    models, entries = {}, []

    def add(row: dict, entry, place: pathlib.Path) -> None:
        if row["status"] != "ok":
            isolate.say(f"left out, not exported: {row['target']} {row['format']}: {row['message']}")
            return
        model = models.setdefault(row["target"], Model(entry, row["architecture"], row["family"], {}))
        model.files[row["format"]] = relative(place / row["file"], folder)

    for path in args.lists:
        if path.endswith(".csv"):
            for row in batch.read_manifest(pathlib.Path(path)):
                inputs = tuple(i for i in row["inputs"].split() if i)
                add(row, targets.Entry(row["target"], row["family"], inputs), pathlib.Path(path).parent)
        else:
            entries += targets.read_list(path)
    if args.ops:
        entries += [targets.Entry(t, "operator") for t in operators.designed_grid()]
    by_target = {e.target: e for e in entries if e.target not in models}
    if by_target:
        for row in batch.export_list(list(by_target.values()), ["json"], str(folder / "models"), say=lambda line: None):
            add(row, by_target[row["target"]], folder / "models")
    return list(models.values())


def grid(args, backend: str, models) -> list[cells.Cell]:
    cpu = backend == "cpu"
    out = []
    for kind, batch_sizes in (("model", args.batch or ([1, 8] if cpu else [1, 8, 32, 128])), ("operator", [0])):
        named = [(m.entry.target, m.family) for m in models if (m.family == "operator") == (kind == "operator")]
        tasks = args.task if kind == "model" else ["infer"]
        modes = args.mode if kind == "model" else ["eager"]
        out += cells.grid(named, batch_sizes, args.dtype or (["fp32"] if cpu else ["fp32", "fp16", "bf16"]), modes,
                          args.layout, tasks)
    return out


def main(argv=None) -> int:
    args = parse(argv)
    try:
        if args.describe:
            device = describe.cpu_device(args.device)
            files.write_text(args.describe,
                             json.dumps({"schema": "perfc.devices/1", "devices": [device]}, indent=2) + "\n")
            print(
                f"{args.describe}: {device['name']}, {device['title']}: peaks by its data sheet, as far as the system "
                f"knows"
            )
            return 0
        return measure_host(args) if args.host else measure_products(args) if args.products else run(args)
    except Unavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command goes on", file=sys.stderr)
        return 130


def require_torch() -> None:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise Unavailable("the package torch is not installed: pip install torch") from None


def measure_host(args) -> int:
    require_torch()
    from . import host
    entry = host.entry(find_backend(args.backend), args.device)
    text = json.dumps({"schema": "perfc.hosts/1", "hosts": [entry]}, indent=2, ensure_ascii=False) + "\n"
    write_or_print(args.output, text, f"{entry['name']}, {entry['framework']}: {entry['eager_us']['kernel']} µs per "
                   f"call of one kernel; perfc MODEL --host {args.output}")
    return 0


def write_or_print(output: str | None, text: str, summary: str) -> None:
    """Without a file to write, the text alone goes to standard output."""
    if output:
        files.write_text(output, text)
        print(f"{output}: {summary}")
    else:
        print(text, end="")


def measure_products(args) -> int:
    require_torch()
    from . import products, worker
    name = find_backend(args.backend)
    products.check_backend(name)
    backend = worker.make_backend(name, None)
    device = args.device or describe.device_name(make_sensors(name).host)
    try:
        rows = products.rows(backend, device, args.dtype[0] if args.dtype else products.native_dtype(), isolate.say)
    except RuntimeError as error:  # CUDA's, out of memory among them
        raise Unavailable(f"--products: {str(error).splitlines()[0]}") from None
    text = io.StringIO()
    writer = csv.DictWriter(text, products.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_or_print(args.output, text.getvalue(), f"{len(rows)} products; perfc devices calibrate {args.output}")
    return 0


def run(args) -> int:
    require_torch()
    from perfc.export.errors import ExportError
    from . import session
    protocol = dataclasses.replace(
        PROTOCOLS[args.protocol],
        **{k: v for k, v in (("runs", args.runs), ("seconds", args.seconds)) if v is not None})
    try:
        labels = LabelsFile(args.output)
        if args.retry_failed and (removed := labels.forget_failed()):
            isolate.say(f"{args.output}: {removed} rows that were not ok are measured again")
        backend = find_backend(args.backend)
        sensors = make_sensors(backend)
        models = find_models(args, pathlib.Path(args.output).parent)
        options = session.Options(
            backend=backend, device=args.device or describe.device_name(sensors.host), protocol=protocol,
            budget_s=args.budget, timeout_s=args.timeout, threads=args.threads, licence=args.licence,
            memory_mib=(args.memory_limit or describe.memory_limit_mib()) if backend == "cpu" else None)
        summary = session.run(models, grid(args, backend, models), labels, sensors, options)
    except (ExportError, LabelsError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        if "labels" in locals():
            labels.close()
    failed = ", ".join(f"{n} {status}" for status, n in sorted(summary.not_ok.items()))
    print(f"{args.output}: {summary.ok} cells measured, {summary.flagged} of them flagged"
          + (f"; {failed}" if failed else "") + (f"; {summary.known} known from before" if summary.known else "")
          + (f"; {summary.left} left: the same command goes on" if summary.left else ""))
    return 0
