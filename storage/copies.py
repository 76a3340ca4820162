"""Complete copies of an open store, made by SQLite itself: a plain file copy would miss the WAL."""

from __future__ import annotations

import os
import shutil

import apsw

from .faults import FullDisk


def write(connection: apsw.Connection, target: str) -> None:
    """VACUUM INTO a new private file and fsync it; a failure leaves no file.

    Raises FullDisk when the copy would not fit, FileExistsError when the target exists.
    """
    _check_space(connection, os.path.dirname(target))
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    try:
        connection.execute("VACUUM INTO ?", (target,))
        sync(target)
        sync(os.path.dirname(target))
    except BaseException:
        os.unlink(target)
        raise


def sync(path: str) -> None:
    """Fsync a file or folder by its path."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_space(connection: apsw.Connection, folder: str) -> None:
    needed = int(connection.pragma("page_count")) * int(connection.pragma("page_size"))
    free = shutil.disk_usage(folder).free
    if free < needed * 1.1:
        raise FullDisk(f"A copy needs {needed >> 20} MB, but {folder} has {free >> 20} MB left.")
