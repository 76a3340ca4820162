"""Lessons: what failed, and what made it work. Candidates first, promoted to rules by evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import apsw

from . import namespaces
from .scope import Scope, id_list
from .transaction import Transaction


class Lesson(NamedTuple):
    """`failing` and `fix` are attempts as they were made, `error` is what the first one met.

    `status` is candidate, promoted (then `memory` is the rule's id), rejected or archived.
    `confidence` is 0 to 1; `evidence` counts the times it was seen.
    """

    ulid: str
    signature: str
    command_class: str
    failing: str
    error: str
    fix: str
    fix_class: str
    confidence: float
    evidence: int
    severe: bool
    status: str
    memory: str | None
    session: str
    created_at: str
    updated_at: str


_COLUMNS: Final = ", ".join(Lesson._fields)
_IN_SCOPE: Final = "ns IN (SELECT value FROM json_each(:ns))"
MOST_COMPARED: Final = 50


def add(tx: Transaction, namespace: str, lesson: Lesson) -> Lesson:
    """Keep a new lesson; its id and times are given here."""
    kept = lesson._replace(ulid=tx.new_id(), created_at=tx.now, updated_at=tx.now)
    places = ", ".join("?" * len(kept))
    tx.connection.execute(
        f"INSERT INTO lessons({_COLUMNS}, ns) VALUES ({places}, ?)",  # noqa: S608  # constants
        (*kept, namespaces.obtain(tx, namespace)),
    )
    return kept


def change(
    tx: Transaction, namespace: str, lesson: Lesson, changes: Mapping[str, object]
) -> Lesson:
    """Write some columns anew; returns the lesson as it is now."""
    after = lesson._replace(**changes, updated_at=tx.now)  # type: ignore[arg-type]  # columns
    tx.connection.execute(
        "UPDATE lessons SET confidence = ?, evidence = ?, severe = ?, status = ?, memory = ?, "
        "updated_at = ? WHERE ulid = ? AND ns = ?",
        (
            after.confidence, after.evidence, after.severe, after.status, after.memory, tx.now,
            after.ulid, namespaces.obtain(tx, namespace),
        ),
    )  # fmt: skip
    return after


def by_signature(connection: apsw.Connection, scope: Scope, signature: str) -> list[Lesson]:
    """Lessons about exactly this failure, those with most evidence first."""
    return _read(
        connection,
        scope,
        "signature = :key ORDER BY status = 'promoted' DESC, evidence DESC, updated_at DESC",
        signature,
    )


def by_class(connection: apsw.Connection, scope: Scope, command_class: str) -> list[Lesson]:
    """Lessons about failures of this kind of command, the latest first."""
    return _read(connection, scope, "command_class = :key ORDER BY updated_at DESC", command_class)


def by_fix(connection: apsw.Connection, scope: Scope, fix_class: str, session: str) -> list[Lesson]:
    """Lessons of this session whose fix was such a command."""
    found = _read(connection, scope, "session = :key ORDER BY updated_at DESC", session)
    return [one for one in found if one.fix_class == fix_class]


def by_memory(connection: apsw.Connection, scope: Scope, ulid: str) -> Lesson | None:
    """The lesson that became this rule."""
    return next(iter(_read(connection, scope, "memory = :key", ulid)), None)


def find(connection: apsw.Connection, scope: Scope, ulid: str) -> Lesson | None:
    """The lesson with this id."""
    return next(iter(_read(connection, scope, "ulid = :key", ulid)), None)


def newest(
    connection: apsw.Connection, scope: Scope, status: str | None, limit: int
) -> list[Lesson]:
    """The scope's lessons with this status (any when None), newest first."""
    where = "(:key IS NULL OR status = :key) ORDER BY updated_at DESC"
    return _read(connection, scope, where, status, limit)


def reject_stale(tx: Transaction, before: str) -> int:
    """Reject candidates nobody has seen again since this time (RFC 3339); returns how many."""
    tx.connection.execute(
        "UPDATE lessons SET status = 'rejected' WHERE status = 'candidate' AND updated_at < ?",
        (before,),
    )
    return tx.connection.changes()


def _read(
    connection: apsw.Connection,
    scope: Scope,
    where: str,
    key: str | None,
    limit: int = MOST_COMPARED,
) -> list[Lesson]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM lessons WHERE {_IN_SCOPE} AND {where} LIMIT :limit",  # noqa: S608  # constants
        {"ns": id_list(connection, scope), "key": key, "limit": limit},
    )
    return [Lesson._make(row)._replace(severe=bool(row[9])) for row in rows]
