"""Writing files as perfc does (ir/support/output_file.h): complete or not at all, and no failure unseen.

A regular file is written beside itself and then renamed, where symbolic links point to, and keeps its mode. What else
can be written (a device, a FIFO, a descriptor as /dev/stdout) is written in place; whoever closed a pipe has read all
he wanted.
"""
from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, NoReturn, Union

if TYPE_CHECKING:
    Path = Union[str, os.PathLike[str]]

_COUNT = itertools.count()
_OWN = {"/dev/stdout": 1, "/dev/stderr": 2}


def _descriptor(path: str) -> int | None:
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", path)
    return int(found[1]) if found else _OWN.get(path)


def _resolved(path: str) -> str:
    """The name at the end of the links, which need not exist."""
    for _ in range(40):
        if _descriptor(path) is not None or not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return path


def _target(path: str) -> tuple[str, os.stat_result | None] | None:
    """The regular file that is replaced and its status, if it is there; None: written in place."""
    target = _resolved(path)
    if _descriptor(target) is not None:
        return None
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return target, None
    if stat.S_ISSOCK(there.st_mode):
        raise OSError(errno.ENXIO, "it is a socket; name a file, a FIFO or a device", path)
    if not stat.S_ISREG(there.st_mode):
        return None
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)  # a rename would not ask
    return (target, there) if os.path.exists(target) and os.path.samestat(there, os.stat(target)) else None


@contextlib.contextmanager
def place(path: Path) -> Iterator[str]:
    """A name to write `path` under, for writers that want a name; at the end the file is at `path`."""
    path = os.fspath(path)
    found = _target(path)
    if found is None:
        with contextlib.suppress(BrokenPipeError):
            yield path
        return
    target, there = found
    part = os.path.join(os.path.dirname(target), f".perfc-{os.getpid()}-{next(_COUNT)}")
    try:
        try:
            yield part
            if there:
                with contextlib.suppress(OSError):  # only root may give a file away
                    os.chown(part, there.st_uid, there.st_gid)
                os.chmod(part, stat.S_IMODE(there.st_mode) & 0o777)
            os.replace(part, target)
        except OSError as error:
            if error.filename in (part, None):
                raise OSError(error.errno, error.strerror, path) from None
            raise
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


@contextlib.contextmanager
def writing(path: Path, mode: str = "w", **how: Any) -> Iterator[IO[Any]]:
    """`open(path, mode, …)` for a whole file."""
    own = _descriptor(_resolved(os.fspath(path)))
    with place(path) as name:
        with open(os.dup(own) if own is not None else name, mode, **how) as file:
            yield file


def write_text(path: Path, text: str) -> None:
    with writing(path, encoding="utf-8") as file:
        file.write(text)


def forget(folder: Path, pids: Iterable[int]) -> None:
    """Removes what processes that were killed left of their files."""
    for name in os.listdir(folder):
        if any(name.startswith(f".perfc-{pid}-") for pid in pids):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def exit_with(main: Callable[[], int | None]) -> NoReturn:
    """Ends the program with what `main()` returns, once all that it printed is written."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads any more
        code = 0
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as error:
        print(f"error: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        os._exit(1)  # the interpreter would try to write once more
    sys.exit(code)
