"""Kiro and Q CLI: stdout of two events becomes context as it is, so everything else says nothing.

A tool call could only be refused with exit code 2, which no hook of ours ever ends with.
"""

from __future__ import annotations

from ...connection.documents import Document, text
from ..event import Answer, Event
from . import shapes

KINDS = {
    "agentSpawn": "session_start",
    "userPromptSubmit": "prompt",
    "preToolUse": "pre_tool",
    "postToolUse": "tool_success",
    "stop": "stop",
}

_CONTEXT = frozenset({"agentSpawn", "userPromptSubmit"})


def read(name: str, payload: Document) -> Event | None:
    """The event, or None for one that says nothing to us."""
    kind = KINDS.get(name)
    if kind is None:
        return None
    found = shapes.event(kind, "kiro", payload)
    if kind == "stop":
        found = found._replace(text=text(payload, "assistant_response"))
    return shapes.judged(found)


def takes(name: str) -> bool:
    """Whether what is printed for this event reaches the model."""
    return name in _CONTEXT


def write(name: str, answer: Answer) -> bytes:
    """What goes to stdout for this answer: the context itself, or nothing."""
    if name in _CONTEXT and answer.context:
        return answer.context.encode("utf-8", "replace") + b"\n"
    return neutral(name)


def neutral(_name: str) -> bytes:
    """What goes to stdout when there is nothing to say."""
    return b""
