"""What goes wrong, with where and why and what to do."""
from __future__ import annotations

import re
from typing import NamedTuple

_PAIR = re.compile(r"--([a-z]+(?:-[a-z]+)*)[ =]([^\s=;,]+)=([^\s;]+)")
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def in_python(text: str) -> str:
    """A message of the command line in Python's words: `--dim batch=N` is `dim={'batch': N}`, `--dtype` is `dtype`."""
    text = _PAIR.sub(lambda m: f"{m[1].replace('-', '_')}={{'{m[2]}': {m[3]}}}", text)
    return _FLAG.sub(lambda m: m[1].replace("-", "_"), text)


class Diagnostic(NamedTuple):
    """One message on a model or an option. `str()` is the line that the command line prints."""
    severity: str  #: "error", "warning" or "note"
    file: str  #: the model's name; "": no file
    line: int  #: of text formats, from 1; -1: not known
    column: int  #: of text formats, from 1; -1: not known
    node: int  #: index of the node in binary formats; -1: not known
    offset: int  #: byte offset of its record; -1: not known
    name: str  #: of the node or value; "": none
    message: str
    text: str  #: the whole line

    @property
    def place(self) -> str:
        """Where in the file, for people: "line 12, column 7", "node 17 'conv1' at byte 20481"; "": not known."""
        if self.line >= 0:
            return f"line {self.line}" + (f", column {self.column}" if self.column >= 0 else "")
        node = f"node {self.node}" if self.node >= 0 else ""
        name = f"'{self.name}'" if self.name else ""
        offset = f"at byte {self.offset}" if self.offset >= 0 else ""
        return " ".join(part for part in (node, name, offset) if part)

    @property
    def cause(self) -> str:
        """What is wrong: the message without its advice."""
        return in_python(_split(self.message)[0])

    @property
    def what_to_do(self) -> str:
        """The message's advice, options as keyword arguments; "": it has none."""
        return in_python(_split(self.message)[1])

    def __str__(self) -> str:
        return self.text


def _split(message: str) -> tuple[str, str]:
    cause, near, guess = message.partition(" (did you mean ")
    if near:
        return cause, "did you mean " + guess.replace("?)", "?", 1)
    cause, _, advice = message.partition("; ")
    return cause, advice


class PerfcError(Exception):
    """Something that perfc cannot do. `diagnostics` has every message; the other attributes are the first error's."""

    def __init__(self, diagnostics: list[tuple[str, str, int, int, int, int, str, str, str]]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(Diagnostic(*d) for d in diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        first = (errors or list(self.diagnostics) or [Diagnostic("error", "", -1, -1, -1, -1, "", "", "")])[0]
        self.file: str = first.file
        self.place: str = first.place
        self.cause: str = first.cause
        self.what_to_do: str = first.what_to_do
        super().__init__("\n".join(self._line(d) for d in errors))

    def _line(self, diagnostic: Diagnostic) -> str:
        return str(diagnostic)

    def __reduce__(self) -> tuple[type[PerfcError], tuple[list[tuple[object, ...]]]]:
        return type(self), ([tuple(d) for d in self.diagnostics], )


class ModelError(PerfcError):
    """A model (or a device file, a checkpoint, …) that cannot be read or predicted as asked."""


class UsageError(PerfcError, ValueError):
    """An option that does not exist, or a value that it cannot have."""

    def _line(self, diagnostic: Diagnostic) -> str:
        return in_python(diagnostic.message)


def usage_error(message: str) -> UsageError:
    return UsageError([("error", "", -1, -1, -1, -1, "", message, message)])
