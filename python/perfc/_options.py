"""Keyword arguments as the words of the command line's options, which the compiled part reads by the same table."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypedDict, Union

from .errors import usage_error

if TYPE_CHECKING:
    Path = Union[str, os.PathLike[str]]
    Several = Union[str, Iterable[str]]
    Shape = Iterable[int]
    Number = Union[int, float]


class Options(TypedDict, total=False):
    """What `perfc.predict` takes beside the model, as `perfc --help` has it; docs/python.md lists the values."""
    batch: int | Iterable[int] | None
    shape: Mapping[str, Shape] | Shape | str | None
    signature: str | None
    dim: Mapping[str, int] | Several | None
    batch_axis: Mapping[str, int | None] | int | Several | None
    value: Mapping[str, Number | bool | Iterable[Number | bool]] | Several | None
    trip_count: Mapping[str, int] | int | Several | None
    dynamic: str | None
    bound: Mapping[str, int] | Several | None
    device: Several | None
    device_file: Path | None
    from_nvidia_smi: Path | None
    host: Path | None
    stack: Path | None
    dtype: str | None
    runtime: str | None
    mode: str | None
    layout: str | None
    norms: str | None
    task: str | None
    optimizer: str | None
    pacing: str | None
    cudnn_benchmark: bool | None
    predictor: Path | None
    opaque: str | None
    fold_batch_norm: str | bool | None
    max_latency: float | None
    min_throughput: float | None
    headroom: float | None


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)


def _words(value: object) -> str:
    """ "1,3,224,224" of a list, "8" of a number."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return _word(value)
    return ",".join(_word(v) for v in value)


def _pairs(value: object) -> list[str]:
    """ "name=words" of a mapping's items; what is none is taken as it is, one or several."""
    if isinstance(value, Mapping):
        return [f"{name}={_words(v)}" for name, v in value.items()]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [_word(value)]
    return [v if isinstance(v, str) else _word(v) for v in value]


def _shape(value: object) -> list[str]:
    if isinstance(value, Mapping) or isinstance(value, str):
        return _pairs(value)
    values = list(value) if isinstance(value, Iterable) else [value]
    return [",".join(map(str, values))] if all(_is_whole(v) for v in values) else _pairs(values)


def _batch(value: object) -> str:
    if _is_whole(value) or isinstance(value, str):
        return str(value)
    if isinstance(value, Iterable):
        batches = list(value)
        if batches and all(_is_whole(b) for b in batches):
            return ",".join(map(str, batches))
    raise usage_error(f"batch: {value!r} is neither a whole number nor a list of them")


def _several(value: object) -> list[str]:
    given = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    for v in given:
        if not isinstance(v, str):
            raise usage_error(f"{v!r} is no name: names are str")
    return [word for v in given for word in str(v).split(",")]


_READERS: dict[str, Callable[[object], object]] = {
    "batch": _batch, "device": _several, "shape": _shape, "dim": _pairs, "batch_axis": _pairs, "value": _pairs,
    "trip_count": _pairs, "bound": _pairs, "price": _pairs, "fail_on": _pairs,
    "fold_batch_norm": lambda v: v if isinstance(v, str) else "on" if v else "off"
}
_AS_THEY_ARE = {"max_latency", "min_throughput", "headroom", "cudnn_benchmark"}


def _scalar(name: str, value: object) -> object:
    if name in _AS_THEY_ARE:
        return value
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if name not in Options.__annotations__:
        return repr(value)  # the compiled part says that there is no such option
    raise usage_error(f"{name}: {value!r} is no str")


def read(options: Mapping[str, object]) -> dict[str, object]:
    """What the compiled part takes: a bool, a number, a str or a list of str each; None is not said."""
    return {
        name: _READERS[name](value) if name in _READERS else _scalar(name, value)
        for name, value in options.items() if value is not None
    }
