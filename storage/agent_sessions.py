"""Sessions of agents: when they ran, what about, and since when their context is fresh."""

from __future__ import annotations

from typing import Final, NamedTuple

import apsw

from . import namespaces
from .scope import Scope, id_list
from .transaction import Transaction


class Session(NamedTuple):
    """One session. `goal` is its latest prompt, `said` the agent's last message, both shortened.

    Memories shown to it before `refreshed_at` are no longer in its context.
    """

    session: str
    host: str
    started_at: str
    last_at: str
    ended_at: str | None
    refreshed_at: str
    goal: str | None
    said: str | None
    prompts: int


_TOUCH: Final = (
    "INSERT INTO agent_sessions(ns, session, host, started_at, last_at, refreshed_at) "
    "VALUES (:ns, :session, :host, :now, :now, :now) "
    "ON CONFLICT(ns, session) DO UPDATE SET last_at = :now, ended_at = NULL"
)


def touch(
    tx: Transaction,
    namespace: str,
    session: str,
    host: str,
    *,
    goal: str | None = None,
    said: str | None = None,
) -> None:
    """Note that the session lives; a `goal` counts as one more prompt."""
    ns = namespaces.obtain(tx, namespace)
    tx.connection.execute(_TOUCH, {"ns": ns, "session": session, "host": host, "now": tx.now})
    tx.connection.execute(
        "UPDATE agent_sessions SET goal = coalesce(?, goal), said = coalesce(?, said), "
        "prompts = prompts + ? WHERE ns = ? AND session = ?",
        (goal, said, goal is not None, ns, session),
    )


def refresh(tx: Transaction, namespace: str, session: str) -> None:
    """Note that the session's context was emptied: what it was shown may be shown again."""
    tx.connection.execute(
        "UPDATE agent_sessions SET refreshed_at = ? WHERE ns = ? AND session = ?",
        (tx.now, namespaces.obtain(tx, namespace), session),
    )


def end(tx: Transaction, namespace: str, session: str) -> None:
    """Note that the session is over (it may be resumed)."""
    tx.connection.execute(
        "UPDATE agent_sessions SET ended_at = ? WHERE ns = ? AND session = ?",
        (tx.now, namespaces.obtain(tx, namespace), session),
    )


def find(connection: apsw.Connection, scope: Scope, session: str) -> Session | None:
    """The session, if the scope knows it."""
    row = connection.execute(
        "SELECT session, host, started_at, last_at, ended_at, refreshed_at, goal, said, prompts "
        "FROM agent_sessions WHERE session = ? AND ns IN (SELECT value FROM json_each(?))",
        (session, id_list(connection, scope)),
    ).fetchone()
    return None if row is None else Session._make(row)
