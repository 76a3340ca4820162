"""The JSON of Claude Code, which Codex took over whole, and Gemini CLI and Kiro in part.

Outputs are ASCII only: an escape is the same text to a JSON reader, and no lone surrogate can break
it.
"""

from __future__ import annotations

import json
from collections.abc import Set

from ...connection.documents import Document, flag, text
from ..event import Answer, Event
from ..payload import first, session

EMPTY = b"{}\n"
"""An object without a wish: valid for every event of every host that reads JSON."""

_SAID = ("prompt", "last_assistant_message", "compact_summary")
_WHY = ("reason", "trigger")


def event(kind: str, host: str, payload: Document) -> Event:
    """An event whose fields are called as Claude Code calls them."""
    return Event(
        kind,
        session(payload, host, "session_id"),
        cwd=text(payload, "cwd"),
        source=text(payload, "source"),
        text=first(payload, *_SAID),
        tool=text(payload, "tool_name"),
        input=payload.get("tool_input"),
        response=payload.get("tool_response"),
        error=text(payload, "error"),
        tool_use_id=text(payload, "tool_use_id"),
        # The type alone may be that of the whole session, and then the person speaks.
        agent=first(payload, "agent_type", "agent_id") if text(payload, "agent_id") else "",
        transcript=first(payload, "agent_transcript_path", "transcript_path"),
        reason="interrupt" if flag(payload, "is_interrupt") else first(payload, *_WHY),
    )


def judged(found: Event) -> Event:
    """The event with its kind told from the response, for hosts that have one for both endings."""
    if found.kind != "tool_success":
        return found
    from ..failures import failure  # with a pattern to compile

    error = failure(found.response)
    if error is None:
        return found
    return found._replace(kind="tool_failure", error=error, response=None)


def encoded(output: Document) -> bytes:
    """The output as one line."""
    return json.dumps(output).encode("ascii") + b"\n"


def specific(name: str, fields: Document) -> Document:
    """The event's own part of an output; without its name hosts drop all of it."""
    return {"hookSpecificOutput": {"hookEventName": name, **fields}}


def notice(said: str | None) -> Document:
    """A line for the person, which the model never sees."""
    return {"systemMessage": said} if said else {}


def output(name: str, answer: Answer, context: Set[str]) -> bytes:
    """What Claude Code and Codex are told; `context` are the events that take some."""
    told = notice(answer.notice)
    if name == "PreToolUse" and answer.deny:
        refusal: Document = {"permissionDecision": "deny", "permissionDecisionReason": answer.deny}
        told |= specific(name, refusal)
    elif name in context and answer.context:
        told |= specific(name, {"additionalContext": answer.context})
    return encoded(told)
