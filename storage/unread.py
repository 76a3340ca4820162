"""Rows of a space whose vector was made at once and shall be replaced by one that takes longer.

An entry outlives its row: whoever reads it next finds the row gone and strikes it off.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

import apsw

from . import pieces, vectors
from .memories import CONVERSATION
from .transaction import Transaction
from .vectors import Item, Space

MOST_COUNTED: Final = 100_000
"""Counting goes on to here, 4 ms; a store with more has long to go in any case."""


class Waiting(NamedTuple):
    """A row to be read, with its text."""

    rid: int
    ulid: str
    version: int
    content: str
    kind: str
    role: str | None

    @property
    def is_turn(self) -> bool:
        """Whether it is a turn of a conversation."""
        return self.kind == CONVERSATION

    @property
    def is_talk(self) -> bool:
        """Whether it is a turn of people talking to each other: in chats with an assistant and in
        what tools say turns have a role.
        """
        return self.is_turn and self.role is None


class Made(NamedTuple):
    """A vector that took its time; with `states` of its pieces, or none."""

    item: Item
    states: bytes = b""


class Unread(NamedTuple):
    """The newest entries: rows that are there, and the ids of rows that are gone."""

    rows: list[Waiting]
    gone: list[int]


def put_first(tx: Transaction, space: Space, items: Iterable[Item], *, turns: bool) -> int:
    """Write vectors that were made at once and are to be replaced (see `put_read`): those of notes,
    and of `turns` of conversations if so said.

    Returns how many were written.
    """
    given = list(items)
    written = vectors.put(tx, space, given)
    tx.connection.executemany(
        "INSERT OR IGNORE INTO unread(space, rid) "
        "SELECT ?, rid FROM memories WHERE rid = ? AND version = ? AND kind <> ?",
        [(space.id, item.rid, item.version, "" if turns else CONVERSATION) for item in given],
    )
    return written


def put_read(tx: Transaction, space: Space, read: Iterable[Made], gone: Iterable[int]) -> None:
    """Replace vectors, keep pieces, and strike the rows off with those that are `gone`.

    A row with a newer version by now stays: its text may be another one. A space that was dropped
    meanwhile takes nothing in.
    """
    if vectors.find_space(tx.connection, space.name) != space:
        return
    tx.connection.executemany(
        "DELETE FROM unread WHERE space = ? AND rid = ?", [(space.id, rid) for rid in gone]
    )
    for item, states in read:
        if vectors.put(tx, space, [item]):
            if states:
                pieces.put(tx, space.id, item.rid, states)
            strike = "DELETE FROM unread WHERE space = ? AND rid = ?"
            tx.connection.execute(strike, (space.id, item.rid))


def newest(connection: apsw.Connection, space: Space, limit: int) -> Unread:
    """The entries to read next, the newest rows first."""
    entries = connection.execute(
        "SELECT rid FROM unread WHERE space = ? ORDER BY rid DESC LIMIT ?", (space.id, limit)
    )
    rids = [int(rid) for (rid,) in entries]
    found = connection.execute(
        "SELECT rid, ulid, version, content, kind, role FROM memories "
        "WHERE rid IN (SELECT value FROM json_each(?)) ORDER BY rid DESC",
        (json.dumps(rids),),
    )
    rows = [Waiting(*row) for row in found]
    return Unread(rows, sorted({*rids} - {row.rid for row in rows}))


def count(connection: apsw.Connection, space: Space) -> int:
    """How many rows are to be read, `MOST_COUNTED` at most."""
    counted = "SELECT count(*) FROM (SELECT 1 FROM unread WHERE space = ? LIMIT ?)"
    return int(connection.execute(counted, (space.id, MOST_COUNTED)).get)


def holds(connection: apsw.Connection, space: Space, ns: int) -> bool:
    """Whether a row of the namespace is to be read."""
    found = (
        "SELECT EXISTS(SELECT 1 FROM memories m CROSS JOIN unread u "
        "ON u.space = ? AND u.rid = m.rid WHERE m.ns = ?)"
    )
    return bool(connection.execute(found, (space.id, ns)).get)


def has_notes(connection: apsw.Connection) -> bool:
    """Whether there is anything but turns of conversations."""
    found = "SELECT EXISTS(SELECT 1 FROM memories WHERE kind <> ?)"
    return bool(connection.execute(found, (CONVERSATION,)).get)
