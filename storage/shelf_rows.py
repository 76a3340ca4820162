"""Memories as recall keeps them in memory: what it ranks by, read in few calls.

Times come as milliseconds since 1970, converted by SQLite. The namespace is a condition of every
statement here, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

_TEXTS = "rid, kind, content, detail, "
_NO_TEXTS = "rid, kind, '', NULL, "
_OTHERS = """iif(tags = '[]', '', tags), importance, status, session, turn, actor, role,
CAST(unixepoch(created_at, 'subsec') * 1000 AS INTEGER),
CAST(unixepoch(observed_at, 'subsec') * 1000 AS INTEGER),
CAST(unixepoch(valid_from, 'subsec') * 1000 AS INTEGER),
CAST(unixepoch(valid_to, 'subsec') * 1000 AS INTEGER),
CAST(unixepoch(updated_at, 'subsec') * 1000 AS INTEGER)"""


class ShelfRow(NamedTuple):
    """One memory, with times in milliseconds since 1970 (None where the memory has none)."""

    rid: int
    kind: str
    content: str
    detail: str | None
    tags: Sequence[str]
    importance: float
    status: str
    session: str | None
    turn: int | None
    actor: str | None
    role: str | None
    created: int
    observed: int | None
    valid_from: int | None
    valid_to: int | None
    updated: int


def ids(connection: apsw.Connection, ns: int) -> list[int]:
    """The row ids of the namespace in order, from an index alone: 0.1 s a million."""
    return sorted(
        rid for (rid,) in connection.execute("SELECT rid FROM memories WHERE ns = ?", (ns,))
    )


def chosen(connection: apsw.Connection, ns: int, rids: Iterable[int]) -> list[ShelfRow]:
    """These memories of the namespace, as far as they exist, in order of their row ids."""
    return _read(_chosen(connection, _TEXTS, ns, rids))


def without_texts(connection: apsw.Connection, ns: int, rids: Iterable[int]) -> list[ShelfRow]:
    """The same with empty texts, in half the time."""
    return _read(_chosen(connection, _NO_TEXTS, ns, rids))


def count(connection: apsw.Connection, ns: int) -> int:
    """How many memories the namespace holds."""
    found = connection.execute("SELECT rows FROM namespaces WHERE id = ?", (ns,)).get
    return int(found or 0)


def _chosen(connection: apsw.Connection, texts: str, ns: int, rids: Iterable[int]) -> apsw.Cursor:
    # The plus keeps SQLite from going through the whole namespace by an index on it.
    return connection.execute(
        f"SELECT {texts}{_OTHERS} FROM memories"  # noqa: S608  # our own constants
        " WHERE rid IN (SELECT value FROM json_each(?)) AND +ns = ? ORDER BY rid",
        (json.dumps(list(rids)), ns),
    )


def _read(rows: Iterable[tuple[object, ...]]) -> list[ShelfRow]:
    # Most rows have no tags, and replacing a field of each costs as much as reading them.
    return [
        one._replace(tags=json.loads(str(one.tags))) if one.tags else one
        for one in map(ShelfRow._make, rows)
    ]
