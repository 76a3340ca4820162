"""What a job may use while the writer runs it: connection, time, ids and the change feed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NamedTuple

import apsw

from .ledger import Ledger


class Change(NamedTuple):
    """One memory changed; subscribers get it after the commit, in the order of the writes.

    `op` is `upsert` (stored or edited), `remove` (forgotten) or `embed` (its vector was written).
    `vector_dropped` says that an upsert took the row's vectors away because its text changed, or
    what it is; an upsert without it (tags, importance) leaves them valid.
    """

    op: str
    ns: int
    rid: int
    ulid: str
    version: int
    namespace: str = ""
    vector_dropped: bool = False


class Transaction:
    """The open transaction of the writer thread, handed to each job in turn.

    `now` is RFC 3339 UTC in milliseconds and never earlier than in the transaction before.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        now: str,
        new_id: Callable[[], str],
        sign: Callable[[bytes], bytes],
    ) -> None:
        self.connection = connection
        self.now = now
        self.new_id = new_id
        self.sign = sign
        self.changes: list[Change] = []
        self.ledger = Ledger()

    def record(self, change: Change) -> None:
        """Tell subscribers about this change once it is on disk."""
        self.changes.append(change)

    def conclude(self) -> None:
        """Write what was put off to the end. The writer calls it before it commits."""
        self.ledger.write(self.connection)

    @contextmanager
    def savepoint(self) -> Generator[None]:
        """Undo everything inside, recorded changes too, if the block raises.

        Not for every row of many: the full-text index writes its words out at each, which doubles
        the cost of a row.
        """
        mark, ledger = len(self.changes), self.ledger.copy()
        self.connection.execute("SAVEPOINT step")
        try:
            yield
        except BaseException:
            del self.changes[mark:]
            self.ledger = ledger
            # A full disk makes SQLite end the whole transaction by itself; then there is no
            # savepoint left to return to.
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK TO step; RELEASE step")
            raise
        self.connection.execute("RELEASE step")
