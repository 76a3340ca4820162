"""What was stored right before and after a memory in its namespace, but for what was set aside."""

from __future__ import annotations

from typing import Final

import apsw

from .memories import COLUMNS, Memory, Row, from_row
from .scope import Scope, identify

_BEFORE: Final = (
    f"SELECT {COLUMNS} FROM memories m WHERE m.ns = :ns AND m.status <> 'quarantined' "  # noqa: S608  # constant columns
    "AND (m.created_at, m.rid) < (:at, :rid) ORDER BY m.created_at DESC, m.rid DESC LIMIT :limit"
)
_AFTER: Final = (
    f"SELECT {COLUMNS} FROM memories m WHERE m.ns = :ns AND m.status <> 'quarantined' "  # noqa: S608  # constant columns
    "AND (m.created_at, m.rid) > (:at, :rid) ORDER BY m.created_at, m.rid LIMIT :limit"
)


def around(
    connection: apsw.Connection, scope: Scope, memory: Memory, *, before: int, after: int
) -> list[Memory]:
    """Up to `before` older and `after` newer memories with this one between, oldest first."""
    names = {name: ns for ns, name in identify(connection, scope).items()}
    ns = names.get(memory.namespace)
    earlier = _read(connection, _BEFORE, ns, memory, before)
    later = _read(connection, _AFTER, ns, memory, after)
    return [*reversed(earlier), memory, *later]


def _read(
    connection: apsw.Connection, sql: str, ns: int | None, memory: Memory, limit: int
) -> list[Memory]:
    bound = {"ns": ns, "at": memory.created_at, "rid": memory.rid, "limit": limit}
    rows: list[Row] = connection.execute(sql, bound).fetchall()  # type: ignore[assignment]  # columns are Row by the schema
    return [from_row(row, memory.namespace) for row in rows]
