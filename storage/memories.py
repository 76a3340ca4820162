"""A memory as it lies in the store, and reading it back within a scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import apsw

from .faults import MissingRow
from .scope import Scope, identify

# The kind of verbatim turns: saying the same thing twice is part of a conversation.
CONVERSATION: Final = "conversation"
STATUSES: Final = frozenset({"active", "superseded", "quarantined", "archived"})


@dataclass(frozen=True, slots=True)
class Memory:
    """One row of `memories`. Times are RFC 3339 UTC with milliseconds, `rid` is never reused."""

    rid: int
    ulid: str
    namespace: str
    version: int
    kind: str
    content: str
    detail: str | None
    tags: tuple[str, ...]
    importance: float
    evidence: int
    source: Mapping[str, object]
    status: str
    created_at: str
    updated_at: str
    observed_at: str | None
    valid_from: str | None
    valid_to: str | None
    supersedes: str | None
    superseded_by: str | None
    created_by: str
    session: str | None
    turn: int | None
    actor: str | None
    role: str | None


class Signal(NamedTuple):
    """The columns that rank a candidate; light enough to read for hundreds of rows."""

    rid: int
    ns: int
    kind: str
    importance: float
    created_at: str
    observed_at: str | None
    status: str
    valid_from: str | None
    valid_to: str | None
    session: str | None
    turn: int | None
    actor: str | None
    role: str | None
    evidence: int


COLUMNS: Final = (
    "m.rid, m.ulid, m.ns, m.version, m.kind, m.content, m.detail, m.tags, m.importance, "
    "m.evidence, m.source, m.status, m.created_at, m.updated_at, m.observed_at, m.valid_from, "
    "m.valid_to, m.supersedes, m.superseded_by, m.created_by, m.session, m.turn, m.actor, m.role"
)
_BY_ULID: Final = (
    f"SELECT {COLUMNS} FROM memories m WHERE m.ulid = ? "  # noqa: S608  # constant columns
    "AND m.ns IN (SELECT value FROM json_each(?))"
)
_BY_RID: Final = (
    f"SELECT {COLUMNS} FROM memories m WHERE m.rid IN (SELECT value FROM json_each(?)) "  # noqa: S608  # constant columns
    "AND m.ns IN (SELECT value FROM json_each(?))"
)
_SIGNALS: Final = (
    "SELECT rid, ns, kind, importance, created_at, observed_at, status, valid_from, valid_to, "
    "session, turn, actor, role, evidence FROM memories "
    "WHERE rid IN (SELECT value FROM json_each(?)) AND ns IN (SELECT value FROM json_each(?))"
)

# One row of COLUMNS as SQLite gives it.
Row = tuple[
    int, str, int, int, str, str, str | None, str, float, int, str, str, str, str, str | None,
    str | None, str | None, str | None, str | None, str, str | None, int | None, str | None,
    str | None,
]  # fmt: skip


def from_row(row: Row, namespace: str) -> Memory:
    """A row of COLUMNS as a Memory of the namespace with this name."""
    rid, ulid, _, version, kind, content, detail, tags, importance, evidence, source, *rest = row
    return Memory(
        rid, ulid, namespace, version, kind, content, detail, tuple(json.loads(tags)), importance,
        evidence, json.loads(source), *rest,  # type: ignore[arg-type]  # the tail of Row in order
    )  # fmt: skip


def spoken(memory: Memory) -> dict[str, str | None]:
    """Who said a turn of a conversation, and in which; all None for a memory that is no turn."""
    said = memory.turn is not None
    return {
        "speaker": memory.actor if said else None,
        "role": memory.role if said else None,
        "session": memory.session if said else None,
    }


def find(connection: apsw.Connection, scope: Scope, ulid: str) -> Memory | None:
    """The memory with this id, or None when the scope has none."""
    names = identify(connection, scope)
    row: Row | None = connection.execute(_BY_ULID, (ulid, json.dumps(list(names)))).fetchone()
    return None if row is None else from_row(row, names[row[2]])


def get(connection: apsw.Connection, scope: Scope, ulid: str) -> Memory:
    """The memory with this id. Raises MissingRow when the scope has none."""
    found = find(connection, scope, ulid)
    if found is None:
        raise MissingRow("There is no such memory.")
    return found


def fetch(connection: apsw.Connection, scope: Scope, rids: Iterable[int]) -> dict[int, Memory]:
    """Those of the rows that exist within the scope, by row id."""
    names = identify(connection, scope)
    rows = connection.execute(_BY_RID, (json.dumps(list(rids)), json.dumps(list(names))))
    return {row[0]: from_row(row, names[row[2]]) for row in rows}


def signals(connection: apsw.Connection, scope: Scope, rids: Iterable[int]) -> list[Signal]:
    """The ranking columns of those rows that exist within the scope, in no particular order."""
    namespaces = json.dumps(list(identify(connection, scope)))
    rows = connection.execute(_SIGNALS, (json.dumps(list(rids)), namespaces))
    return list(map(Signal._make, rows))
