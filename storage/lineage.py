"""What changed in a namespace since an earlier moment, read from its history.

For whoever keeps something made from a namespace's rows outside the store and wants to bring it up
to date instead of making it anew. Evidence is counted without a version, so it is not told here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import apsw

from .history import GENESIS

MOST_ENTRIES: Final = 10_000
"""History entries looked through at most, of all namespaces together: 10 ms."""


class Moment(NamedTuple):
    """A state of a namespace: the last entry of the store's history then, and its chain's hash."""

    entry: int
    hash: bytes


class Changed(NamedTuple):
    """Rows written since, and whether any were forgotten (their row ids are not known any more)."""

    rids: list[int]
    forgotten: bool


def now(connection: apsw.Connection, ns: int) -> Moment:
    """The state of the namespace as the open transaction sees it."""
    entry = connection.execute("SELECT max(id) FROM versions").get
    return Moment(int(entry or 0), _head(connection, ns))


def since(connection: apsw.Connection, ns: int, moment: Moment) -> Changed | None:
    """What changed in the namespace after the moment.

    None when that would take long to find out, or when the moment is not of this store's past.
    """
    if _head(connection, ns) == moment.hash:
        return Changed([], False)
    last = connection.execute("SELECT max(id) FROM versions").get
    if not 0 < int(last or 0) - moment.entry <= MOST_ENTRIES:
        return None
    entries = connection.execute(
        "SELECT v.op, v.prev_hash, m.rid FROM versions v LEFT JOIN memories m ON m.ulid = v.ulid "
        "AND m.ns = v.ns WHERE v.id > ? AND v.ns = ? ORDER BY v.id",
        (moment.entry, ns),
    ).fetchall()
    if not entries or entries[0][1] != moment.hash:
        return None
    rids = {int(rid) for _, _, rid in entries if rid is not None}
    return Changed(sorted(rids), any(op == "forget" for op, _, _ in entries))


def present(connection: apsw.Connection, ns: int) -> list[int]:
    """The row ids of all memories of the namespace."""
    rows = connection.execute("SELECT rid FROM memories WHERE ns = ?", (ns,))
    return [int(rid) for (rid,) in rows]


def _head(connection: apsw.Connection, ns: int) -> bytes:
    found = connection.execute("SELECT hash FROM chain_heads WHERE ns = ?", (ns,)).get
    return GENESIS if found is None else bytes(found)
