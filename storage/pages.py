"""Lists: memories page by page, newest first, and what a namespace holds."""

from __future__ import annotations

import base64
import binascii
import heapq
import json
from dataclasses import dataclass
from typing import Final, NamedTuple

import apsw

from .faults import Invalid
from .memories import COLUMNS, Memory, Row, from_row
from .scope import Scope, identify
from .ulid import is_ulid


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories of the scope to list; an empty filter lists all. Times are RFC 3339 UTC.

    `kinds` match any, `tags` must all be there, `since` is inclusive and `until` exclusive.
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    status: str | None = None
    since: str | None = None
    until: str | None = None


class Page(NamedTuple):
    """Some memories, and the cursor of those after them (None at the end)."""

    items: list[Memory]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """What one namespace holds; times are those of the oldest and the newest memory."""

    namespace: str
    memories: int
    kinds: dict[str, int]
    statuses: dict[str, int]
    first_at: str | None
    last_at: str | None


# Reading on from (time, id) instead of counting off rows: the last page costs what the first
# does, and rows stored meanwhile neither shift nor repeat anything. Not the row id: it counts the
# rows of the whole store. Rows of one millisecond are sorted, the rest comes along the index.
_PAGE: Final = (
    f"SELECT {COLUMNS} FROM memories m WHERE m.ns = :ns "  # noqa: S608  # constant columns
    "AND m.created_at <= :at AND (m.created_at, m.ulid) < (:at, :ulid) "
    "AND (:since IS NULL OR m.created_at >= :since) AND (:until IS NULL OR m.created_at < :until) "
    "AND (:status IS NULL OR m.status = :status) "
    "AND (:kinds = '[]' OR m.kind IN (SELECT value FROM json_each(:kinds))) "
    "AND (:tags = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(:tags) w WHERE w.value NOT IN "
    "(SELECT value FROM json_each(m.tags)))) "
    "ORDER BY m.created_at DESC, m.ulid DESC LIMIT :limit"
)
_END: Final = ("\U0010ffff", "")


def page(
    connection: apsw.Connection,
    scope: Scope,
    wanted: Filter,
    cursor: str | None = None,
    limit: int = 50,
) -> Page:
    """Up to `limit` memories of the scope, newest first. Raises Invalid for a foreign cursor."""
    names = identify(connection, scope)
    start = _END if cursor is None else _decode(cursor)
    # One ordered read per namespace, merged: a single one over several would sort them all.
    streams = [_stream(connection, ns, wanted, start, limit + 1) for ns in names]
    merged = heapq.merge(*streams, key=_position, reverse=True)
    rows = [row for row, _ in zip(merged, range(limit + 1), strict=False)]
    items = [from_row(row, names[row[2]]) for row in rows[:limit]]
    return Page(items, _encode(rows[limit - 1]) if len(rows) > limit else None)


def counts(connection: apsw.Connection, scope: Scope) -> list[Counts]:
    """What each namespace of the scope holds, in the scope's order; an unused one holds nothing."""
    known = {name: ns for ns, name in identify(connection, scope).items()}
    return [_counts(connection, known.get(name), name) for name in scope]


def _counts(connection: apsw.Connection, ns: int | None, name: str) -> Counts:
    kinds: dict[str, int] = {}
    statuses: dict[str, int] = {}
    rows = connection.execute(
        "SELECT kind, status, count(*) FROM memories WHERE ns = ? GROUP BY kind, status", (ns,)
    )
    for kind, status, number in rows:
        kinds[kind] = kinds.get(kind, 0) + number
        statuses[status] = statuses.get(status, 0) + number
    first, last = connection.execute(
        "SELECT (SELECT min(created_at) FROM memories WHERE ns = :ns), "
        "(SELECT max(created_at) FROM memories WHERE ns = :ns)",
        {"ns": ns},
    ).get
    return Counts(name, sum(kinds.values()), kinds, statuses, first, last)


def _stream(
    connection: apsw.Connection, ns: int, wanted: Filter, start: tuple[str, str], limit: int
) -> list[Row]:
    found: list[Row] = connection.execute(
        _PAGE,
        {
            "ns": ns, "at": start[0], "ulid": start[1], "since": wanted.since,
            "until": wanted.until, "status": wanted.status, "limit": limit,
            "kinds": json.dumps(wanted.kinds), "tags": json.dumps(wanted.tags),
        },
    ).fetchall()  # type: ignore[assignment]  # columns are Row by the schema  # fmt: skip
    return found


def _position(row: Row) -> tuple[str, str]:
    return row[12], row[1]


def _encode(row: Row) -> str:
    at, ulid = _position(row)
    return base64.urlsafe_b64encode(f"{at}|{ulid}".encode()).decode().rstrip("=")


def _decode(cursor: str) -> tuple[str, str]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        plain = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise Invalid("This cursor is not one of ours.") from error
    at, _, ulid = plain.partition("|")
    if not (at and is_ulid(ulid)):
        raise Invalid("This cursor is not one of ours.")
    return at, ulid
