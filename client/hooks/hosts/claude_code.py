"""Claude Code: `hookSpecificOutput` with the event's name in it, or the whole output is lost."""

from __future__ import annotations

from ...connection.documents import Document
from ..event import Answer, Event
from . import shapes

KINDS = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "pre_tool",
    "PostToolUse": "tool_success",
    "PostToolUseFailure": "tool_failure",
    "SubagentStart": "subagent_start",
    "SubagentStop": "subagent_stop",
    "Stop": "stop",
    "SessionEnd": "session_end",
    "PreCompact": "pre_compact",
    "PostCompact": "post_compact",
}

# Not PostToolUse: a success needs no advice. Not Stop or SubagentStop: context there makes the
# agent go on. Not PreToolUse: it would land beside the result of the call it was meant for.
_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "SubagentStart", "PostToolUseFailure"})


def read(name: str, payload: Document) -> Event | None:
    """The event, or None for one that says nothing to us."""
    kind = KINDS.get(name)
    return None if kind is None else shapes.event(kind, "claude-code", payload)


def takes(name: str) -> bool:
    """Whether an output for this event can carry context or a refusal."""
    return name in _CONTEXT or name == "PreToolUse"


def write(name: str, answer: Answer) -> bytes:
    """What goes to stdout for this answer."""
    return shapes.output(name, answer, _CONTEXT)


def neutral(_name: str) -> bytes:
    """What goes to stdout when there is nothing to say."""
    return shapes.EMPTY
