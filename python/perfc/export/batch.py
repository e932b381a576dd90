"""A list of models as files: in parallel, each in a process of its own, going on where an earlier run stopped."""
from __future__ import annotations

import concurrent.futures
import csv
import os
import pathlib
import re
import threading
import time

from perfc import files, isolate
from .targets import Entry

COLUMNS = ("target", "format", "file", "status", "message", "architecture", "family", "inputs", "nodes", "parameters",
           "seconds", "torch")
SUFFIX = {"json": ".json", "pt2": ".pt2", "onnx": ".onnx", "onnx-legacy": ".legacy.onnx"}
MANIFEST = "manifest.csv"


def architecture(target: str) -> str:
    """A name that can be a file's: "timm/resnet18" -> "resnet18", "zoo:tiny.net" -> "tiny_net", operators as they
    are."""
    library, slash, name = target.partition("/")
    if not slash:
        name = target.rpartition(":")[2]
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def names(entries: list[Entry]) -> dict[str, str]:
    """Architecture of each target; two targets of one name are told apart by where they come from."""
    made: dict[str, str] = {}
    for entry in entries:
        name = architecture(entry.target)
        made[entry.target] = re.sub(r"[^A-Za-z0-9]+", "_", entry.target).strip("_") if name in made.values() else name
    return made


def write(caller, entry: Entry, form: str, path: str, device: str) -> dict:
    """Runs in the process of its own. Writes `path` complete, or not at all."""
    import torch
    from . import exported, onnx, torchscript
    from .errors import ExportError
    torch.set_num_threads(1)
    model = entry.model(device)
    if model.inputs is None:
        raise ExportError(
            "example inputs are missing: let the factory return (module, inputs), or say input= in the list")
    if form == "json":
        made = torchscript.export_module(model.module, model.inputs)
        torchscript.write(made, path)
    elif form == "pt2":
        made = exported.export_archive(model.module, model.inputs, path)
    else:
        made = onnx.export_onnx(model.module, model.inputs, path, dynamo=form == "onnx")
    count = {k: v if isinstance(v, int) else len(v) for k, v in made.items() if k in ("nodes", "parameters")}
    return {**count, "family": model.family, "torch": torch.__version__}


def read_manifest(path: pathlib.Path) -> list[dict]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def export_list(entries: list[Entry], forms, folder: str, *, jobs: int = 1, memory_mib: float | None = None,
                timeout_s: float = 600, retry_failed: bool = False, device: str = "cpu", say=isolate.say) -> list[dict]:
    """Rows of the manifest for `entries`: one per model and form, the failed ones too. What the manifest in `folder`
    has already is not made again. `device`: where factories make their modules."""
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    path = out / MANIFEST
    known = {(r["target"], r["format"]): r for r in read_manifest(path)} if path.exists() else {}
    wanted = [(e, form) for e in entries for form in forms]
    named = names(entries)
    place = {
        key: i
        for i, key in enumerate([*known, *((e.target, form) for e, form in wanted if (e.target, form) not in known)])
    }
    lock = threading.Lock()

    def is_done(row) -> bool:
        return row is not None and (row["status"] == "ok" and
                                    (out / row["file"]).exists() or row["status"] != "ok" and not retry_failed)

    def save() -> None:
        with files.writing(path, newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(known.values(), key=lambda r: place.get((r["target"], r["format"]), len(place))))

    todo = [(e, form) for e, form in wanted if not is_done(known.get((e.target, form)))]

    def make(item) -> None:
        entry, form = item
        name = named[entry.target] + SUFFIX[form]
        start = time.monotonic()
        pids: list[int] = []
        outcome = isolate.call(write, entry, form, str(out / name), device, timeout_s=timeout_s,
                               memory_mib=memory_mib, watch=isolate.Watch(started=pids.append))
        files.forget(out, pids)
        value = outcome.value or {}
        row = {
            "target": entry.target, "format": form, "file": name if outcome.status == "ok" else "",
            "status": outcome.status, "message": outcome.message.removeprefix("ExportError: "), "architecture": named[
                entry.target], "family": entry.family or value.get("family", "-"),
            "inputs": " ".join(entry.inputs), "nodes": value.get("nodes", ""), "parameters": value.get(
                "parameters", ""), "seconds": f"{time.monotonic() - start:.2f}", "torch": value.get("torch", "")
        }
        with lock:
            known[entry.target, form] = row
            save()
            done = sum((e.target, f) in made for e, f in todo) + 1
            made.add((entry.target, form))
            said = f"{value['nodes']} nodes" if outcome.status == "ok" else f"{outcome.status}: {row['message']}"
            say(f"[{done}/{len(todo)}] {entry.target} {form}: {said}")

    made: set[tuple[str, str]] = set()
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        for _ in pool.map(make, todo):
            pass
    return [known[e.target, form] for e, form in wanted]
