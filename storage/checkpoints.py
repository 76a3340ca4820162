"""When the WAL is copied into the file: by the writer, between groups, never inside a commit."""

from __future__ import annotations

import os
import time
from typing import Final

import apsw

PAGE_BYTES: Final = 4096
# Copying inside a commit was the p99 of a write (12-27 ms against 5 ms). Between groups a copy
# of this much takes about 10 ms.
PASSIVE_BYTES: Final = 4 << 20
# Above this the file is cut back to nothing as soon as no reader is in the way.
TRUNCATE_BYTES: Final = 16 << 20
# After this long without a write the rest of the WAL is copied too.
IDLE_SECONDS: Final = 1.0


class Checkpoints:
    """Watches the WAL of one writing connection and keeps it small. Owned by the writer thread."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._wal = connection.filename + "-wal"
        self._log_bytes = 0
        # A crash may have left a WAL behind: copy it at the first quiet moment.
        self._pending = True
        self._next_passive = PASSIVE_BYTES
        self._not_before = 0.0
        connection.set_wal_hook(self._committed)

    def patience(self) -> float | None:
        """Seconds the writer may sleep before `consider(idle=True)` has something to do."""
        return IDLE_SECONDS if self._pending else None

    def consider(self, *, idle: bool) -> None:
        """Copy or cut the WAL if it is time to."""
        if not self._pending:
            return
        if self._log_bytes >= TRUNCATE_BYTES or (idle and wal_bytes(self._wal) > TRUNCATE_BYTES):
            self._truncate()
        elif idle or self._log_bytes >= self._next_passive:
            self._passive()

    def finish(self) -> None:
        """Empty the WAL before the connection closes, and let the close remove it."""
        self._not_before = 0.0
        self._truncate()
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)

    def part(self) -> None:
        """Empty the WAL into the open file, whose name another file has taken.

        Left behind, the WAL would be applied to that other file at the next start and ruin it.
        """
        self._not_before = 0.0
        self._truncate()

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_bytes = pages * PAGE_BYTES
        self._pending = True
        if self._log_bytes < PASSIVE_BYTES:
            # The log was started over since the last copy.
            self._next_passive = PASSIVE_BYTES
        return apsw.SQLITE_OK

    def _passive(self) -> None:
        try:
            log, copied = self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except (apsw.BusyError, apsw.FullError, apsw.IOError):
            # Another process is at it, or the disk is full: the WAL stays valid, try again later.
            self._next_passive = self._log_bytes + PASSIVE_BYTES
            return
        self._pending = copied < log
        self._next_passive = self._log_bytes + PASSIVE_BYTES

    def _truncate(self) -> None:
        """Cut the WAL to nothing; with a reader in the way copy what is possible and wait a bit."""
        if time.monotonic() < self._not_before:
            return
        try:
            # The writer must not stand still behind a long reader.
            self._connection.set_busy_timeout(0)
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._log_bytes, self._pending = 0, False
        except (apsw.BusyError, apsw.FullError, apsw.IOError):
            self._not_before = time.monotonic() + IDLE_SECONDS
        finally:
            self._connection.set_busy_timeout(BUSY_MS)


# How long the writer waits for another process that holds the lock before it reports Busy.
BUSY_MS: Final = 5000


def wal_bytes(path: str) -> int:
    """Size of the WAL file in bytes, 0 when there is none. Looks at the name only, never opens."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
