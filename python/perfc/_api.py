"""predict, predict_many, load, diff, devices, hosts, stacks."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast, overload

from . import _models, _options

try:
    from . import _perfc
except ImportError as error:
    raise ImportError(
        f"perfc predicts with its compiled part, which cannot be loaded ({error}); run `pip install .` in the checkout "
        "and take its python/ out of PYTHONPATH", name="perfc._perfc") from None
from .errors import PerfcError, usage_error
from .results import Prediction, Predictions, predictions_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._models import Model
    from ._options import Options, Several
    from .diffs import Diff
    from .ir import Graph

__version__ = _perfc.__version__

#: DIPPM's `framework`, and the formats that it can mean.
_FRAMEWORKS = {
    "pytorch": ("torch", "pt2"), "torch": ("torch", "pt2"), "onnx": ("onnx", "onnxtxt"), "tensorflow": ("tf", "tftxt"),
    "keras": ("keras", ), "paddle": ("paddle", "paddlejson"), "paddlepaddle": ("paddle", "paddlejson"),
    "jax": ("stablehlo", ), "openvino": ("openvino", )
}


def _dims(value: object) -> tuple[int, ...]:
    """DIPPM's `input`: "3,224,224" or (3, 224, 224)."""
    words = value.split(",") if isinstance(value, str) else list(cast("Iterable[int]", value))
    try:
        return tuple(int(w) for w in words)
    except (TypeError, ValueError):
        raise usage_error(f"input: {value!r} is no shape of one sample, as (3, 224, 224) is") from None


def _one_batch(options: Mapping[str, object]) -> int:
    batch = options.get("batch")
    if batch is not None and (not hasattr(batch, "__index__") or isinstance(batch, bool)):
        raise usage_error("input: the shape of one sample takes one batch, a whole number")
    return 1 if batch is None else int(cast(int, batch))


def _check_framework(framework: str, given: _models.Given) -> None:
    formats = _FRAMEWORKS.get(framework.lower())
    if formats is None:
        raise usage_error(f"framework: '{framework}' is none of {', '.join(_FRAMEWORKS)}")
    found = _perfc.format_of(*given)
    if found not in formats:
        raise usage_error(f"framework: {given.name} is no file of {framework}: it is read as {found}; "
                          "leave framework out")


def _given(model: object, example_inputs: object, options: dict[str, Any], *, path: object = None,
           framework: str | None = None, input: object = None, export: str = "json") -> _models.Given:
    """The model, and DIPPM's arguments among the options."""
    if (model is None) == (path is None):
        raise usage_error("give one model: as the first argument, or as path=")
    model = path if model is None else model
    if input is not None:
        shape = (_one_batch(options), *_dims(input))
        if options.get("shape") is not None or example_inputs is not None:
            raise usage_error("input says the input's shape; leave out shape and example_inputs")
        if _models.is_module(model):
            import torch
            example_inputs = torch.zeros(shape)
        else:
            options["shape"] = shape
    given = _models.given(model, example_inputs, export=export)
    if framework is not None:
        _check_framework(framework, given)
    return given


def _is_several(value: object) -> bool:
    if isinstance(value, str):
        return "," in value
    return isinstance(value, Iterable)


@overload
def predict(model: Model | None = ..., example_inputs: Any = ..., *, path: Any = ..., framework: str | None = ...,
            input: Any = ..., device: str = ..., batch: int | None = ..., top: int = ..., alternatives: bool = ...,
            export: str = ..., **options: Any) -> Prediction: ...


@overload
def predict(model: Model | None = ..., example_inputs: Any = ..., *, path: Any = ..., framework: str | None = ...,
            input: Any = ..., device: Several | None = ..., batch: int | Iterable[int] | None = ..., top: int = ...,
            alternatives: bool = ..., export: str = ..., **options: Any) -> Predictions: ...


def predict(model: Model | None = None, example_inputs: Any = None, *, path: Any = None, framework: str | None = None,
            input: Any = None, device: Several | None = None, batch: int | Iterable[int] | None = None, top: int = 5,
            alternatives: bool = True, export: str = "json", **options: Any) -> Prediction | Predictions:
    """Predicts what a model takes on a device; on several devices or batches, a table of that.

    Args:
        model: a path (all formats of `perfc --help`), the bytes of a file, an onnx.ModelProto, a
            torch.export.ExportedProgram, or a torch.nn.Module, whose weights are not read.
        example_inputs: of a torch.nn.Module: a tensor, or a tuple of them.
        path, framework, input: DIPPM's call. `input` is the shape of one sample, without the batch; `framework` is
            checked against the file's format.
        device: name as in `perfc.devices()`, alias ("A100"), MIG slice ("a100-40gb:1g.5gb"), or several.
            [a100-40gb]
        batch: samples, or several numbers of them; also for files exported with a fixed batch. [the file's, or 1]
        top: how many of the slowest operators `hot_ops` has.
        alternatives: whether to predict other runtimes and what helps a run that the host bounds (of one batch), which
            takes a few more predictions.
        export: how a torch.nn.Module is exported, as in `python -m perfc.export --format`: "json" or "pt2".
        **options: the command line's others, `-` as `_`: dtype, runtime, mode, layout, norms, task, optimizer, pacing,
            cudnn_benchmark, shape, dim, value, batch_axis, trip_count, dynamic, bound, signature, host, stack,
            device_file, from_nvidia_smi, predictor, opaque, fold_batch_norm, max_latency, min_throughput, headroom
            (docs/python.md).

    Returns:
        A Prediction, or Predictions by device, then batch, where a list of either was given.

    Raises:
        UsageError: an option does not exist or cannot have its value.
        ModelError: the model cannot be read, or not predicted as asked.
        perfc.export.ExportError: a torch.nn.Module cannot be exported.
    """
    said: dict[str, Any] = {**options, "device": device, "batch": batch}
    given = _given(model, example_inputs, said, path=path, framework=framework, input=input, export=export)
    reports = _perfc.predict(*given, _options.read(said), alternatives)
    made = predictions_of(reports, top)
    if _is_several(device) or _is_several(batch) or len(made) != 1:
        return Predictions(made, (reports, top))
    return made[0]


def predict_many(models: Iterable[Model], *, workers: int | None = None, return_exceptions: bool = False,
                 alternatives: bool = False, **options: Any) -> list[Any]:
    """`predict` of every model, on all cores; results are those of `predict`, in the models' order.

    Args:
        models: as for `predict`; a torch.nn.Module is a pair (module, example inputs).
        workers: threads. [one per core]
        return_exceptions: what fails is its exception in the list; else the first of them is raised.
        alternatives, **options: as for `predict`; alternatives are left out unless asked for.
    """
    import concurrent.futures

    def one(model: Any) -> Any:
        try:
            return predict(model, alternatives=alternatives, **options)
        except Exception as error:
            # perfc.export.ExportError is known only where torch is
            if not return_exceptions or not (isinstance(error, PerfcError) or type(error).__name__ == "ExportError"):
                raise
            return error

    with concurrent.futures.ThreadPoolExecutor(workers or _cores()) as pool:
        return list(pool.map(one, models))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load(model: Model, example_inputs: Any = None, *, passes: Iterable[str] | None = None, export: str = "json",
         **options: Unpack[Options]) -> Graph:
    """The model's graph as predictors see it, every value typed.

    Args:
        model, example_inputs, export: as for `predict`.
        passes: names of passes (`perfc opt --help`) in place of those of `predict`; []: the graph as it was read.
        **options: as for `predict`; those that say shapes and execution matter.
    """
    from .ir import Graph
    given = _models.given(model, example_inputs, export=export)
    named = None if passes is None else _options._several(passes)
    return Graph(_perfc.load(*given, _options.read(cast("Mapping[str, object]", options)), named))


def diff(base: Model, head: Model, *, device: Several | None = None, batch: int | Iterable[int] | None = None,
         price: Mapping[str, float] | None = None, fail_on: Several | None = None, top: int = 10, export: str = "json",
         **options: Any) -> Diff:
    """What a change of models costs: two models, two folders of them, or "git:REF:path" for either as of a revision.

    Args:
        base, head: before and after.
        price: per hour, by device, for the cost of a million samples.
        fail_on: thresholds, as in "latency=+5%,memory=+100,mig,oom"; the result's `exceeded` has what is beyond.
        top: how many kinds of changes are told per model.
        device, batch, export, **options: as for `predict`.
    """
    from .diffs import Diff
    said = _options.read({**options, "device": device, "batch": batch, "price": price, "fail_on": fail_on})
    return Diff(_perfc.diff(_models.given(base, export=export), _models.given(head, export=export), said, top))


def _listed(kind: str, options: Mapping[str, object]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(_perfc.devices(kind, _options.read(options)))[kind]
    return made


def devices(*names: str, device_file: Any = None, from_nvidia_smi: Any = None, host: Any = None,
            stack: Any = None) -> list[dict[str, Any]]:
    """What is known of devices: all that are built in, those named, or those of a host that `nvidia-smi -q -x`
    describes. Keys and units are those of device files (docs/devices.md)."""
    return _listed("devices", {
        "device": list(names) or None, "device_file": device_file, "from_nvidia_smi": from_nvidia_smi, "host": host,
        "stack": stack
    })


def hosts() -> list[dict[str, Any]]:
    """What CPUs and framework versions take per call."""
    return _listed("hosts", {})


def stacks() -> list[dict[str, Any]]:
    """What frameworks and their libraries take of a device's memory."""
    return _listed("stacks", {})
