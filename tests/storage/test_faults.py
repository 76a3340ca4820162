"""SQLite's errors and the system's as ours: a full disk is one thing, a disk in trouble another."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from recalld.storage import birth, faults
from recalld.storage.engine import Store
from recalld.storage.faults import DiskTrouble, FullDisk

from tests.storage.opened import Opened, sign


def _error(code: int) -> apsw.Error:
    error = apsw.exception_for(code)
    assert isinstance(error, apsw.Error)
    return error


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (apsw.SQLITE_FULL, FullDisk),
        (apsw.SQLITE_IOERR_WRITE, FullDisk),
        (apsw.SQLITE_IOERR_SHMSIZE, FullDisk),
        (apsw.SQLITE_IOERR_READ, DiskTrouble),
        (apsw.SQLITE_IOERR_FSYNC, DiskTrouble),
        (apsw.SQLITE_CANTOPEN, DiskTrouble),
        (apsw.SQLITE_READONLY, DiskTrouble),
    ],
)
def test_only_a_lack_of_space_is_a_full_disk(code: int, fault: type[Exception]) -> None:
    """Freeing space does not help when a file cannot be read or opened."""
    assert type(faults.from_sqlite(_error(code))) is fault


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (errno.ENOSPC, FullDisk),
        (errno.EDQUOT, FullDisk),
        (errno.EIO, DiskTrouble),
        (errno.EACCES, DiskTrouble),
    ],
)
def test_opening_tells_a_full_disk_from_a_refusal(
    place: Path, monkeypatch: pytest.MonkeyPatch, number: int, fault: type[Exception]
) -> None:
    """What the system refuses while the store opens is told for what it is."""

    def refuse(_: str) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(birth, "ensure", refuse)
    with pytest.raises(fault):
        Store.open(str(place), signer=sign)


def test_a_reader_that_cannot_open_is_trouble(reopen: Callable[[], Opened]) -> None:
    """Without a file to open a new reader raises a fault of the store, not an SQLite error."""
    opened = reopen()
    away = opened.path.rename(opened.path.with_suffix(".away"))
    with pytest.raises(DiskTrouble):
        opened.store.reader()
    away.rename(opened.path)
