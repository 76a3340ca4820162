"""Cursor: snake_case fields; a prompt hook can only let pass, and no output may grant anything.

`permission: allow` would skip the person's own approval, so it is never said.
"""

from __future__ import annotations

from ...connection.documents import Document, flag, parse, strings, text
from ..event import Answer, Event
from ..payload import first, session
from . import shapes

KINDS = {
    "sessionStart": "session_start",
    "beforeSubmitPrompt": "prompt",
    "preToolUse": "pre_tool",
    "beforeShellExecution": "pre_tool",
    "beforeMCPExecution": "pre_tool",
    "postToolUse": "tool_success",
    "afterShellExecution": "tool_success",
    "afterMCPExecution": "tool_success",
    "afterFileEdit": "tool_success",
    "postToolUseFailure": "tool_failure",
    "subagentStart": "subagent_start",
    "subagentStop": "subagent_stop",
    "afterAgentResponse": "stop",
    "stop": "stop",
    "sessionEnd": "session_end",
    "preCompact": "pre_compact",
}

_CONTEXT = frozenset({"sessionStart", "postToolUse"})
_REFUSAL = frozenset({"preToolUse", "beforeShellExecution", "beforeMCPExecution"})
_TOOLS = {
    "beforeShellExecution": "Shell",
    "afterShellExecution": "Shell",
    "afterFileEdit": "Edit",
}
_INPUTS = ("command", "file_path", "edits")


def read(name: str, payload: Document) -> Event | None:
    """The event, or None for one that says nothing to us. The person's e-mail is left behind."""
    kind = KINDS.get(name)
    if kind is None:
        return None
    found = Event(
        kind,
        session(payload, "cursor", "conversation_id", "session_id"),
        cwd=text(payload, "cwd") or next(iter(strings(payload.get("workspace_roots"))), ""),
        text=first(payload, "prompt", "text", "summary"),
        tool=text(payload, "tool_name") or _TOOLS.get(name, ""),
        input=_input(payload),
        response=_structured(first(payload, "tool_output", "output", "result_json")),
        error=text(payload, "error_message"),
        tool_use_id=text(payload, "tool_use_id"),
        agent=text(payload, "subagent_type"),
        transcript=first(payload, "agent_transcript_path", "transcript_path"),
        reason=_reason(payload),
    )
    return shapes.judged(found)


def _input(payload: Document) -> object:
    if "tool_input" in payload:
        return payload["tool_input"]
    return {key: payload[key] for key in _INPUTS if key in payload} or None


def _structured(response: str) -> object:
    """The response as what its JSON says, where it is some; the text itself elsewhere."""
    found = parse(response.encode("utf-8", "replace")) if response.startswith(("{", "[")) else None
    return found if found is not None else response or None


def _reason(payload: Document) -> str:
    if flag(payload, "is_interrupt"):
        return "interrupt"
    return first(payload, "failure_type", "reason", "status", "trigger")


def takes(name: str) -> bool:
    """Whether an output for this event can carry context or a refusal."""
    return name in _CONTEXT or name in _REFUSAL


def write(name: str, answer: Answer) -> bytes:
    """What goes to stdout for this answer; Cursor has no place for a notice of its own."""
    if name in _REFUSAL and answer.deny:
        refusal: Document = {
            "permission": "deny",
            "user_message": answer.deny,
            "agent_message": answer.deny,
        }
        return shapes.encoded(refusal)
    if name in _CONTEXT and answer.context:
        return shapes.encoded({"additional_context": answer.context})
    return neutral(name)


def neutral(name: str) -> bytes:
    """What goes to stdout when there is nothing to say; a prompt must be told to go on."""
    return shapes.encoded({"continue": True}) if name == "beforeSubmitPrompt" else shapes.EMPTY
