"""Which events of agents were taken in already: each has its effects once, however often it comes.

The event is claimed in the transaction of its effects, so neither exists without the other. The
claim counts in the whole store: between two deliveries a checkout may have moved to another
namespace. Ids are chosen by clients: by the id alone one project's event would pass for another's.
"""

from __future__ import annotations

import hashlib

from .transaction import Transaction


def claim(tx: Transaction, event: str, *marks: str) -> bool:
    """Whether the event with this id and these marks of its own is new; from now on it is not."""
    name = hashlib.sha256("\0".join((event, *marks)).encode()).hexdigest()
    tx.connection.execute(
        "INSERT OR IGNORE INTO taken_events(id, at) VALUES (?, ?)", (name, tx.now)
    )
    return tx.connection.changes() > 0


def expire(tx: Transaction, before: str) -> int:
    """Forget ids claimed before this time (RFC 3339); returns how many."""
    tx.connection.execute("DELETE FROM taken_events WHERE at < ?", (before,))
    return tx.connection.changes()
