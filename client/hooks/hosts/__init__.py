"""The agents that run hooks: for each a module that reads its events and writes its outputs.

Every module is written against that host's own schema and shares nothing with it but the events'
neutral form; only the host at hand is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from ...connection.documents import Document
from ..event import Answer, Event

NAMES = ("claude-code", "codex", "cursor", "gemini", "kiro")
"""As they are called on the command line and in events."""


class Host(Protocol):
    """What each module offers; `name` is the event's name in the host's own words."""

    def read(self, name: str, payload: Document) -> Event | None:
        """The event, or None for one that says nothing to us."""
        ...

    def takes(self, name: str) -> bool:
        """Whether an output for this event can carry context or a refusal at all."""
        ...

    def write(self, name: str, answer: Answer) -> bytes:
        """What goes to stdout for this answer; what the host cannot take is left out."""
        ...

    def neutral(self, name: str) -> bytes:
        """What goes to stdout when there is nothing to say, for known and unknown events alike."""
        ...


def load(name: str) -> Host:
    """The host of this name, which is one of NAMES."""
    module: object = import_module(f".{name.replace('-', '_')}", __name__)
    return cast("Host", module)
