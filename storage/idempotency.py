"""Answers already given to keyed writes, so that a repeated request is answered, not repeated."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from .faults import KeyReused
from .transaction import Transaction


class Saved(NamedTuple):
    """The answer of an earlier request: HTTP status and body."""

    status: int
    body: bytes


def replay(connection: apsw.Connection, grant: str, key: str, digest: bytes) -> Saved | None:
    """The answer saved under this grant and key, or None for a new key.

    Raises KeyReused when the key was used for a request with another digest. Called again inside
    the writing job: two copies of a request may have been queued together.
    """
    row = connection.execute(
        "SELECT digest, status, body FROM idempotency WHERE grant_id = ? AND key = ?",
        (grant, key),
    ).fetchone()
    if row is None:
        return None
    if row[0] != digest:
        raise KeyReused("This idempotency key was used for a different request.")
    return Saved(row[1], row[2])


def save(tx: Transaction, grant: str, key: str, digest: bytes, *, status: int, body: bytes) -> None:
    """Keep the answer, in the same transaction as the write it answers."""
    tx.connection.execute(
        "INSERT INTO idempotency(grant_id, key, digest, status, body, at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (grant, key, digest, status, body, tx.now),
    )


def expire(tx: Transaction, before: str) -> int:
    """Drop answers given before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM idempotency WHERE at < ?", (before,))
    return tx.connection.changes()
