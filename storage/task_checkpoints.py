"""Where work stands: one current checkpoint per namespace, and the ones before it."""

from __future__ import annotations

from typing import Final, NamedTuple

import apsw

from . import namespaces
from .scope import Scope, identify
from .transaction import Transaction

KEPT: Final = 20
"""Checkpoints per namespace, the current one included."""


class Progress(NamedTuple):
    """What was done, what is left, what is in the way; `automatic` ones nobody wrote by hand."""

    namespace: str
    completed: str
    remaining: str
    blockers: str
    notes: str
    session: str | None
    automatic: bool
    updated_at: str


def save(
    tx: Transaction,
    namespace: str,
    *,
    completed: str,
    remaining: str,
    blockers: str = "",
    notes: str = "",
    session: str | None = None,
    automatic: bool = False,
    by: str,
) -> Progress:
    """Make this the current checkpoint; the last KEPT of them are kept."""
    ns = namespaces.obtain(tx, namespace)
    tx.connection.execute(
        "INSERT INTO task_checkpoints(ns, completed, remaining, blockers, notes, session, "
        "automatic, by, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (ns, completed, remaining, blockers, notes, session, automatic, by, tx.now),
    )
    tx.connection.execute(
        "DELETE FROM task_checkpoints WHERE ns = ? AND id <= (SELECT id FROM task_checkpoints "
        "WHERE ns = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
        (ns, ns, KEPT),
    )
    return Progress(namespace, completed, remaining, blockers, notes, session, automatic, tx.now)


def history(connection: apsw.Connection, scope: Scope, limit: int = KEPT) -> list[Progress]:
    """The checkpoints of the scope that were not cleared, newest first."""
    names = identify(connection, scope)
    found: list[Progress] = []
    for ns, name in names.items():
        rows = connection.execute(
            "SELECT completed, remaining, blockers, notes, session, automatic, at "
            "FROM task_checkpoints WHERE ns = ? AND NOT cleared ORDER BY id DESC LIMIT ?",
            (ns, limit),
        )
        for completed, remaining, blockers, notes, session, automatic, at in rows:
            found.append(
                Progress(name, completed, remaining, blockers, notes, session, bool(automatic), at)
            )
    return sorted(found, key=lambda one: one.updated_at, reverse=True)[:limit]


def current(connection: apsw.Connection, scope: Scope) -> Progress | None:
    """The newest checkpoint of the scope, unless it was cleared."""
    return next(iter(history(connection, scope, 1)), None)


def clear(tx: Transaction, namespace: str) -> bool:
    """Put the namespace's checkpoints away (they stay in the file); whether there was one."""
    tx.connection.execute(
        "UPDATE task_checkpoints SET cleared = 1 WHERE ns = ? AND NOT cleared",
        (namespaces.obtain(tx, namespace),),
    )
    return tx.connection.changes() > 0


def expire(tx: Transaction, before: str) -> int:
    """Put away the checkpoints of namespaces whose newest one nobody wrote by hand and is from
    before this time (RFC 3339); returns how many.
    """
    tx.connection.execute(
        "UPDATE task_checkpoints SET cleared = 1 WHERE NOT cleared AND ns IN ("
        "SELECT ns FROM task_checkpoints t WHERE NOT cleared AND automatic AND at < ? "
        "AND id = (SELECT max(id) FROM task_checkpoints WHERE ns = t.ns AND NOT cleared))",
        (before,),
    )
    return tx.connection.changes()
