"""Stretches of work between two stops of an agent, and how each came out."""

from __future__ import annotations

from typing import Final, NamedTuple

import apsw

from . import namespaces
from .scope import Scope, id_list
from .transaction import Transaction


class Episode(NamedTuple):
    """One stretch of work; `outcome` is succeeded, failed, mixed or quiet."""

    session: str
    started_at: str
    ended_at: str
    goal: str
    outcome: str
    failures: int
    fixes: int
    reasks: int
    tests_passed: int
    tests_failed: int


_COLUMNS: Final = ", ".join(Episode._fields)


def close(tx: Transaction, namespace: str, episode: Episode) -> None:
    """Keep the episode and gather the session's loose outcomes into it."""
    ns = namespaces.obtain(tx, namespace)
    places = ", ".join("?" * len(episode))
    tx.connection.execute(
        f"INSERT INTO episodes({_COLUMNS}, ns) VALUES ({places}, ?)",  # noqa: S608  # constants
        (*episode, ns),
    )
    tx.connection.execute(
        "UPDATE outcomes SET episode = ? WHERE ns = ? AND session = ? AND episode IS NULL",
        (tx.connection.last_insert_rowid(), ns, episode.session),
    )


def newest(connection: apsw.Connection, scope: Scope, limit: int) -> list[Episode]:
    """The scope's latest episodes, newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM episodes "  # noqa: S608  # constants
        "WHERE ns IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?",
        (id_list(connection, scope), limit),
    )
    return [Episode._make(row) for row in rows]


def expire(tx: Transaction, before: str) -> int:
    """Forget episodes that ended before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM episodes WHERE ended_at < ?", (before,))
    return tx.connection.changes()
