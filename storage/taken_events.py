"""Which events of agents were taken in already: each has its effects once, however often it comes.

The id is claimed in the transaction of the event's effects, so neither exists without the other.
It counts in the whole store: between two deliveries a checkout may have moved to another namespace.
"""

from __future__ import annotations

from .transaction import Transaction


def claim(tx: Transaction, event: str) -> bool:
    """Whether the event is new; from now on it is not."""
    tx.connection.execute(
        "INSERT OR IGNORE INTO taken_events(id, at) VALUES (?, ?)", (event, tx.now)
    )
    return tx.connection.changes() > 0


def expire(tx: Transaction, before: str) -> int:
    """Forget ids claimed before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM taken_events WHERE at < ?", (before,))
    return tx.connection.changes()
