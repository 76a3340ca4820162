"""The request models. Their JSON schemas are what `/openapi.json` says about requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from ...auth.grant import Role
from .fields import (
    MAX_CONTENT,
    MAX_NAME,
    MAX_QUERY,
    Content,
    Detail,
    Importance,
    Instant,
    Kind,
    Name,
    NamespaceName,
    Namespaces,
    One,
    Query,
    Request,
    Status,
    Tag,
    Tags,
    Ulid,
    Whole,
)

MAX_BATCH = 1000
"""Items of one batch; one transaction of about 80 ms."""


class HelloRequest(Request):
    """`nonce` is 32 random bytes as 64 hexadecimal digits."""

    nonce: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]
    api: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    version: Annotated[str, Field(max_length=MAX_NAME)] | None = None


class StopRequest(Request):
    """`reason` is kept in the log and in last-exit.json."""

    reason: Annotated[str, Field(max_length=MAX_NAME)] | None = None


class GrantRequest(Request):
    """Namespaces default to the checkout's own (admin) and the user's (editor)."""

    checkout: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    namespaces: (
        Annotated[dict[NamespaceName, Annotated[Role, Field(strict=False)]], Field(min_length=1)]
        | None
    ) = None
    label: Annotated[str, Field(max_length=MAX_NAME)] = ""
    expires_at: Instant | None = None


class Source(Request):
    """Where a memory comes from."""

    agent: Name | None = None
    session: Name | None = None
    tool: Name | None = None
    files: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=100)] | None = (
        None
    )


class StoreRequest(Request):
    """One memory to store."""

    content: Content
    kind: Kind = "note"
    detail: Detail | None = None
    tags: Annotated[Tags, Field(default_factory=list)]
    importance: Importance = 0.5
    namespace: NamespaceName | None = None
    source: Source | None = None
    observed_at: Instant | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    supersedes: Ulid | None = None


class BatchRequest(Request):
    """Many memories at once; each is checked, stored or refused for itself."""

    items: Annotated[list[dict[str, JsonValue]], Field(min_length=1, max_length=MAX_BATCH)]


class Turn(Request):
    """One turn of a conversation, kept word for word."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)]
    speaker: Name | None = None
    role: Name | None = None
    at: Instant | None = None
    id: Name | None = None
    reply_to: Name | None = None


class ConversationRequest(Request):
    """Turns of one session, in order."""

    session: Name
    turns: Annotated[list[Turn], Field(min_length=1, max_length=MAX_BATCH)]
    namespace: NamespaceName | None = None


class EditRequest(Request):
    """What to change; an absent field stays, an explicit null empties it where that is possible."""

    content: Content | None = None
    detail: Detail | None = None
    tags: Tags | None = None
    importance: Importance | None = None
    kind: Kind | None = None
    status: Annotated[str, Field(pattern="^(active|archived)$")] | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    if_version: Annotated[int, Field(ge=1, le=2**53)] | None = None


class RecallRequest(Request):
    """What to look for; `budget` is in tokens."""

    query: Annotated[str, Field(max_length=MAX_QUERY)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=8)] | None = None
    tags: Tags | None = None
    since: Instant | None = None
    until: Instant | None = None
    as_of: Instant | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    explain: bool = False
    namespaces: Namespaces | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=120_000)] | None = None


class SearchRequest(Request):
    """Words that must all occur."""

    query: Annotated[str, Field(max_length=MAX_QUERY)]
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0
    kinds: Annotated[list[Kind], Field(min_length=1, max_length=8)] | None = None
    tags: Tags | None = None
    since: Instant | None = None
    until: Instant | None = None
    namespaces: Namespaces | None = None


class PageQuery(Query):
    """Which memories to list, newest first; `namespace`, `kind` and `tag` may be repeated."""

    namespace: Namespaces | None = None
    kind: Annotated[list[Kind], Field(max_length=8)] | None = None
    tag: Annotated[list[Tag], Field(max_length=32)] | None = None
    status: Annotated[Status | None, One] = None
    since: Annotated[Instant | None, One] = None
    until: Annotated[Instant | None, One] = None
    limit: Annotated[int, Whole, Field(ge=1, le=200)] = 50
    cursor: Annotated[str | None, One, Field(max_length=200)] = None


class HistoryQuery(Query):
    """Which versions of a memory: `cursor` goes on where the page before ended."""

    limit: Annotated[int, Whole, Field(ge=1, le=100)] = 100
    cursor: Annotated[int, Whole, Field(ge=0)] = 0


class StreamQuery(Query):
    """Which namespaces to follow; all that the grant covers when none is named."""

    namespace: Namespaces | None = None
