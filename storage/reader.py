"""One reading connection, owned by one worker thread, with a deadline on everything it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from weakref import WeakSet

import apsw

from .faults import Interrupted, from_sqlite

# SQLite instructions between two looks at the clock: 1,000 cost 2 % on a full-text search and end
# it within a millisecond or so of the deadline; 100 cost 7 % and gain nothing a user would notice.
PROGRESS_STEPS = 1000


def _never() -> bool:
    return False


class Reader:
    """A query-only connection. Not thread-safe: one per worker, used inside `until` only."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self._deadline = 0.0
        self._cancelled: Callable[[], bool] = _never
        self._tripped = False
        self._cursors: WeakSet[apsw.Cursor] = WeakSet()
        connection.cursor_factory = self._cursor
        connection.set_progress_handler(self._progress, PROGRESS_STEPS)

    @contextmanager
    def until(
        self, deadline: float, cancelled: Callable[[], bool] = _never
    ) -> Generator[apsw.Connection]:
        """Run statements until `deadline` (time.monotonic()) or until `cancelled()` says so.

        The block sees one state of the store, however many statements it takes, and its read
        transaction ends with it: one that stayed open would let the WAL grow without limit.
        Raises Interrupted when time is up, Damaged when the file does not hold together.
        """
        self._deadline, self._cancelled, self._tripped = deadline, cancelled, False
        try:
            self.check()
            self.connection.execute("BEGIN")
            yield self.connection
        except apsw.Error as error:
            # An interrupted vec0 search raises SQLError instead of InterruptError.
            fault = self._interrupted() if self._tripped else from_sqlite(error)
            if fault is None:
                raise
            raise fault from error
        finally:
            self._cancelled, self._deadline = _never, float("inf")
            self._tripped = False
            self._end()

    def check(self) -> None:
        """Raise Interrupted if time is up; for long work outside SQLite (between numpy blocks)."""
        if self._expired():
            raise self._interrupted()

    def close(self) -> None:
        """Close the connection; the reader cannot be used again."""
        self.connection.close()

    def _cursor(self, connection: apsw.Connection) -> apsw.Cursor:
        cursor = apsw.Cursor(connection)
        self._cursors.add(cursor)
        return cursor

    def _end(self) -> None:
        """End the read transaction. A cursor that was not read to its end would outlive a ROLLBACK
        and hold the WAL back, so those are closed first.
        """
        for cursor in list(self._cursors):
            cursor.close(force=True)
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _expired(self) -> bool:
        return time.monotonic() >= self._deadline or self._cancelled()

    def _progress(self) -> bool:
        self._tripped = self._tripped or self._expired()
        return self._tripped

    def _interrupted(self) -> Interrupted:
        return Interrupted("The time for this request is up, or whoever asked has gone.")
