"""The request models about agents at work: events, rules, checkpoints, lessons."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from .fields import Instant, Name, NamespaceName, Namespaces, One, Query, Request, Whole


def _says_something(pattern: str) -> str:
    if not pattern.strip("*? "):
        raise ValueError("a pattern must say something besides * and ?")
    return pattern


Told = Annotated[str, Field(max_length=1_000_000)]
"""A text of an event; bounded by the body, and cut by the intake."""
Short = Annotated[str, Field(max_length=4096)]


class EventRequest(Request):
    """Something that happened in an agent's session; a hook tells it, once or again.

    It is the same event if id, host, kind, session and time are.
    """

    id: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w.:-]+$")]
    host: Name
    kind: Literal[
        "session_start",
        "prompt",
        "pre_tool",
        "tool_success",
        "tool_failure",
        "subagent_start",
        "stop",
        "subagent_stop",
        "session_end",
        "pre_compact",
        "post_compact",
    ]
    session: Annotated[str, Field(min_length=1, max_length=1000)]
    at: Instant
    cwd: Short | None = None
    source: Short | None = None
    text: Told | None = None
    tool: Short | None = None
    input: Told | None = None
    response: Told | None = None
    error: Told | None = None
    tool_use_id: Short | None = None
    agent: Short | None = None
    transcript: Short | None = None
    reason: Short | None = None


class EventsRequest(Request):
    """Events of one checkout, in order; with `reply` the last one is answered."""

    events: Annotated[list[EventRequest], Field(min_length=1, max_length=100)]
    reply: bool = False


class RulesQuery(Query):
    """How many tokens of rules to give (a token is about four characters), and from where."""

    budget: Annotated[int, Whole, Field(ge=100, le=20_000)] = 2_000
    namespaces: Namespaces | None = None


class HardRequest(Request):
    """What a hard rule forbids: calls of `tool` (`*`: any) whose command or path fits `pattern`.

    In a pattern `*` stands for anything and `?` for one character.
    """

    tool: Name = "*"
    pattern: Annotated[str, Field(min_length=2, max_length=200), AfterValidator(_says_something)]


class CheckpointRequest(Request):
    """Where work stands; it replaces the namespace's current checkpoint."""

    completed: Annotated[str, Field(max_length=8_000)] = ""
    remaining: Annotated[str, Field(min_length=1, max_length=8_000)]
    blockers: Annotated[str, Field(max_length=8_000)] = ""
    notes: Annotated[str, Field(max_length=8_000)] = ""
    session: Annotated[str, Field(min_length=1, max_length=1000)] | None = None
    namespace: NamespaceName | None = None


class CheckpointQuery(Query):
    """Whose checkpoint; the grant's own namespace when none is named."""

    namespace: Annotated[NamespaceName | None, One] = None
    history: Annotated[bool, One] = False


class LearnedQuery(Query):
    """Which lessons or outcomes to list, newest first."""

    status: Annotated[Literal["candidate", "promoted", "rejected", "archived"] | None, One] = None
    limit: Annotated[int, Whole, Field(ge=1, le=200)] = 20
    namespaces: Namespaces | None = None
