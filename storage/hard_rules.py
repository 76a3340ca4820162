"""Rules a user marked as hard: which tool calls they forbid, and which sessions were told so."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from . import memories, namespaces
from .faults import ForeignRow
from .scope import Scope, id_list
from .transaction import Transaction


class HardRule(NamedTuple):
    """A mark: the rule's id and text, the tool it is about (`*`: any), and a glob.

    The glob is what it forbids, a command or a path; matching it is the daemon's business.
    """

    ulid: str
    content: str
    tool: str
    pattern: str


def mark(
    tx: Transaction,
    scope: Scope,
    ulid: str,
    *,
    tool: str,
    pattern: str,
    by: str,
    only_own: bool = False,
) -> HardRule:
    """Mark a memory of the scope as hard, or change its mark.

    Raises MissingRow, or ForeignRow (`only_own`: rule and mark must be those of `by`).
    """
    memory = memories.get(tx.connection, scope, ulid)
    if only_own:
        _require_own(tx, scope, ulid, by, memory.created_by)
    tx.connection.execute(
        "INSERT OR REPLACE INTO hard_rules(ns, ulid, tool, pattern, by, at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (namespaces.obtain(tx, memory.namespace), ulid, tool, pattern, by, tx.now),
    )
    return HardRule(ulid, memory.content, tool, pattern)


def unmark(tx: Transaction, scope: Scope, ulid: str, *, by: str, only_own: bool = False) -> bool:
    """Take the mark away; whether there was one.

    Raises MissingRow, or ForeignRow (`only_own`: rule and mark must be those of `by`).
    """
    if only_own:
        _require_own(tx, scope, ulid, by, memories.get(tx.connection, scope, ulid).created_by)
    tx.connection.execute(
        "DELETE FROM hard_rules WHERE ulid = ? AND ns IN (SELECT value FROM json_each(?))",
        (ulid, id_list(tx.connection, scope)),
    )
    return tx.connection.changes() > 0


def _require_own(tx: Transaction, scope: Scope, ulid: str, by: str, writer: str) -> None:
    marker = tx.connection.execute(
        "SELECT by FROM hard_rules WHERE ulid = ? AND ns IN (SELECT value FROM json_each(?))",
        (ulid, id_list(tx.connection, scope)),
    ).get
    if writer != by or marker not in (None, by):
        raise ForeignRow("This rule, or its mark, was made under another grant.")


def marked(connection: apsw.Connection, scope: Scope) -> list[HardRule]:
    """The marks of the scope whose memory is active, oldest first."""
    rows = connection.execute(
        "SELECT h.ulid, m.content, h.tool, h.pattern FROM hard_rules h "
        "CROSS JOIN memories m ON m.ulid = h.ulid AND m.ns = h.ns WHERE m.status = 'active' "
        "AND h.ns IN (SELECT value FROM json_each(?)) ORDER BY h.at, h.ulid",
        (id_list(connection, scope),),
    )
    return [HardRule._make(row) for row in rows]


def deny(tx: Transaction, namespace: str, session: str, ulid: str) -> bool:
    """Whether this rule may deny in this session: only the first time, so no agent is stuck."""
    tx.connection.execute(
        "INSERT OR IGNORE INTO denials(ns, session, ulid, at) VALUES (?, ?, ?, ?)",
        (namespaces.obtain(tx, namespace), session, ulid, tx.now),
    )
    return tx.connection.changes() > 0
