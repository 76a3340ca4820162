"""The namespaces rows belong to: names, their short ids, and how many memories each holds."""

from __future__ import annotations

import apsw

from .transaction import Transaction


def obtain(tx: Transaction, name: str) -> int:
    """The id of the namespace, made on first use."""
    known = tx.ledger.ids.get(name)
    if known is None:
        known = tx.ledger.ids[name] = _obtain(tx.connection, name)
    return known


def _obtain(connection: apsw.Connection, name: str) -> int:
    found = connection.execute("SELECT id FROM namespaces WHERE name = ?", (name,)).get
    if found is not None:
        return int(found)
    connection.execute("INSERT INTO namespaces(name) VALUES (?)", (name,))
    return connection.last_insert_rowid()


def count(tx: Transaction, ns: int, change: int) -> None:
    """Note that the namespace has so many memories more (or fewer, below 0)."""
    tx.ledger.grown[ns] = tx.ledger.grown.get(ns, 0) + change


def sizes(connection: apsw.Connection) -> dict[int, int]:
    """Memories per namespace id, over the whole store; kept with every row, so this is cheap."""
    return {
        int(ns): int(rows) for ns, rows in connection.execute("SELECT id, rows FROM namespaces")
    }


def set_aside(connection: apsw.Connection) -> dict[int, int]:
    """Quarantined memories per namespace id, where there are any; an index holds just them."""
    rows = connection.execute(
        "SELECT ns, count(*) FROM memories WHERE status = 'quarantined' GROUP BY ns"
    )
    return {int(ns): int(number) for ns, number in rows}


def names(connection: apsw.Connection) -> dict[int, str]:
    """Every namespace id with its name."""
    return {
        int(ns): str(name) for ns, name in connection.execute("SELECT id, name FROM namespaces")
    }
