"""How memory.db comes to be: complete, in one step, and never in place of something lost.

The first version is built under another name and linked into place, so a crash leaves either
nothing or a whole store. An empty memory.db is therefore never ours: something emptied it, and
serving it as a fresh store would hide the loss (SQLite would even delete its WAL).
"""

from __future__ import annotations

import errno
import os

from . import copies, migrations
from .connections import open_new
from .faults import Damaged

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


def ensure(path: str) -> None:
    """Make the store if there is none. Raises Damaged when there was one and it is gone or empty.

    The caller holds the data folder's lock, so nobody else makes one meanwhile.
    """
    size = _size(path)
    if size is None:
        if _size(path + "-wal"):
            raise Damaged("memory.db is gone, but its write-ahead log is still there.")
        _make(path)
    elif size == 0:
        raise Damaged("memory.db is empty: something cut it to nothing.")
    _remove(path + ".new")


def _make(path: str) -> None:
    draft = path + ".new"
    _remove(draft)
    _remove(draft + "-journal")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW, 0o600))
    # The umask may have taken bits away that SQLite needs; it copies this mode to -wal and -shm.
    os.chmod(draft, 0o600)
    connection = open_new(draft)
    try:
        migrations.apply_all(connection)
    finally:
        connection.close()
    _put_in_place(draft, path)


def _put_in_place(draft: str, path: str) -> None:
    """Give the finished file its name; unlike rename, link refuses to replace what is there."""
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.rename(draft, path)
    copies.sync(os.path.dirname(path))


def _size(path: str) -> int | None:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
