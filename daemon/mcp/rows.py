"""Memories as agents read them: few fields, none of them empty, nothing hidden in the text."""

from __future__ import annotations

from ...storage.memories import Memory
from ..injection.visible import one_line, untagged, visible
from .packing import Row

TITLE = 100
"""Characters of a memory in an index."""


def index(memory: Memory) -> Row:
    """One line of an index: enough to decide whether to fetch it."""
    return _sparse({**_head(memory), "title": one_line(memory.content, TITLE)})


def hit(memory: Memory) -> Row:
    """A memory with its text."""
    return _sparse(
        {**_head(memory), "tags": list(memory.tags), "text": untagged(visible(memory.content))}
    )


def full(memory: Memory, offset: int = 0) -> Row:
    """Everything an agent may want to know; the text from character `offset` on."""
    return _sparse(
        {
            **_head(memory),
            "at": memory.created_at,
            "namespace": memory.namespace,
            "observed_at": memory.observed_at,
            "valid_from": memory.valid_from,
            "valid_to": memory.valid_to,
            "supersedes": memory.supersedes,
            "superseded_by": memory.superseded_by,
            "source": dict(memory.source),
            "tags": list(memory.tags),
            "text": visible(memory.content)[offset:],
            "detail": None if memory.detail is None else visible(memory.detail),
        }
    )


def _head(memory: Memory) -> Row:
    head: Row = {
        "id": memory.ulid,
        "kind": memory.kind,
        "at": f"{(memory.observed_at or memory.created_at)[:16]}Z",
    }
    if memory.namespace.startswith("project:"):
        return head | _status(memory)
    return head | {"namespace": memory.namespace} | _status(memory)


def _status(memory: Memory) -> Row:
    return {} if memory.status == "active" else {"status": memory.status}


def _sparse(row: Row) -> Row:
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}
