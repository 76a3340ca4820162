"""What came of an agent's attempts: failures, successes after them, tests, users asking again."""

from __future__ import annotations

from typing import Final, NamedTuple

import apsw

from . import namespaces
from .scope import Scope, id_list
from .transaction import Transaction


class Outcome(NamedTuple):
    """One attempt and what came of it.

    `kind` is failure, success or reask, or prompt for the place where the user last spoke, which
    none of the lists show. `test` is passed, failed or empty; `pending` failures wait
    for their fix. `reasked` says that the user came back about it. `id` is 0 before it is added.
    """

    session: str
    at: str
    kind: str
    tool: str = ""
    command_class: str = ""
    attempt: str = ""
    error: str = ""
    signature: str = ""
    test: str = ""
    pending: bool = False
    reasked: bool = False
    fix: str | None = None
    id: int = 0


class Totals(NamedTuple):
    """How many outcomes of each kind the scope holds."""

    failures: int
    fixed: int
    successes: int
    reasks: int
    tests_passed: int
    tests_failed: int


_COLUMNS: Final = ", ".join(Outcome._fields)
_IN_SCOPE: Final = "ns IN (SELECT value FROM json_each(:ns))"
_SETTLED: Final = (
    "WITH mark(id) AS (SELECT coalesce(max(id), 0) FROM outcomes "  # noqa: S608  # constants
    "WHERE session = :session "
    "AND ns IN (SELECT value FROM json_each(:ns)) AND kind = 'prompt') "
    f"SELECT {_COLUMNS} FROM outcomes o WHERE {_IN_SCOPE} AND session = :session "
    "AND kind = 'failure' AND fix IS NOT NULL AND (id > (SELECT id FROM mark) OR EXISTS "
    "(SELECT 1 FROM outcomes s WHERE s.ns = o.ns AND s.session = o.session "
    "AND s.kind = 'success' AND s.id > o.id AND s.id > (SELECT id FROM mark) "
    "AND instr(o.fix, s.attempt))) ORDER BY id"
)
_TOTALS: Final = (
    "SELECT coalesce(sum(kind = 'failure'), 0), coalesce(sum(fix IS NOT NULL), 0), "
    "coalesce(sum(kind = 'success'), 0), coalesce(sum(kind = 'reask'), 0), "
    "coalesce(sum(test = 'passed'), 0), coalesce(sum(test = 'failed'), 0) "
    "FROM outcomes WHERE ns IN (SELECT value FROM json_each(:ns))"
)


def add(tx: Transaction, namespace: str, outcome: Outcome) -> int:
    """Keep the outcome; returns its id."""
    tx.connection.execute(
        "INSERT INTO outcomes(ns, session, at, kind, tool, command_class, attempt, error, "
        "signature, test, pending, reasked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            namespaces.obtain(tx, namespace), outcome.session, outcome.at, outcome.kind,
            outcome.tool, outcome.command_class, outcome.attempt, outcome.error,
            outcome.signature, outcome.test, outcome.pending, outcome.reasked,
        ),
    )  # fmt: skip
    return tx.connection.last_insert_rowid()


def pending(connection: apsw.Connection, scope: Scope, session: str) -> list[Outcome]:
    """The session's failures that wait for a fix, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM outcomes WHERE {_IN_SCOPE} "  # noqa: S608  # constants
        "AND session = :session AND pending ORDER BY id",
        {"ns": id_list(connection, scope), "session": session},
    )
    return [_from_row(row) for row in rows]


def since(connection: apsw.Connection, scope: Scope, session: str, after: int) -> list[Outcome]:
    """The session's outcomes with an id above `after`, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM outcomes WHERE {_IN_SCOPE} "  # noqa: S608  # constants
        "AND session = :session AND id > :after ORDER BY id LIMIT 2000",
        {"ns": id_list(connection, scope), "session": session, "after": after},
    )
    return [_from_row(row) for row in rows]


def unclosed(connection: apsw.Connection, scope: Scope, session: str) -> list[Outcome]:
    """The session's outcomes that belong to no episode yet, oldest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM outcomes WHERE {_IN_SCOPE} "  # noqa: S608  # constants
        "AND session = :session AND episode IS NULL AND kind <> 'prompt' ORDER BY id LIMIT 2000",
        {"ns": id_list(connection, scope), "session": session},
    )
    return [_from_row(row) for row in rows]


def newest(connection: apsw.Connection, scope: Scope, limit: int) -> list[Outcome]:
    """The scope's latest outcomes, newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM outcomes WHERE {_IN_SCOPE} "  # noqa: S608  # constants
        "AND kind <> 'prompt' ORDER BY id DESC LIMIT :limit",
        {"ns": id_list(connection, scope), "limit": limit},
    )
    return [_from_row(row) for row in rows]


def settle(tx: Transaction, namespace: str, ids: list[int], fix: str | None) -> None:
    """The failures wait no longer: they were fixed by `fix`, or given up (None)."""
    ns = namespaces.obtain(tx, namespace)
    tx.connection.executemany(
        "UPDATE outcomes SET pending = 0, fix = ? WHERE id = ? AND ns = ?",
        [(fix, one, ns) for one in ids],
    )


def spoken(tx: Transaction, namespace: str, session: str, at: str) -> None:
    """Note that the user speaks: what is settled from here on is about these words."""
    tx.connection.execute(
        "DELETE FROM outcomes WHERE ns = ? AND session = ? AND kind = 'prompt'",
        (namespaces.obtain(tx, namespace), session),
    )
    add(tx, namespace, Outcome(session, at, "prompt"))


def settled(connection: apsw.Connection, scope: Scope, session: str) -> list[Outcome]:
    """The session's failures that were fixed since the user last spoke, older ones included."""
    rows = connection.execute(_SETTLED, {"ns": id_list(connection, scope), "session": session})
    return [_from_row(row) for row in rows]


def ask_again(tx: Transaction, namespace: str, session: str, reopened: list[int]) -> None:
    """Mark the session's pending failures: the user came back about them; so are the reopened,
    whose fix was none.
    """
    ns = namespaces.obtain(tx, namespace)
    tx.connection.executemany(
        "UPDATE outcomes SET pending = 1, fix = NULL WHERE id = ? AND ns = ?",
        [(one, ns) for one in reopened],
    )
    tx.connection.execute(
        "UPDATE outcomes SET reasked = 1 WHERE ns = ? AND session = ? AND pending", (ns, session)
    )


def totals(connection: apsw.Connection, scope: Scope) -> Totals:
    """What the scope's outcomes add up to."""
    row = connection.execute(_TOTALS, {"ns": id_list(connection, scope)}).get
    return Totals(*map(int, row))


def expire(tx: Transaction, before: str) -> int:
    """Forget outcomes from before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM outcomes WHERE at < ?", (before,))
    return tx.connection.changes()


def _from_row(row: tuple[object, ...]) -> Outcome:
    found = Outcome._make(row)
    return found._replace(pending=bool(found.pending), reasked=bool(found.reasked))
