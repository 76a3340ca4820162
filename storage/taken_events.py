"""Which events of agents were taken in already: each has its effects once, however often it comes.

The id is claimed in the transaction of the event's effects, so neither exists without the other.
"""

from __future__ import annotations

from . import namespaces
from .transaction import Transaction


def claim(tx: Transaction, namespace: str, event: str) -> bool:
    """Whether the event is new in the namespace; from now on it is not."""
    ns = namespaces.obtain(tx, namespace)
    tx.connection.execute(
        "INSERT OR IGNORE INTO taken_events(ns, id, at) VALUES (?, ?, ?)", (ns, event, tx.now)
    )
    return tx.connection.changes() > 0


def expire(tx: Transaction, before: str) -> int:
    """Forget ids claimed before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM taken_events WHERE at < ?", (before,))
    return tx.connection.changes()
