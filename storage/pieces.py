"""What each word piece of a row's text means in it: made by close reading, kept beside the vector.

Rows that are compared by their vector alone have none. Pieces belong to the text they were read
from and to a space, as vectors do, and go when those go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from .transaction import Transaction


def put(tx: Transaction, space: int, rid: int, states: bytes) -> None:
    """Keep the pieces of a row's present text, in place of older ones."""
    tx.connection.execute(
        "INSERT INTO pieces(rid, space, states) VALUES (?, ?, ?) "
        "ON CONFLICT(rid, space) DO UPDATE SET states = excluded.states",
        (rid, space, states),
    )


def get(connection: apsw.Connection, space: str, rids: Iterable[int]) -> dict[int, bytes]:
    """The pieces of those of the rows that have some, made for the space of this name."""
    found = connection.execute(
        "SELECT rid, states FROM pieces WHERE rid IN (SELECT value FROM json_each(?)) "
        "AND space = (SELECT id FROM spaces WHERE name = ?)",
        (json.dumps(list(rids)), space),
    )
    return {int(rid): states for rid, states in found}


def remove(connection: apsw.Connection, rid: int) -> None:
    """Take a row's pieces away in every space."""
    connection.execute("DELETE FROM pieces WHERE rid = ?", (rid,))


def drop(tx: Transaction, space: int, most: int) -> int:
    """Take pieces of a space away, so many at most: all of a large store's take a second, and
    nobody could store meanwhile. Returns how many went.
    """
    tx.connection.execute(
        "DELETE FROM pieces WHERE id IN (SELECT id FROM pieces WHERE space = ? LIMIT ?)",
        (space, most),
    )
    return tx.connection.changes()
