"""What can go wrong in the store, and the one place where SQLite's errors become ours.

StorageFault
|- NewerSchema     the file was written by a newer recalld
|- Damaged         the file does not hold together; nothing was changed
|- FullDisk        the disk takes no more; the whole group was rolled back
|- DiskTrouble     the disk cannot be read or written for another reason than being full
|- Busy            another process kept the write lock for longer than we wait
|- Interrupted     the deadline passed or the caller has gone
|- Closed          the store is closing; the job was not executed
|- MissingRow      no such memory in this scope
|- StaleVersion    the memory is no longer at the version the caller saw
|- ForeignRow      the memory was written under another grant and only own rows may change
|- NothingToUndo   the memory is as it was first stored
|- KeyReused       the idempotency key belongs to another request
|- NoVectors       the vector extension could not be loaded
|- Invalid         a value no row may hold
`- UnsafePlace     the file or its folder is not ours alone, or lies where locks do not work
"""

from __future__ import annotations

import errno

import apsw


class StorageFault(Exception):
    """The base of everything this package raises on purpose; `str()` is one sentence."""


class NewerSchema(StorageFault):
    """The file has schema `found`; this code knows up to `known`."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"memory.db has schema {found}, but this recalld only knows up to schema {known}."
        )
        self.found = found
        self.known = known


class Damaged(StorageFault):
    """The file does not hold together; every byte of it is kept."""


class FullDisk(StorageFault):
    """There is no space to write; nothing of the job is stored."""


class DiskTrouble(StorageFault):
    """The file could not be opened, read or written; nothing of the job is stored."""


class Busy(StorageFault):
    """Another process holds the write lock; nothing of the job is stored."""


class Interrupted(StorageFault):
    """The deadline passed, or whoever asked has gone."""


class Closed(StorageFault):
    """The store is closing; the job was not executed."""


class MissingRow(StorageFault):
    """There is no such memory in the scope; whether one exists elsewhere is not said."""


class StaleVersion(StorageFault):
    """The memory is at version `current`, not at the one the caller saw."""

    def __init__(self, current: int) -> None:
        super().__init__(f"The memory has changed since; it is at version {current} now.")
        self.current = current


class ForeignRow(StorageFault):
    """The memory was written under another grant, and only own rows may be changed."""


class NothingToUndo(StorageFault):
    """The memory is as it was first stored; there is no state before that to go back to."""


class KeyReused(StorageFault):
    """The idempotency key was used before for a different request."""


class NoVectors(StorageFault):
    """The vector extension could not be loaded; vectors can be neither written nor searched."""


class Invalid(StorageFault):
    """A value that no row may hold: an unknown column, status or empty text."""


class UnsafePlace(StorageFault):
    """`path` is not safe to keep memories in; `fix` is what to do about it.

    `kind` is one of `permissions`, `owner`, `symlink`, `file_type` and `file_system`.
    """

    def __init__(self, kind: str, path: str, fix: str) -> None:
        super().__init__(f"{path} is not safe to keep memories in ({kind.replace('_', ' ')}).")
        self.kind = kind
        self.path = path
        self.fix = fix


_WHOLE_FILE = (apsw.CorruptError, apsw.NotADBError)
_DISK = (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError)
# SQLite tells ENOSPC apart; what a quota or a limit on files refuses is an error of writing.
_NO_SPACE = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_SHMSIZE)
_NO_SPACE_ERRNO = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def from_sqlite(error: apsw.Error) -> StorageFault | None:
    """Our fault for an SQLite error, or None for one that is a bug of ours."""
    if isinstance(error, _WHOLE_FILE):
        return Damaged(f"memory.db is damaged: {error}.")
    if isinstance(error, apsw.FullError) or _extended(error) in _NO_SPACE:
        return FullDisk(f"There is no space for memory.db to grow: {error}.")
    if isinstance(error, _DISK):
        return DiskTrouble(f"memory.db could not be opened, read or written: {error}.")
    if isinstance(error, apsw.BusyError):
        return Busy("Another process keeps memory.db locked.")
    if isinstance(error, apsw.InterruptError):
        return Interrupted("The time for this request is up.")
    return None


def from_system(error: OSError) -> StorageFault:
    """Our fault for what the operating system refused."""
    kind = FullDisk if error.errno in _NO_SPACE_ERRNO else DiskTrouble
    return kind(f"memory.db could not be opened or made: {error}.")


def _extended(error: apsw.Error) -> int:
    """SQLite's extended code; 0 for errors apsw makes itself."""
    return int(getattr(error, "extendedresult", 0))


def spoils_group(error: apsw.Error) -> bool:
    """Whether the transaction around the failing job can no longer be trusted.

    An index that does not fit its table (CORRUPT_VTAB) is the job's own trouble: the table rows
    are sound and a rebuild must still be possible.
    """
    if isinstance(error, apsw.CorruptError):
        return _extended(error) != apsw.SQLITE_CORRUPT_VTAB
    return isinstance(error, (*_DISK, apsw.NotADBError, apsw.NoMemError))
