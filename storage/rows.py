"""Writing the row of a memory together with everything that must never disagree with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from . import fulltext, history, namespaces, vectors
from .memories import CONVERSATION, Memory
from .transaction import Change, Transaction

_INDEXED: Final = ("content", "detail", "tags")


def content_hash(content: str, detail: str | None) -> bytes:
    """What exact duplicates have in common."""
    return hashlib.sha256(f"{content}\0{detail or ''}".encode()).digest()


def add(tx: Transaction, ns: int, memory: Memory, context: str | None = None) -> int:
    """Insert the row with its full-text entry; returns its row id (`memory.rid` is not looked at).

    Without `context` the turn before it (if it is a turn) is looked up.
    """
    tx.connection.execute(_INSERT, _values(ns, memory))
    rid = tx.connection.last_insert_rowid()
    namespaces.count(tx, ns, 1)
    fulltext.index(tx.connection, rid, ns, memory, context)
    return rid


def rewrite(
    tx: Transaction,
    ns: int,
    memory: Memory,
    changes: Mapping[str, Any],
    op: str,
    *,
    by: str,
    restores: int | None = None,
) -> Memory:
    """Write a new version of an existing row.

    A new text takes the row's vectors away, and so does becoming a turn or ceasing to be one: those
    have vectors of another making.
    """
    after = replace(memory, **changes, version=memory.version + 1, updated_at=tx.now)
    tx.connection.execute(_UPDATE, (*_values(ns, after), memory.rid))
    if any(getattr(after, name) != getattr(memory, name) for name in _INDEXED):
        fulltext.index(tx.connection, after.rid, ns, after)
    new_text = after.content != memory.content
    if new_text:
        fulltext.index_next_turn(tx.connection, ns, after.session, after.turn)
    anew = new_text or (after.kind == CONVERSATION) != (memory.kind == CONVERSATION)
    if anew:
        vectors.remove(tx.connection, memory.rid)
    history.append(tx, ns, after, op, by=by, restores=restores)
    tx.record(Change("upsert", ns, after.rid, after.ulid, after.version, after.namespace, anew))
    return after


def remove(tx: Transaction, ns: int, memory: Memory, *, by: str) -> None:
    """Delete the row, its full text, its vectors and its counters; history keeps the last state."""
    tx.connection.execute("DELETE FROM memories WHERE rid = ?", (memory.rid,))
    namespaces.count(tx, ns, -1)
    tx.connection.execute("DELETE FROM counters WHERE rid = ?", (memory.rid,))
    fulltext.remove(tx.connection, memory.rid)
    fulltext.index_next_turn(tx.connection, ns, memory.session, memory.turn)
    vectors.remove(tx.connection, memory.rid)
    gone = replace(memory, version=memory.version + 1)
    history.append(tx, ns, gone, "forget", by=by)
    tx.record(Change("remove", ns, memory.rid, memory.ulid, gone.version, memory.namespace, True))


_COLUMNS: Final = (
    "ulid", "ns", "version", "kind", "content", "detail", "tags", "importance", "evidence",
    "source", "status", "created_at", "updated_at", "observed_at", "valid_from", "valid_to",
    "supersedes", "superseded_by", "created_by", "session", "turn", "actor", "role",
    "content_hash",
)  # fmt: skip
_INSERT: Final = (
    f"INSERT INTO memories({', '.join(_COLUMNS)}) "  # noqa: S608  # constant columns
    f"VALUES ({', '.join('?' * len(_COLUMNS))})"
)
_UPDATE: Final = (
    f"UPDATE memories SET ({', '.join(_COLUMNS)}) = ({', '.join('?' * len(_COLUMNS))}) "  # noqa: S608  # constant columns
    "WHERE rid = ?"
)


def _values(ns: int, memory: Memory) -> tuple[str | int | float | bytes | None, ...]:
    return (
        memory.ulid, ns, memory.version, memory.kind, memory.content, memory.detail,
        orjson.dumps(memory.tags).decode(), memory.importance, memory.evidence,
        orjson.dumps(memory.source).decode(), memory.status, memory.created_at,
        memory.updated_at, memory.observed_at, memory.valid_from, memory.valid_to,
        memory.supersedes, memory.superseded_by, memory.created_by, memory.session, memory.turn,
        memory.actor, memory.role, content_hash(memory.content, memory.detail),
    )  # fmt: skip
