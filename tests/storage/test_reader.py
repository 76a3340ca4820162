"""Readers: deadlines, cancelling, one state per block, no writing."""

from __future__ import annotations

import time

import apsw
import pytest
from recalld.storage.faults import Interrupted

from tests.storage.opened import PATIENCE, Opened

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"


def test_a_deadline_ends_a_running_query(opened: Opened) -> None:
    """A query without end is interrupted when its time is up, and the reader works on."""
    with (
        pytest.raises(Interrupted),
        opened.reader.until(time.monotonic() + 0.05) as connection,
    ):
        connection.execute(ENDLESS).fetchall()
    assert opened.read(lambda c: c.execute("SELECT 1").get) == 1


def test_a_caller_who_left_ends_a_running_query(opened: Opened) -> None:
    """Cancelling is noticed while the query runs."""
    asked = iter([False, False, False])
    with (
        pytest.raises(Interrupted),
        opened.reader.until(time.monotonic() + PATIENCE, lambda: next(asked, True)) as connection,
    ):
        connection.execute(ENDLESS).fetchall()


def test_no_work_after_the_deadline(opened: Opened) -> None:
    """A block whose time is up already does not begin."""
    with pytest.raises(Interrupted), opened.reader.until(time.monotonic() - 1):
        pytest.fail("the block ran")


def test_work_outside_sqlite_can_ask(opened: Opened) -> None:
    """`check` raises within the block once the caller has gone, and never outside it."""
    gone: list[bool] = []
    with opened.reader.until(time.monotonic() + PATIENCE, lambda: bool(gone)):
        opened.reader.check()
        gone.append(True)
        with pytest.raises(Interrupted):
            opened.reader.check()
    opened.reader.check()


def test_a_block_sees_one_state(opened: Opened) -> None:
    """Rows stored meanwhile appear in the next block, not in this one."""
    question = "SELECT count(*) FROM memories"
    with opened.reader.until(time.monotonic() + PATIENCE) as connection:
        before = connection.execute(question).get
        opened.note("meanwhile")
        assert connection.execute(question).get == before == 0
    assert opened.read(lambda c: c.execute(question).get) == 1


def test_no_read_outlives_its_block(opened: Opened) -> None:
    """A cursor left half read holds nothing back: the WAL can be emptied afterwards."""
    for number in range(50):
        opened.note(f"row {number}")
    with opened.reader.until(time.monotonic() + PATIENCE) as connection:
        cursor = connection.execute("SELECT * FROM memories")
        next(cursor)
    opened.write(lambda tx: None)
    check = apsw.Connection(str(opened.path))
    check.pragma("user_version")  # a connection that has read nothing has no WAL to empty
    check.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    check.close()
    assert opened.store.wal_bytes() == 0


def test_a_reader_cannot_write(opened: Opened) -> None:
    """Reading connections refuse every change."""
    with (
        pytest.raises(Exception, match="written"),
        opened.reader.until(time.monotonic() + PATIENCE) as connection,
    ):
        connection.execute("DELETE FROM memories")
