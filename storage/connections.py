"""Opening memory.db: the settings every connection of ours has."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import apsw

from . import extension
from .checkpoints import BUSY_MS, PASSIVE_BYTES
from .faults import StorageFault

# The first version in which a commit cannot be lost to a checkpoint that runs beside it.
LOWEST_SQLITE: Final = (3, 51, 3)
READER_CACHE_KB: Final = 2000
WRITER_CACHE_KB: Final = 8000
HEADER_BYTES: Final = 100


def require_sqlite(version: str) -> None:
    """Refuse an SQLite library that is too old. Raises StorageFault."""
    if tuple(int(part) for part in version.split(".")[:3]) < LOWEST_SQLITE:
        lowest = ".".join(map(str, LOWEST_SQLITE))
        raise StorageFault(
            f"SQLite {version} can lose committed rows (WAL-reset race); {lowest} is the least."
        )


def open_writer(path: str, *, vectors: bool) -> tuple[apsw.Connection, bool]:
    """The writing connection, and whether vector search could be loaded into it.

    Closing it leaves the WAL alone, so that a store found damaged keeps every byte; the writer
    empties the WAL itself when all is well.
    """
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.pragma("cache_size", -WRITER_CACHE_KB)
    connection.pragma("journal_size_limit", PASSIVE_BYTES)
    connection.wal_autocheckpoint(0)
    return connection, vectors and extension.load(connection)


def open_reader(path: str, *, vectors: bool) -> apsw.Connection:
    """A connection that can only read.

    It is opened read-write all the same: a reader must be able to make the shared WAL index.
    Closing it leaves the WAL alone: should memory.db have been replaced, this might be the only
    connection to the new file, and would write the old one's WAL into it.
    """
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("cache_size", -READER_CACHE_KB)
    connection.wal_autocheckpoint(0)
    if vectors:
        extension.load(connection)
    connection.pragma("query_only", True)
    return connection


def open_copy(path: str, *, vectors: bool) -> apsw.Connection:
    """A plain connection, to copy the store with or to look into a finished copy."""
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
    if vectors:
        extension.load(connection)
    return connection


def open_new(path: str) -> apsw.Connection:
    """A connection to a file that is being made and that nobody else knows of yet."""
    return _open(path, apsw.SQLITE_OPEN_READWRITE)


def open_frozen(path: str) -> apsw.Connection:
    """A look at the file that changes nothing: no locks, no WAL, no recovery, no checkpoint."""
    uri = f"file:{quote(path)}?immutable=1"
    return _settle(apsw.Connection(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI))


def header(path: str) -> bytes:
    """The first 100 bytes of the file as they are now, read without locks and without judging them.

    SQLite's own look (`immutable`) calls a file damaged that is shorter than its header says; a
    process killed in the middle of a checkpoint leaves just that, and the WAL beside it is whole.
    It is read through SQLite's file layer: closing a descriptor of our own would drop the locks of
    every connection this process has to the file. Raises apsw.Error if it cannot be read.
    """
    file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(HEADER_BYTES, 0)
    finally:
        file.xClose()


def open_careful(path: str) -> apsw.Connection:
    """A connection that reads the file with its WAL and leaves both as they are when it closes."""
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.pragma("query_only", True)
    return connection


def _open(path: str, flags: int) -> apsw.Connection:
    return _settle(apsw.Connection(path, flags | apsw.SQLITE_OPEN_NOFOLLOW))


def _settle(connection: apsw.Connection) -> apsw.Connection:
    connection.set_busy_timeout(BUSY_MS)
    for option in (apsw.SQLITE_DBCONFIG_DQS_DML, apsw.SQLITE_DBCONFIG_DQS_DDL):
        connection.config(option, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.pragma("temp_store", "memory")
    connection.pragma("mmap_size", 0)
    return connection
