"""Which chunks of a vec0 table hold the vectors of a namespace: vec0 keeps no index of that."""

from __future__ import annotations

import threading
from typing import NamedTuple

import apsw

from .vectors import Space, chunks_of


class _Known(NamedTuple):
    """The chunks of a namespace with ids up to `newest`."""

    newest: int
    ids: list[int]


class Chunks:
    """Chunk ids by namespace, remembered, so that only chunks added since are looked through.

    Looking through all takes 5 ms at a million rows. A chunk never changes its namespace, and an
    id is never used twice; one that is gone is simply not found. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Known] = {}
        self._lock = threading.Lock()

    def of(self, connection: apsw.Connection, space: Space, ns: int) -> list[int]:
        """The ids of the chunks that hold vectors of the namespace, or did once."""
        newest = connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", (f"{space.table}_chunks",)
        ).get
        known = self._known.get((space.name, ns), _Known(0, []))
        if newest is None or int(newest) == known.newest:
            return known.ids
        ids = [*known.ids, *chunks_of(connection, space, ns, known.newest)]
        with self._lock:
            self._known[space.name, ns] = _Known(int(newest), ids)
        return ids
