"""Gemini CLI: events of its own names, a refusal as a top-level decision, stdout only JSON."""

from __future__ import annotations

from ...connection.documents import Document, text
from ..event import Answer, Event
from . import shapes

KINDS = {
    "SessionStart": "session_start",
    "BeforeAgent": "prompt",
    "BeforeTool": "pre_tool",
    "AfterTool": "tool_success",
    "AfterAgent": "stop",
    "SessionEnd": "session_end",
    "PreCompress": "pre_compact",
}

_CONTEXT = frozenset({"SessionStart", "BeforeAgent", "AfterTool"})


def read(name: str, payload: Document) -> Event | None:
    """The event, or None for one that says nothing to us."""
    kind = KINDS.get(name)
    if kind is None:
        return None
    found = shapes.event(kind, "gemini", payload)
    if kind == "stop":  # it repeats the prompt; what the agent said is new
        found = found._replace(text=text(payload, "prompt_response"))
    return shapes.judged(found)


def takes(name: str) -> bool:
    """Whether an output for this event can carry context or a refusal."""
    return name in _CONTEXT or name == "BeforeTool"


def write(name: str, answer: Answer) -> bytes:
    """What goes to stdout for this answer."""
    told = shapes.notice(answer.notice)
    if name == "BeforeTool" and answer.deny:
        told |= {"decision": "deny", "reason": answer.deny}
    elif name in _CONTEXT and answer.context:
        told |= shapes.specific(name, {"additionalContext": answer.context})
    return shapes.encoded(told)


def neutral(_name: str) -> bytes:
    """What goes to stdout when there is nothing to say."""
    return shapes.EMPTY
