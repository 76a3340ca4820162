"""Every call of the SDK without I/O: method, path, body, and how its answer reads.

`Memory` and `AsyncMemory` only differ in how they wait; what they say lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, NamedTuple, TypedDict, TypeVar

from ...auth.errors import RecalldError
from ..connection.documents import Document
from ..connection.http1 import encode_query, segment
from ..connection.request import Request, encode, new_key
from . import readings
from .models import Entry, Found, NamespaceStats, Page, Recalled, Receipt, Status

T = TypeVar("T")


class Operation(NamedTuple, Generic[T]):
    """One call: what is asked, and `read`, which turns the answer into its model."""

    request: Request
    read: Callable[[Document], T]


class StoreFields(TypedDict, total=False):
    """What a memory can have besides its text."""

    kind: str
    detail: str
    tags: Sequence[str]
    importance: float
    namespace: str
    source: Mapping[str, object]
    observed_at: str
    valid_from: str
    valid_to: str
    supersedes: str


class Draft(StoreFields):
    """One item of `store_many`: a memory's text and what else it has."""

    content: str


class FilterFields(TypedDict, total=False):
    """What recall and search can be narrowed to."""

    kinds: Sequence[str]
    tags: Sequence[str]
    since: str
    until: str
    namespaces: Sequence[str]


class RecallFields(FilterFields, total=False):
    """What else a recall can be told; `budget` is in tokens."""

    as_of: str
    budget: int
    explain: bool
    timeout_ms: int


class ListFields(TypedDict, total=False):
    """What a listing can be narrowed to."""

    namespaces: Sequence[str]
    kinds: Sequence[str]
    tags: Sequence[str]
    status: str
    since: str
    until: str


class EditFields(TypedDict, total=False):
    """What can be changed; None empties a field that may be empty."""

    content: str
    detail: str | None
    tags: Sequence[str]
    importance: float
    kind: str
    status: str
    valid_from: str | None
    valid_to: str | None
    if_version: int


class Turn(TypedDict, total=False):
    """One turn of a conversation; `text` is what was said, word for word."""

    text: str
    speaker: str
    role: str
    at: str
    id: str
    reply_to: str


def _write(method: str, target: str, body: object, read: Callable[[Document], T]) -> Operation[T]:
    raw = None if body is None else encode(body)
    return Operation(Request(method, target, raw, key=new_key()), read)


def _memory(memory_id: str, rest: str = "") -> str:
    return f"/v1/memories/{segment(memory_id)}{rest}"


def store(content: str, fields: StoreFields) -> Operation[Receipt]:
    """Store one memory."""
    return _write("POST", "/v1/memories", {"content": content, **fields}, readings.receipt)


def store_many(drafts: Iterable[Draft]) -> Operation[list[Receipt | RecalldError]]:
    """Store up to 1,000 memories in one transaction; each is judged by itself."""
    body = {"items": [dict(draft) for draft in drafts]}
    return _write("POST", "/v1/memories/batch", body, readings.receipts)


def recall(query: str, limit: int, fields: RecallFields) -> Operation[Recalled]:
    """Recall by meaning and words."""
    body = encode({"query": query, "limit": limit, **fields})
    return Operation(Request("POST", "/v1/recall", body), readings.recalled)


def search(query: str, limit: int, offset: int, fields: FilterFields) -> Operation[Found]:
    """Find what contains every word."""
    body = encode({"query": query, "limit": limit, "offset": offset, **fields})
    return Operation(Request("POST", "/v1/search", body), readings.found)


def get(memory_id: str) -> Operation[Entry]:
    """One whole memory."""
    return Operation(Request("GET", _memory(memory_id)), readings.entry)


def listing(limit: int, cursor: str | None, fields: ListFields) -> Operation[Page]:
    """One page of memories, newest first."""
    pairs = [("limit", str(limit))] + ([("cursor", cursor)] if cursor else [])
    pairs += [("namespace", name) for name in fields.get("namespaces", ())]
    pairs += [("kind", kind) for kind in fields.get("kinds", ())]
    pairs += [("tag", tag) for tag in fields.get("tags", ())]
    single = {"status": fields.get("status"), "since": fields.get("since")}
    single["until"] = fields.get("until")
    pairs += [(name, value) for name, value in single.items() if value]
    return Operation(Request("GET", "/v1/memories" + encode_query(pairs)), readings.page)


def edit(memory_id: str, fields: EditFields) -> Operation[Entry]:
    """Change what is named."""
    return _write("PATCH", _memory(memory_id), dict(fields), readings.entry)


def forget(memory_id: str) -> Operation[None]:
    """Forget a memory; its history stays."""
    return _write("DELETE", _memory(memory_id), None, readings.nothing)


def history(memory_id: str, cursor: str | None) -> Operation[readings.Versions]:
    """One page of the versions of a memory, oldest first."""
    target = _memory(memory_id, "/history")
    if cursor is not None:
        target += encode_query([("cursor", cursor)])
    return Operation(Request("GET", target), readings.versions)


def undo(memory_id: str) -> Operation[Entry]:
    """Take back the last change."""
    return _write("POST", _memory(memory_id, "/undo"), None, readings.entry)


def conversation(
    session: str, turns: Iterable[Turn], namespace: str | None
) -> Operation[list[Receipt | RecalldError]]:
    """Keep the turns of a conversation word for word."""
    body: dict[str, object] = {"session": session, "turns": [dict(turn) for turn in turns]}
    if namespace is not None:
        body["namespace"] = namespace
    return _write("POST", "/v1/conversations", body, readings.receipts)


def status() -> Operation[Status]:
    """How the daemon is doing, as far as this grant may know."""
    return Operation(Request("GET", "/v1/status"), readings.status)


def stats() -> Operation[list[NamespaceStats]]:
    """What each readable namespace holds."""
    return Operation(Request("GET", "/v1/stats"), readings.stats)
