"""What a transaction keeps in mind per namespace and writes down once, before it commits."""

from __future__ import annotations

from typing import NamedTuple

import apsw


class Head(NamedTuple):
    """The end of a namespace's history chain: the last entry's hash, and how many there are."""

    hash: bytes
    length: int


class Ledger:
    """Ids, chain heads and row counts of the namespaces a transaction has touched.

    A group of jobs mostly writes to one namespace: reading and writing these with every row was
    half of its statements.
    """

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.heads: dict[int, Head] = {}
        self.grown: dict[int, int] = {}
        """Memories more (or fewer, below 0) per namespace id."""

    def copy(self) -> Ledger:
        """As it is now, to return to when what follows is undone."""
        made = Ledger()
        made.ids, made.heads, made.grown = dict(self.ids), dict(self.heads), dict(self.grown)
        return made

    def write(self, connection: apsw.Connection) -> None:
        """Write heads and counts; the rows they speak of are in the same transaction."""
        connection.executemany(
            "INSERT INTO chain_heads(ns, hash, length) VALUES (?, ?, ?) "
            "ON CONFLICT(ns) DO UPDATE SET hash = excluded.hash, length = excluded.length",
            [(ns, head.hash, head.length) for ns, head in self.heads.items()],
        )
        connection.executemany(
            "UPDATE namespaces SET rows = rows + ? WHERE id = ?",
            [(change, ns) for ns, change in self.grown.items()],
        )
