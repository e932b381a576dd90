"""Times and kernels of a lent GPU within a few minutes: see README.md.

    python3 measure.py OUT --seconds 480

One process runs everything that is eager, for importing torch takes longer than a cell; a few more compile, all at
once, and are timed one after the other.
"""
import argparse
import contextlib
import csv
import dataclasses
import gc
import itertools
import json
import multiprocessing
import os
import pathlib
import shutil
import sys
import time
import traceback

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "2")
HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "python")]

import torch  # noqa: E402

import kernels_of  # noqa: E402
import large  # noqa: E402
import operators  # noqa: E402
from perfc.export import targets  # noqa: E402
from perfc.measure import protocol as protocols, worker  # noqa: E402
from perfc.measure.cells import Cell  # noqa: E402

START = time.monotonic()
SCRATCH = pathlib.Path("/dev/shm/traces")
PROTOCOL = protocols.Protocol(warm_up=4, runs=10, seconds=0.2, attempts=2)
WITH_ENERGY = protocols.Protocol(warm_up=4, runs=10, seconds=0.9, attempts=1)
STEPS = 2
HOST = protocols.Protocol(warm_up=10, runs=30, seconds=0.3, attempts=3)
CONVOLUTIONAL = ("timm", "torchvision")


def say(*words):
    print(f"{time.monotonic() - START:6.1f}", *words, flush=True)


class Profiler:
    """Runs cells under torch.profiler; processes beside this one turn traces into rows."""

    def __init__(self, backend, out, processes=4):
        self.backend, self.out, self.number = backend, out, 0
        SCRATCH.mkdir(parents=True, exist_ok=True)
        self.pool = multiprocessing.get_context("spawn").Pool(processes) if processes else None
        self.pending = []

    @contextlib.contextmanager
    def session(self, group):
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if self.backend.name == "cuda":
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        self.number += 1
        trace = SCRATCH / f"{group}-{self.number}-{os.getpid()}.json"
        with torch.profiler.profile(activities=kinds, record_shapes=True) as profile:
            yield
            self.backend.synchronize()
        profile.export_chrome_trace(str(trace))
        part = trace.with_suffix(".tsv")
        self.pending.append((group, trace, part, self.pool and self.pool.apply_async(kernels_of.convert,
                                                                                    (str(trace), str(part)))))

    def finish(self):
        """Waits for all traces and appends their rows to OUT/GROUP-kernels.tsv."""
        for group, trace, part, job in self.pending:
            try:
                job.get(60) if job else kernels_of.convert(str(trace), str(part))
                with open(self.out / f"{group}-kernels.tsv", "a") as file:
                    file.write(part.read_text())
                trace.unlink()
                part.unlink()
            except Exception as error:
                say(f"trace of {trace.name} is kept: {error!r}")
                shutil.copy(trace, self.out / "kept.json")
        self.pending = []


def profile_cell(profiler, group, cell, step):
    with profiler.session(group):
        for _ in range(STEPS):
            with torch.profiler.record_function(f"cell:{cell}"):
                step()
            profiler.backend.synchronize()


class Clock:
    """NVML where it is there."""

    def __init__(self):
        try:
            from perfc.measure.cuda import Nvml
            self.meter = Nvml()
        except Exception as error:
            say(f"no NVML: {error}")
            self.meter = None

    def energy(self):
        return self.meter and self.meter.energy_j()

    def now(self):
        if not self.meter:
            return {}
        return {"clock_mhz": self.meter.clock_mhz("SM"), "power_w": self.meter.power_w(),
                "throttle": "+".join(self.meter.throttle())}


COLUMNS = ("target", "batch", "dtype", "mode", "layout", "task", "latency_ms", "mean_ms", "spread", "runs", "energy_j",
           "allocated_mib", "reserved_mib", "clock_mhz", "power_w", "throttle", "message")


class Labels:
    def __init__(self, path):
        self.file = open(path, "a", newline="")
        self.writer = csv.DictWriter(self.file, COLUMNS, delimiter="\t", lineterminator="\n", extrasaction="ignore")
        self.writer.writeheader()

    def add(self, row):
        self.writer.writerow(row)
        self.file.flush()


def settings(cell):
    return {name: getattr(cell, name) for name in ("target", "batch", "dtype", "mode", "layout", "task")}


def figures(timing):
    return {"latency_ms": f"{timing.median_ms:.5f}", "mean_ms": f"{timing.mean_ms:.5f}",
            "spread": f"{timing.spread:.4f}", "runs": len(timing.runs_ms)}


def shown(group, row):
    """Times of models that judge are not printed."""
    return (row["latency_ms"], "ms") if group.startswith("fit") else ()


def run_cell(cell, module, inputs, backend, clock, profiler, group, labels, protocol):
    row = settings(cell)
    try:
        if backend.name == "cuda":
            backend.reset_peak()
        if cell.layout == "nchw":
            module.to(memory_format=torch.contiguous_format)  # what the cell before left
        step, _ = worker.prepare(module, inputs, cell, backend)
        with torch.inference_mode() if cell.task == "infer" else contextlib.nullcontext():
            energies = []

            def window(measure_it, attempt):
                before, start = clock.energy(), time.perf_counter()
                runs = measure_it()
                seconds, after = time.perf_counter() - start, clock.energy()
                row.update(clock.now())
                energies.append(None if before is None or seconds < 0.5 else (after - before) / seconds)
                return runs
            timing = protocols.measure(lambda count: backend.time_runs(step, count), protocol, window)
            row.update(figures(timing))
            if energies[timing.attempt] is not None:
                row["energy_j"] = f"{energies[timing.attempt] * timing.mean_ms / 1e3:.4f}"
            if backend.name == "cuda":
                peak = backend.peak_memory(step)
                row.update(allocated_mib=f"{peak.allocated_mib:.0f}", reserved_mib=f"{peak.reserved_mib:.0f}")
            if profiler:
                profile_cell(profiler, group, cell.title(), step)
        say(cell.title(), *shown(group, row), row.get("clock_mhz", ""))
    except Exception as error:
        row["message"] = f"{type(error).__name__}: {error}"[:200].replace("\n", " ").replace("\t", " ")
        say(cell.title(), row["message"])
    labels.add(row)


def cells_of(target, number):
    """Six settings of a model, those that are float32 first, for a conversion to 16 bits is for good."""
    vision = target.partition("/")[0] in CONVOLUTIONAL
    odd = number % 2
    whole, last = ("tf32", "fp32")[odd], "nhwc" if vision else "nchw"
    if "llama" in target or "qwen" in target or "gpt2" in target:
        return [Cell(target, "", b, d, task=t) for b, d, t in (
            (1, whole, "infer"), (4, "amp", "infer"), (2, "amp", "train"), (1, "bf16", "infer"), (8, "bf16", "infer"))]
    return [
        Cell(target, "", (1, 4)[odd], "fp32"),
        Cell(target, "", (64, 16)[number // 2 % 2], whole, layout=("nchw", last)[number // 4 % 2]),
        Cell(target, "", (16, 64)[odd], "amp"),
        Cell(target, "", 1, "amp"),
        Cell(target, "", (32, 16)[number // 2 % 2], ("amp", "tf32")[number // 3 % 2], task="train",
             layout=("nchw", last)[number // 5 % 2]),
        Cell(target, "", (32, 128)[odd], ("bf16", "fp16")[number // 2 % 2], layout=last),
        Cell(target, "", (8, 4)[odd], ("fp16", "bf16")[number // 2 % 2]),
    ]


def training_cells(target, number):
    """Three steps of a model, that of 16 bits last."""
    odd, last = number % 2, "nhwc" if target.partition("/")[0] in CONVOLUTIONAL else "nchw"
    if target.startswith("models:"):
        return [Cell(target, "", b, d, task="train") for b, d in ((1, "tf32"), (4, "amp"), (4, "bf16"))]
    return [
        Cell(target, "", (16, 64)[number // 2 % 2], ("fp32", "tf32")[odd], task="train",
             layout=(last, "nchw")[number // 3 % 2]),
        Cell(target, "", (64, 32)[odd], "amp", task="train", layout=("nchw", last)[number // 2 % 2]),
        Cell(target, "", (32, 128)[odd], "bf16", task="train", layout=(last, "nchw")[number // 5 % 2]),
    ]


def all_cells(target, number):
    """Both, those that convert the model behind the others."""
    cells = [c for c in cells_of(target, number) if c.task == "infer"] + training_cells(target, number)
    return sorted(cells, key=lambda c: c.dtype in ("fp16", "bf16"))


def third_cells(target, number):
    """Of both, five."""
    cells = cells_of(target, number) if target.startswith("models:") else all_cells(target, number)
    return [c for at, c in enumerate(cells) if len(cells) <= 5 or at % 2 == number % 2][:5]


def run_models(lists, cells, backend, clock, profiler, out, until, only=None):
    """`lists`: names of groups of labels, and models; `cells`: of a model and its number."""
    labels = {group: Labels(out / f"{group}-labels.tsv") for group, _ in lists}
    order = sorted((number, group, entry) for group, entries in lists for number, entry in enumerate(entries))
    for number, group, entry in order:
        if time.monotonic() - START > until:
            say(f"no time for {group} {entry.target} and what follows")
            break
        try:
            made = entry.model(backend.device)
        except Exception as error:
            say(entry.target, repr(error)[:300])
            continue
        for cell in cells(entry.target, number)[:only]:
            if time.monotonic() - START > until:
                break
            if backend.name == "cpu":  # to try this out
                cell = dataclasses.replace(cell, batch=1)
            energy = cell.dtype == "amp" and cell.task == "infer" and cell.batch >= 16
            run_cell(cell, made.module, made.inputs, backend, clock, profiler, group, labels[group],
                     WITH_ENERGY if energy else PROTOCOL)
        del made


def run_host_bound(entries, backend, clock, out, until, only=None):
    """Batch 1 of models, whose host nothing disturbs: no profiler, no other process, no collection of garbage."""
    labels = Labels(out / "host-labels.tsv")
    for entry in entries[:only]:
        if time.monotonic() - START > until:
            break
        for dtype in ("fp32", "amp", "fp16"):
            made = entry.model(backend.device)
            run_cell(Cell(entry.target, "", 1, dtype), made.module, made.inputs, backend, clock, None, "fit", labels,
                     HOST)


def run_operators(groups, backend, profiler, until, only=None):
    for group in groups:
        made = list(zip(range(only or 1 << 30), filter(None, safely(group(backend.device)))))
        for at in range(0, len(made), 40):
            if time.monotonic() - START > until:
                say(f"no time for {group.__name__} from {at}")
                return
            ready = []
            for _, (name, call) in made[at:at + 40]:
                try:
                    set_tf32(name.endswith("tf32"))
                    with torch.inference_mode():
                        for _ in range(2):
                            call()
                    ready.append((name, call))
                except Exception as error:
                    say(name, repr(error)[:200])
            backend.synchronize()
            with profiler.session("operators"), torch.inference_mode():
                for name, call in ready:
                    set_tf32(name.endswith("tf32"))
                    for _ in range(4):
                        with torch.profiler.record_function(f"cell:{name}"):
                            call()
                    backend.synchronize()
        say(f"{group.__name__}: {len(made)}")
        del made
        if backend.name == "cuda":
            torch.cuda.empty_cache()


def safely(generator):
    while True:
        try:
            yield next(generator)
        except StopIteration:
            return
        except Exception as error:
            say(repr(error)[:200])
            return


def set_tf32(on):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on


def compile_and_run(group, entry, cells, device, out, ready, lock, until):
    """A process of its own: compiles all, waits for the others, then measures under the lock."""
    clock, backend = Clock(), worker.make_backend(device, None)
    profiler = Profiler(backend, out, 0)
    made = []
    for cell in cells:
        try:
            model = entry.model(backend.device)
            step, _ = worker.prepare(model.module, model.inputs, cell, backend)
            with torch.inference_mode() if cell.task == "infer" else contextlib.nullcontext():
                step()
                step()
            made.append((cell, step))
        except Exception as error:
            say(cell.title(), repr(error)[:300])
    backend.synchronize()
    with contextlib.suppress(Exception):
        ready.wait(max(1, until - (time.monotonic() - START)))
    with lock:
        labels = Labels(out / f"{group}-compiled-{os.getpid()}.tsv")
        for cell, step in made:
            row = settings(cell)
            set_tf32(cell.dtype == "tf32")
            try:
                with torch.inference_mode():
                    timing = protocols.measure(lambda count: backend.time_runs(step, count), PROTOCOL)
                    row.update(**figures(timing), **clock.now())
                    if group != "strangers":
                        profile_cell(profiler, f"{group}-compiled", cell.title(), step)
                say(cell.title(), *shown(group, row))
            except Exception as error:
                row["message"] = repr(error)[:200]
                say(cell.title(), row["message"])
            labels.add(row)
        profiler.finish()


def run_compiled(lists, batches, device, out, until):
    context = multiprocessing.get_context("spawn")
    jobs = [(group, entry) for group, entries in lists for entry in entries]
    ready, lock = context.Barrier(len(jobs)), context.Lock()
    left = until - (time.monotonic() - START)
    processes = []
    for number, (group, entry) in enumerate(jobs):
        whole = ("fp32", "tf32")[number // 2 % 2]
        cells = [Cell(entry.target, "", b, d, "compiled") for b, d in zip(batches, ("amp", whole, "fp16"))]
        processes.append(context.Process(target=compile_and_run, args=(group, entry, cells, device, out, ready, lock,
                                                                       left * 0.7)))
        processes[-1].start()
    end = time.monotonic() + left
    for process in processes:
        process.join(max(0.1, end - time.monotonic()))
        if process.is_alive():
            say("a compiling process is ended")
            process.kill()


def sessions(entries, seconds):
    """What one lent machine measured: part -> (groups and their models, cells, whether kernels too, when it ends)."""
    fit, judge, strangers = (entries[name] for name in ("fit", "judge", "strangers"))
    return {
        "models": ([("fit", fit), ("judge", judge)], cells_of, True, seconds - 125),
        "third": ([("judge-third", judge), ("strangers-third", strangers)], third_cells, False, seconds - 15),
        "alone": ([("judge", judge[20:])], cells_of, False, seconds - 15),
        "strangers": ([("strangers", strangers)], all_cells, False, 0.43 * seconds),
        "training": ([("judge-training", judge)], training_cells, False, 0.6 * seconds),
        "compiled": ([("fit", fit[:7]), ("judge", judge[:7])], (32, 16, 1), True, seconds),
        "compiled-strangers": ([("fit", fit[7:14]), ("strangers", strangers[:7])], (64, 32, 1), True, 0.82 * seconds),
        "training-kernels": ([("fit-training", fit)], training_cells, True, seconds - 15),
    }


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--seconds", type=float, default=480)
    p.add_argument("--device", default="cuda")
    p.add_argument("--only", type=int, help="so many of everything, to try this out")
    p.add_argument("--parts", default="host,operators,models,compiled", help="in this order [%(default)s]")
    args = p.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    clock = Clock()
    if args.device == "cpu":  # to try this out
        global PROTOCOL, WITH_ENERGY
        PROTOCOL = WITH_ENERGY = protocols.Protocol(warm_up=1, runs=1, seconds=0, attempts=1)
    backend = worker.make_backend(args.device, None)
    entries = {name: targets.read_list(str(HERE / f"{name}.txt")) for name in ("fit", "judge", "strangers")}
    os.chdir(HERE)  # the lists' factories are here
    for part in args.parts.split(","):
        try:
            run_part(part, entries, backend, clock, args)
        except Exception:
            traceback.print_exc()
        say("done:", part)


def run_part(part, entries, backend, clock, args):
    if part == "host":
        from perfc.measure import host
        entry = host.entry(args.device)
        (args.out / "host.json").write_text(json.dumps(entry, indent=1))
        say("host", json.dumps(entry["eager_us"]))
        if args.device == "cuda":
            properties = torch.cuda.get_device_properties(0)
            say(properties, torch.version.cuda, torch.backends.cudnn.version(), clock.now())
        return
    if part == "host-bound":
        gc.disable()
        run_host_bound(entries["fit"][:16], backend, clock, args.out, args.seconds / 2, args.only)
        gc.enable()
        return
    single = {"operators": (operators.GROUPS, min(150, args.seconds / 3)), "large": (large.GROUPS, args.seconds)}
    if part in single:
        groups, until = single[part]
        profiler = Profiler(backend, args.out)
        run_operators(groups, backend, profiler, until, args.only)
        profiler.finish()
        return
    if part == "sustained":
        windows = large.Windows(args.out / "sustained.tsv", clock, backend)
        for name, step in itertools.islice(large.loops(backend.device), args.only):
            set_tf32(name.endswith("tf32"))
            with torch.inference_mode():
                windows.run(name, step)
        set_tf32(False)
        return
    if part == "diffusion":
        profiler = Profiler(backend, args.out)
        large.diffusion(args.out, backend, clock, profiler, args.only,
                        lambda: args.seconds - (time.monotonic() - START))
        profiler.finish()
        return
    lists, cells, profiled, until = sessions(entries, args.seconds)[part]
    lists = [(group, models[:args.only]) for group, models in lists]
    if part.startswith("compiled"):
        if backend.name == "cuda":
            torch.cuda.empty_cache()
        run_compiled(lists, cells, args.device, args.out, until)
        return
    profiler = Profiler(backend, args.out) if profiled else None
    try:
        run_models(lists, cells, backend, clock, profiler, args.out, until, args.only)
    finally:
        if profiler:
            profiler.finish()


if __name__ == "__main__":
    main()
