"""Which memories a session has seen, and what became of it: loaded, injected, relevant, cited.

`loaded` is a rule put into every session; `injected` one shown because it fitted the moment;
`relevant` one that fitted while the session had it already; `cited` one the agent said it used;
`started` stands for what the session was given at its start, whatever that was.
Each is kept once per session, so that no counter grows with the number of tool calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import apsw

from . import namespaces
from .scope import Scope, id_list
from .transaction import Transaction


def note(
    tx: Transaction, namespace: str, session: str, ulids: Iterable[str], how: str
) -> list[str]:
    """Note the exposures; returns those that are new for this session."""
    ns = namespaces.obtain(tx, namespace)
    fresh: list[str] = []
    for ulid in dict.fromkeys(ulids):
        tx.connection.execute(
            "INSERT INTO exposures(ns, session, ulid, how, at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (ns, session, ulid, how, tx.now),
        )
        if tx.connection.changes():
            fresh.append(ulid)
            continue
        tx.connection.execute(
            "UPDATE exposures SET at = ? WHERE ns = ? AND session = ? AND ulid = ? AND how = ?",
            (tx.now, ns, session, ulid, how),
        )
    return fresh


def present(
    connection: apsw.Connection,
    scope: Scope,
    session: str,
    how: Sequence[str] = ("loaded", "injected"),
) -> frozenset[str]:
    """The memories that are still in the session's context, having got there so."""
    rows = connection.execute(
        "SELECT e.ulid FROM exposures e CROSS JOIN agent_sessions s "
        "ON s.ns = e.ns AND s.session = e.session WHERE e.session = ? "
        "AND e.ns IN (SELECT value FROM json_each(?)) AND e.at >= s.refreshed_at "
        "AND e.how IN (SELECT value FROM json_each(?))",
        (session, id_list(connection, scope), json.dumps(how)),
    )
    return frozenset(str(ulid) for (ulid,) in rows)


def seen(connection: apsw.Connection, scope: Scope, session: str) -> frozenset[str]:
    """The memories the session was ever shown."""
    rows = connection.execute(
        "SELECT ulid FROM exposures WHERE session = ? "
        "AND ns IN (SELECT value FROM json_each(?)) AND how IN ('loaded', 'injected')",
        (session, id_list(connection, scope)),
    )
    return frozenset(str(ulid) for (ulid,) in rows)


def expire(tx: Transaction, before: str) -> int:
    """Forget exposures from before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM exposures WHERE at < ?", (before,))
    return tx.connection.changes()
