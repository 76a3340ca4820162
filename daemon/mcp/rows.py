"""Memories as agents read them: few fields, none of them empty, nothing hidden in the text.

Every text in them is somebody's: no tag in it may look like a host's, or like our own block's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ...storage.memories import Memory, spoken
from ..injection.visible import one_line, untagged, visible
from .packing import Row

TITLE = 100
"""Characters of a memory in an index."""


def index(memory: Memory) -> Row:
    """One line of an index: enough to decide whether to fetch it."""
    return _sparse(
        {
            **_head(memory),
            "speaker": _spoken(memory).get("speaker"),
            "title": one_line(memory.content, TITLE),
        }
    )


def hit(memory: Memory) -> Row:
    """A memory with its text."""
    told = {"tags": safe(memory.tags), "text": safe(memory.content)}
    return _sparse({**_head(memory), **_spoken(memory), **told})


def full(memory: Memory, offset: int = 0) -> Row:
    """Everything an agent may want to know; the text from character `offset` on."""
    return _sparse(
        {
            **_head(memory),
            "at": memory.created_at,
            "namespace": memory.namespace,
            "observed_at": memory.observed_at,
            **_spoken(memory),
            "valid_from": memory.valid_from,
            "valid_to": memory.valid_to,
            "supersedes": memory.supersedes,
            "superseded_by": memory.superseded_by,
            "source": safe(memory.source),
            "tags": safe(memory.tags),
            "text": untagged(visible(memory.content))[offset:],
            "detail": safe(memory.detail),
        }
    )


def safe(value: object) -> object:
    """The JSON value with all its texts made safe to show; see injection.visible."""
    if isinstance(value, str):
        return untagged(visible(value))
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {str(safe(name)): safe(each) for name, each in members.items()}
    if isinstance(value, list | tuple):
        return [safe(each) for each in cast("list[object]", value)]
    return value


def _head(memory: Memory) -> Row:
    head: Row = {
        "id": memory.ulid,
        "kind": memory.kind,
        "at": f"{(memory.observed_at or memory.created_at)[:16]}Z",
    }
    if memory.namespace.startswith("project:"):
        return head | _status(memory)
    return head | {"namespace": memory.namespace} | _status(memory)


def _spoken(memory: Memory) -> Row:
    return {name: safe(value) for name, value in spoken(memory).items()}


def _status(memory: Memory) -> Row:
    return {} if memory.status == "active" else {"status": memory.status}


def _sparse(row: Row) -> Row:
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}
