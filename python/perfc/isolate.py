"""Calls a function in a process of its own: what it does to memory, or to itself, ends with it.

Processes are forks of one server (multiprocessing's forkserver) that has imported torch, and what torch imports when it
first traces, compiles or trains, so that a call costs milliseconds; the server itself never touches a device.
"""
from __future__ import annotations

import multiprocessing
import os
import pathlib
import resource
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Callable

LONGEST_MESSAGE = 300


@dataclass
class Outcome:
    """How a call ended: "ok", "oom", "failed" (an exception), "crashed" (the process died), "timeout"."""
    status: str
    value: Any = None
    message: str = ""


@dataclass
class Watch:
    """What the caller does while the call runs; both run in the caller's process."""
    started: Callable[[int], None] = lambda pid: None
    #: Called with every message of the call; what it returns is sent back where the call asks.
    message: Callable[[str, Any], Any] = lambda name, value: None
    #: Called every `interval_s` seconds.
    tick: Callable[[], None] = lambda: None
    interval_s: float = 0.02


@dataclass
class Caller:
    """The call's end of the line to its caller."""
    connection: Any = field(repr=False, default=None)

    def tell(self, name: str, value=None):
        """Sends a message, and waits for the answer: the caller has then seen the process as it is now."""
        self.connection.send((name, value))
        return self.connection.recv()


def context():
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["torch", "torch._dynamo"])
    return made


def virtual_bytes() -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def is_out_of_memory(error: BaseException) -> bool:
    """Torch has a class for it on CUDA; elsewhere only the message tells."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return isinstance(error, (RuntimeError, OSError)) and any(
        sign in text for sign in ("out of memory", "can't allocate memory", "cannot allocate memory", "bad_alloc",
                                  "not enough memory"))


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:LONGEST_MESSAGE]}" if lines else type(error).__name__


def _run(connection, function, arguments, memory_mib, log):
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    if memory_mib:
        limit = virtual_bytes() + int(memory_mib * 2**20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        value = function(Caller(connection), *arguments)
    except Exception as error:  # whatever a user's model raises is its result
        connection.send(("", Outcome("oom" if is_out_of_memory(error) else "failed", message=first_line(error))))
    else:
        connection.send(("", Outcome("ok", value)))


def _died(code: int, log: str) -> Outcome:
    """A process that ended without a word. The kernel's OOM killer sends SIGKILL."""
    text = pathlib.Path(log).read_text(errors="replace") if os.path.exists(log) else ""
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")[:LONGEST_MESSAGE]
    if code == -signal.SIGKILL:
        return Outcome("oom", message="killed by the system, as it does when memory runs out")
    how = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
    status = "oom" if "bad_alloc" in text or "out of memory" in text.lower() else "crashed"
    return Outcome(status, message=f"{how}{': ' + last if last else ''}")


def call(function, *arguments, timeout_s: float, memory_mib: float | None = None,
         watch: Watch | None = None) -> Outcome:
    """function(Caller, *arguments) in a process that is killed after `timeout_s` seconds and may map `memory_mib`
    MiB beyond what it starts with. Functions and arguments must be picklable."""
    watch = watch or Watch()
    made = context()
    ours, theirs = made.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "output")
        process = made.Process(target=_run, args=(theirs, function, arguments, memory_mib, log), daemon=True)
        process.start()
        theirs.close()
        deadline = time.monotonic() + timeout_s
        try:
            watch.started(process.pid)
            while True:
                try:
                    if not ours.poll(watch.interval_s):
                        watch.tick()
                        if time.monotonic() > deadline:
                            return Outcome("timeout", message=f"not done after {timeout_s:.0f} s")
                        continue
                    name, value = ours.recv()
                    if not name:
                        return value
                    ours.send(watch.message(name, value))
                except (EOFError, ConnectionError):
                    process.join(10)
                    return _died(process.exitcode or 0, log)
        finally:
            ours.close()
            process.kill() if process.is_alive() and not _ends(process) else None
            process.join()


def _ends(process) -> bool:
    """Whether a process that has answered, or been told to stop, goes by itself."""
    process.join(0.5)
    return not process.is_alive()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
