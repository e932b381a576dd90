"""What a change of models costs, as a value."""
from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .errors import Diagnostic

if TYPE_CHECKING:
    from . import _perfc


class Diff:
    """A comparison of two models, or of two folders of them. `str()` is what the command line prints, in notebooks it
    is a page. `models`, `exceeded`, `failures` and `notes` are those of the JSON document (docs/json.md)."""

    def __init__(self, compared: _perfc.Diff) -> None:
        self._compared = compared

    def to_text(self, format: str = "text") -> str:
        """In a format of `perfc diff --format`: text, markdown, github-comment, json, sarif, junit or html."""
        return self._compared.text(format)

    def to_json(self) -> str:
        """What `perfc diff --format json` prints, to the last byte."""
        return self.to_text("json")

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    @property
    def models(self) -> list[dict[str, Any]]:
        """By model and batch: what changed, and the figures on each device."""
        models: list[dict[str, Any]] = self._document["models"]
        return models

    @property
    def exceeded(self) -> list[dict[str, Any]]:
        """What is beyond a threshold of `fail_on`."""
        exceeded: list[dict[str, Any]] = self._document["exceeded"]
        return exceeded

    @property
    def failures(self) -> int:
        """How many of these there are."""
        return int(self._document["failures"])

    @property
    def notes(self) -> list[str]:
        """What else is to be said."""
        notes: list[str] = self._document["notes"]
        return notes

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings on the models, and of folders what could not be read."""
        return tuple(Diagnostic(*d) for d in self._compared.diagnostics())

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        base, head = self._document["base"], self._document["head"]
        return f"<Diff of {base} and {head}: {len(self.models)} models, {self.failures} failures>"

    def _repr_html_(self) -> str:
        import html
        page = html.escape(self.to_text("html"))
        return f'<iframe srcdoc="{page}" width="100%" height="600" frameborder="0"></iframe>'
