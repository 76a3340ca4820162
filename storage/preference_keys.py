"""What each preference is about: one standing memory per namespace and key.

A key such as `package-manager/js` lets "use yarn" retire "use pnpm" without comparing their words.
"""

from __future__ import annotations

from typing import NamedTuple

import apsw

from . import namespaces
from .scope import Scope, id_list
from .transaction import Transaction


class Standing(NamedTuple):
    """The memory that stands for a key now, and the value it names."""

    ulid: str
    value: str


def standing(connection: apsw.Connection, scope: Scope, key: str) -> Standing | None:
    """The active memory that stands for the key in the scope, if any."""
    row = connection.execute(
        "SELECT p.ulid, p.value FROM preference_keys p "
        "CROSS JOIN memories m ON m.ulid = p.ulid AND m.ns = p.ns WHERE m.status = 'active' "
        "AND p.key = ? AND p.ns IN (SELECT value FROM json_each(?)) ORDER BY p.at DESC LIMIT 1",
        (key, id_list(connection, scope)),
    ).fetchone()
    return None if row is None else Standing._make(row)


def stand(tx: Transaction, namespace: str, key: str, value: str, ulid: str) -> None:
    """Let this memory stand for the key from now on."""
    tx.connection.execute(
        "INSERT OR REPLACE INTO preference_keys(ns, key, value, ulid, at) VALUES (?, ?, ?, ?, ?)",
        (namespaces.obtain(tx, namespace), key, value, ulid, tx.now),
    )
