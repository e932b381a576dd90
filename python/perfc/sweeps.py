"""Tables of many predictions: `perfc sweep` from Python, here or on a Dask cluster. docs/sweep.md."""
from __future__ import annotations

import collections
import contextlib
import csv
import importlib
import io
import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Union

from . import _options, _perfc, files
from .errors import usage_error

if TYPE_CHECKING:
    from ._options import Several

    Path = Union[str, os.PathLike[str]]

_ROWS_OF_A_GROUP = 1 << 16
_SETTINGS = b"perfc.sweep"  #: in a Parquet file's metadata
_OTHERWISE = "name another file, or give overwrite=True"


class Row(NamedTuple):
    """A prediction, or why there is none: a row of `perfc sweep`'s table, whose figures have six digits."""
    model: str
    batch: int | None  #: of a row with an error: as asked for
    device: str
    dtype: str
    runtime: str
    latency_ms: float | None
    latency_lo_ms: float | None  #: of the 90 % interval
    latency_hi_ms: float | None
    device_ms: float | None  #: the device is busy
    host_ms: float | None  #: the host needs to dispatch
    memory_mib: float | None
    energy_j: float | None
    power_w: float | None
    fits: bool | None  #: the device has the memory
    predictor: str | None
    warnings: int | None
    error: str | None  #: place and cause; None: there are figures


_FILES = {"device_file", "from_nvidia_smi", "host", "stack", "predictor"}  #: options that may name one
_WORDS = {"model", "device", "dtype", "runtime", "predictor", "error"}
_WHOLE = {"batch", "warnings"}


def _value(column: str, text: str) -> Any:
    if text == "":
        return None
    if column in _WORDS:
        return text
    if column == "fits":
        return text == "true"
    return int(text) if column in _WHOLE else float(text)


def _rows(lines: Iterable[str]) -> Iterator[Row]:
    for fields in csv.reader(lines):
        yield Row(*map(_value, Row._fields, fields))


class _Plan(NamedTuple):
    models: list[tuple[str, str]]  #: name, path
    rows_per_model: int
    settings: str
    head: str
    options: dict[str, object]


def _plan(models: object, options: dict[str, Any]) -> _Plan:
    for name in ("dtype", "runtime", "mode"):
        if options.get(name) is not None:
            options[name] = ",".join(_options._several(options[name]))
    said = _options.read(options)
    given = [models] if isinstance(models, (str, os.PathLike)) else list(models)  # type: ignore[call-overload]
    paths = [os.fspath(m) if isinstance(m, (str, os.PathLike)) else m for m in given]
    for path in paths:
        if not isinstance(path, str):
            raise usage_error(f"models: {type(path).__qualname__} is no path; predict_many takes models in memory")
        if path.startswith("git:"):
            raise usage_error(f"models: {path} is read by the program only; check it out, or run `perfc sweep`")
    found, left_out, rows, settings, head = _perfc.sweep_plan(paths, said)
    if left_out:
        import warnings
        warnings.warn(f"left out, for they are named as models and are none: {', '.join(left_out)}", stacklevel=3)
    return _Plan(found, rows, settings, head, said)


def _rows_of(name: str, path: str, options: dict[str, object], version: str) -> str:
    """A model's rows; runs where a worker is."""
    if _perfc.__version__ != version:
        raise RuntimeError(f"this worker has perfc {_perfc.__version__}, its client {version}; install the same")
    return _perfc.sweep_rows(name, path, options)


def _in_order(submit: Callable[[str, str], Any], models: list[tuple[str, str]], ahead: int) -> Iterator[str]:
    """Results in the models' order; so many are under way at a time that none waits for its turn."""
    waiting: collections.deque[Any] = collections.deque()
    rest = iter(models)
    try:
        waiting.extend(submit(*m) for m in itertools.islice(rest, ahead))
        while waiting:
            text: str = waiting.popleft().result()
            waiting.extend(submit(*m) for m in itertools.islice(rest, 1))
            yield text
    finally:
        for future in waiting:
            future.cancel()


def _texts(plan: _Plan, first: int, workers: int | None, client: Any) -> Iterator[str]:
    """Of every model from `first` on its rows as text."""
    version, models = _perfc.__version__, plan.models[first:]
    if client is not None:
        options = {name: os.path.abspath(str(value)) if name in _FILES and os.path.isfile(str(value)) else value
                   for name, value in plan.options.items()}

        def on_cluster(name: str, path: str) -> Any:
            return client.submit(_rows_of, name, os.path.abspath(path), options, version, pure=False)
        yield from _in_order(on_cluster, models, 4 * max(1, sum(client.nthreads().values())))
        return
    from concurrent.futures import ThreadPoolExecutor

    from ._api import _cores
    threads = workers or _cores()
    with ThreadPoolExecutor(threads) as pool:
        yield from _in_order(lambda name, path: pool.submit(_rows_of, name, path, plan.options, version), models,
                             4 * threads)


def _refused(path: str, why: str) -> Exception:
    return usage_error(f"output: {path} {why}; {_OTHERWISE}")


@contextlib.contextmanager
def _journal(path: str, plan: _Plan, overwrite: bool) -> Iterator[tuple[IO[bytes], int]]:
    """The table, open behind the last model whose rows are all there, and how many models that are. As the program has
    it: `path`.settings beside it says what it was made with, and nobody else writes it."""
    import fcntl
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise usage_error(f"output: {path} is no file; iterate over the rows instead")
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b", buffering=0) as table:
        try:
            fcntl.flock(table, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise usage_error(f"output: {path}: another sweep is writing it") from None
        head = plan.head.encode()
        done, kept = 0, 0
        if overwrite or head.startswith(table.read(len(head) + 1)):
            table.truncate(0)
            with files.place(path + ".settings") as beside, open(beside, "w", encoding="utf-8") as settings:
                settings.write(plan.settings)
        else:
            try:
                with open(path + ".settings", encoding="utf-8") as settings:
                    same = settings.read() == plan.settings
            except FileNotFoundError:
                raise _refused(path, "is there, but nothing says what it was made with") from None
            if not same:
                raise _refused(path, f"was made with other settings or models, which {path}.settings has")
            done, kept = _whole_models(path, plan)
        table.truncate(kept)
        table.seek(kept)
        if not kept:
            _write(table, plan.head)
        yield table, done


def _whole_models(path: str, plan: _Plan) -> tuple[int, int]:
    """Models whose rows are all in a table, and how many bytes these are."""
    done, size = 0, len(plan.head.encode())
    kept = size
    with open(path, "rb") as table:
        if table.readline().decode() != plan.head:
            raise _refused(path, "has another head than a sweep's table")
        for row, line in enumerate(table):
            if not line.endswith(b"\n"):
                break
            fields = next(csv.reader([line.decode("utf-8", "replace")]))
            model = row // plan.rows_per_model
            if model >= len(plan.models) or len(fields) != len(Row._fields) or fields[0] != plan.models[model][0]:
                raise _refused(path, f"has another row than this sweep in line {row + 2}")
            size += len(line)
            if (row + 1) % plan.rows_per_model == 0:
                done, kept = model + 1, size
    return done, kept


def _write(table: IO[bytes], text: str) -> None:
    left = memoryview(text.encode())
    while left:
        left = left[table.write(left):]


def _complete(path: str, plan: _Plan, overwrite: bool, texts: Callable[[int], Iterator[str]]) -> None:
    with _journal(path, plan, overwrite) as (table, done):
        for text in texts(done):
            _write(table, text)


def _table(path: str) -> Iterator[Row]:
    with open(path, encoding="utf-8", newline="") as table:
        next(table)
        yield from _rows(table)


def _parquet() -> Any:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise usage_error("output: Parquet is written by pyarrow, which is not installed; run `pip install pyarrow`, "
                          "or name a file that ends in .csv") from None


def _to_parquet(rows: str, path: str, settings: str) -> None:
    """A table of rows as Parquet, a group of them at a time; the file is there when it is whole."""
    arrow, parquet = _parquet()
    types = [arrow.string() if c in _WORDS else arrow.bool_() if c == "fits" else
             arrow.int64() if c in _WHOLE else arrow.float64() for c in Row._fields]
    schema = arrow.schema(list(zip(Row._fields, types)), metadata={_SETTINGS: settings.encode()})
    with files.place(path) as place, parquet.ParquetWriter(place, schema) as writer:
        every = _table(rows)
        while group := list(itertools.islice(every, _ROWS_OF_A_GROUP)):
            writer.write_table(arrow.table(dict(zip(Row._fields, map(list, zip(*group)))), schema=schema))


def _from_parquet(path: str) -> Iterator[Row]:
    with _parquet()[1].ParquetFile(path) as table:
        for batch in table.iter_batches(columns=list(Row._fields)):
            for row in batch.to_pylist():
                yield Row(**row)


def _complete_parquet(path: str, plan: _Plan, overwrite: bool, texts: Callable[[int], Iterator[str]]) -> None:
    arrow, parquet = _parquet()
    if os.path.exists(path) and not overwrite:
        try:
            found = (parquet.read_schema(path).metadata or {}).get(_SETTINGS)
        except arrow.ArrowInvalid:
            found = None
        if found is None:
            raise _refused(path, "is there, but nothing says what it was made with")
        if found.decode() != plan.settings:
            raise _refused(path, "was made with other settings or models")
        return
    rows = path + ".rows"
    _complete(rows, plan, overwrite, texts)
    _to_parquet(rows, path, plan.settings)
    for made in (rows, rows + ".settings"):
        os.remove(made)


def sweep(models: Path | Iterable[Path], *, batch: int | Iterable[int] | None = None, device: Several | None = None,
          dtype: Several | None = None, runtime: Several | None = None, mode: Several | None = None,
          workers: int | None = None, client: Any = None, output: Path | None = None, overwrite: bool = False,
          **options: Any) -> Iterator[Row]:
    """Predicts every model at every batch, on every runtime, dtype and device: the rows of `perfc sweep`, in its order.

    A model that fails has rows with an error; a warning says what of a folder is left out as no model.

    Args:
        models: files, or folders with all that is below them.
        batch, device, dtype, runtime, mode: one or several; "all" devices are all of `perfc.devices()`.
        workers: threads of this process. [one per core]
        client: a dask.distributed.Client, whose cluster predicts in place of this process, a model per task. Its
            workers have the same perfc, and the models under the same absolute paths.
        output: a file that ends in .csv or .parquet, for which pyarrow is needed. It is complete when `sweep`
            returns. A run that was stopped is continued by the same call; a CSV file also by the program.
        overwrite: begin anew, whatever is in the file.
        **options: the others of `perfc.predict`.

    Returns:
        An iterator over the rows: without an output as they are made, else of the complete table. Of it
        `pandas.DataFrame` and `pyarrow.Table.from_pylist([r._asdict() for r in rows])` make tables.

    Raises:
        UsageError: an option does not exist or cannot have its value, or the output is not this sweep's.
        ModelError: no model is found, or a file that an option names cannot be read.
        OSError: the output cannot be written.
    """
    path = None if output is None else os.fspath(output)
    if path is not None and not path.endswith((".csv", ".parquet")):
        raise usage_error(f"output: {path} ends in neither .csv nor .parquet")
    if client is not None and workers is not None:
        raise usage_error("workers: the client's cluster has its own")
    plan = _plan(models, {**options, "batch": batch, "device": device, "dtype": dtype, "runtime": runtime,
                          "mode": mode})

    def texts(first: int) -> Iterator[str]:
        return _texts(plan, first, workers, client)

    if path is None:
        return itertools.chain.from_iterable(_rows(io.StringIO(text, newline="")) for text in texts(0))
    if path.endswith(".csv"):
        _complete(path, plan, overwrite, texts)
        return _table(path)
    _complete_parquet(path, plan, overwrite, texts)
    return _from_parquet(path)
