"""What every host's events are translated into, and what every host's answers are made from."""

from __future__ import annotations

from typing import NamedTuple

from ..connection.documents import Document, document, maybe_text, text

MOST_CONTEXT = 10_000
"""Characters an agent takes from one hook; Claude Code counts UTF-16 units and files away more."""

ANSWERED = frozenset({"session_start", "prompt", "pre_tool", "subagent_start", "tool_failure"})
"""The kinds the daemon has something to say to."""

_ANSWERED_LATE = {"cursor": "tool_success"}
# Cursor takes no context where a call failed, nor with a prompt: the known fix comes after the next
# call that works.


class Event(NamedTuple):
    """One event before it is packed for the daemon; an empty string means the host did not tell.

    `kind` is session_start, prompt, pre_tool, tool_success, tool_failure, subagent_start, stop,
    subagent_stop, session_end, pre_compact or post_compact. `input` and `response` are as they came
    in the host's JSON.
    """

    kind: str
    session: str
    cwd: str = ""
    source: str = ""
    text: str = ""
    tool: str = ""
    input: object = None
    response: object = None
    error: str = ""
    tool_use_id: str = ""
    agent: str = ""
    transcript: str = ""
    reason: str = ""


class Answer(NamedTuple):
    """What the daemon wants said: `context` for the model, `deny` as the reason why a tool call
    must not run, `notice` for the person.
    """

    context: str | None = None
    deny: str | None = None
    notice: str | None = None


NOTHING = Answer()


def is_answered(host: str, kind: str) -> bool:
    """Whether the daemon may have something to say to such an event of this host."""
    return kind in ANSWERED or _ANSWERED_LATE.get(host) == kind


def answer(said: Document) -> Answer:
    """The daemon's answer to an event; what is empty, too long or of a wrong type is left out."""
    return Answer(
        context=_within(maybe_text(said, "context")),
        deny=_within(text(document(said.get("deny")), "reason")),
        notice=_within(maybe_text(said, "notice")),
    )


def _within(value: str | None) -> str | None:
    if not value or not value.strip():
        return None
    units = len(value.encode("utf-16-le", "surrogatepass")) // 2
    return value if units <= MOST_CONTEXT else None
