"""Codex: Claude Code's shape, but an output with one key too many is rejected as a whole.

It has no event for a failed tool call; the response in PostToolUse tells.
"""

from __future__ import annotations

from ...connection.documents import Document
from ..event import Answer, Event
from . import shapes

KINDS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "pre_tool",
    "PostToolUse": "tool_success",
    "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop",
    "Stop": "stop",
    "SessionEnd": "session_end",
    "PreCompact": "pre_compact",
    "PostCompact": "post_compact",
}

_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "SubagentStart", "PostToolUse"})


def read(name: str, payload: Document) -> Event | None:
    """The event, or None for one that says nothing to us."""
    kind = KINDS.get(name)
    return None if kind is None else shapes.judged(shapes.event(kind, "codex", payload))


def takes(name: str) -> bool:
    """Whether an output for this event can carry context or a refusal."""
    return name in _CONTEXT or name == "PreToolUse"


def write(name: str, answer: Answer) -> bytes:
    """What goes to stdout for this answer."""
    return shapes.output(name, answer, _CONTEXT)


def neutral(_name: str) -> bytes:
    """What goes to stdout when there is nothing to say."""
    return shapes.EMPTY
