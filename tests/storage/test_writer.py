"""The writer thread: shared commits, failures that stay with their job, order and shutdown."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, wait

import apsw
import pytest
from recalld.storage import drafts
from recalld.storage.drafts import Draft, Stored
from recalld.storage.faults import Closed, Damaged, FullDisk, Invalid, MissingRow
from recalld.storage.transaction import Change, Transaction
from recalld.storage.writer import URGENT_GROUPS

from tests.storage.opened import HERE, PATIENCE, Opened


def _insert(text: str) -> drafts.Draft:
    return Draft(HERE, text)


def _count(opened: Opened) -> int:
    return int(opened.read(lambda c: c.execute("SELECT count(*) FROM memories").get))


class Gate:
    """A job that holds the writer until told to go on."""

    def __init__(self, opened: Opened) -> None:
        self._entered = threading.Event()
        self._open = threading.Event()
        self.future = opened.store.writer.submit(self._job)
        assert self._entered.wait(PATIENCE)

    def _job(self, _tx: Transaction) -> None:
        self._entered.set()
        assert self._open.wait(PATIENCE)

    def open(self) -> None:
        """Let the writer go on."""
        self._open.set()
        self.future.result(PATIENCE)


def test_many_threads_store_at_once(opened: Opened) -> None:
    """Every acknowledged row of eight threads is there, in far fewer transactions than rows."""
    commits: list[int] = []
    opened.store.writer.subscribe(lambda changes: commits.append(len(changes)))

    def client(number: int) -> None:
        for turn in range(20):
            opened.note(f"client {number} turn {turn}")

    gate = Gate(opened)
    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    gate.open()
    for thread in threads:
        thread.join(PATIENCE)
    assert _count(opened) == 160
    assert sum(commits) == 160
    assert len(commits) < 160


def test_a_failing_job_fails_alone(opened: Opened) -> None:
    """Its neighbours in the same group are stored, and nothing it wrote itself remains."""
    gate = Gate(opened)
    writer = opened.store.writer

    def stumble(tx: Transaction) -> Stored:
        drafts.insert(tx, _insert("half done"), by="grant")
        raise MissingRow("on purpose")

    before = writer.submit(lambda tx: drafts.insert(tx, _insert("before"), by="grant"))
    failing = writer.submit(stumble)
    after = writer.submit(lambda tx: drafts.insert(tx, _insert("after"), by="grant"))
    gate.open()
    assert before.result(PATIENCE).result == after.result(PATIENCE).result == "stored"
    with pytest.raises(MissingRow):
        failing.result(PATIENCE)
    assert _count(opened) == 2
    assert opened.read(lambda c: c.execute("SELECT count(*) FROM fts").get) == 2


def test_a_group_writes_its_words_to_the_index_once(opened: Opened) -> None:
    """Jobs that are stored together cost the full-text index one segment, not one each."""
    gate = Gate(opened)
    writer = opened.store.writer
    jobs = [
        writer.submit(lambda tx, n=n: drafts.insert(tx, _insert(f"word{n}"), by="grant"))  # type: ignore[misc]  # n is bound
        for n in range(8)
    ]
    gate.open()
    wait(jobs, PATIENCE)
    assert opened.read(lambda c: c.execute("SELECT count(DISTINCT segid) FROM fts_idx").get) == 1


def test_a_refusal_before_the_first_write_costs_its_neighbours_nothing(opened: Opened) -> None:
    """A job that fails with nothing written does not make the others run again."""
    gate = Gate(opened)
    runs: list[str] = []
    writer = opened.store.writer

    def store(tx: Transaction) -> Stored:
        runs.append("store")
        return drafts.insert(tx, _insert("kept"), by="grant")

    kept = writer.submit(store)
    refused = writer.submit(lambda tx: drafts.insert(tx, _insert("  "), by="grant"))
    gate.open()
    assert kept.result(PATIENCE).result == "stored"
    with pytest.raises(Invalid):
        refused.result(PATIENCE)
    assert runs == ["store"]


def test_background_jobs_have_their_turn_under_constant_load(opened: Opened) -> None:
    """However many interactive jobs follow one another, a background job comes to its turn."""
    writer, gate = opened.store.writer, Gate(opened)
    ended = threading.Event()
    turns: list[int] = []

    def urgent(_: Transaction) -> None:
        turns.append(1)
        if not ended.is_set() and len(turns) < 10 * URGENT_GROUPS:
            writer.submit(urgent)

    writer.submit(urgent)
    kept = writer.submit(lambda _tx: len(turns), background=True)
    gate.open()
    assert kept.result(PATIENCE) <= URGENT_GROUPS + 1
    ended.set()


def test_a_cancelled_job_never_runs(opened: Opened) -> None:
    """Cancelling before its turn drops a job; the others of its group are not bothered."""
    gate = Gate(opened)
    writer = opened.store.writer
    gone = writer.submit(lambda tx: drafts.insert(tx, _insert("gone"), by="grant"))
    kept = writer.submit(lambda tx: drafts.insert(tx, _insert("kept"), by="grant"))
    assert gone.cancel()
    gate.open()
    assert kept.result(PATIENCE).result == "stored"
    with pytest.raises(CancelledError):
        gone.result(PATIENCE)
    assert _count(opened) == 1


def test_background_jobs_wait_for_interactive_ones(opened: Opened) -> None:
    """A job queued later runs first if someone is waiting for it."""
    gate = Gate(opened)
    order: list[str] = []
    writer = opened.store.writer
    slow = writer.submit(lambda _tx: order.append("background"), background=True)
    fast = writer.submit(lambda _tx: order.append("interactive"))
    assert writer.queue_length() == 3
    gate.open()
    wait([slow, fast], PATIENCE)
    assert order == ["interactive", "background"]


def test_subscribers_hear_of_committed_changes_only(opened: Opened) -> None:
    """Changes arrive in order, after the commit, before the caller's answer; failed ones never."""
    heard: list[Change] = []
    seen: list[int] = []

    def listen(changes: Sequence[Change]) -> None:
        heard.extend(changes)
        seen.append(_count(opened))

    stop = opened.store.writer.subscribe(listen)
    ulid = opened.note("one")
    assert [(change.op, change.ulid, change.version) for change in heard] == [("upsert", ulid, 1)]
    assert seen == [1]

    def stumble(tx: Transaction) -> None:
        drafts.insert(tx, _insert("two"), by="grant")
        raise MissingRow("on purpose")

    with pytest.raises(MissingRow):
        opened.write(stumble)
    opened.edit(ulid, tags=["x"])
    opened.edit(ulid, content="uno")
    opened.forget(ulid)
    assert [change.op for change in heard] == ["upsert", "upsert", "upsert", "remove"]
    assert [change.vector_dropped for change in heard] == [False, False, True, True]
    stop()
    opened.note("three")
    assert len(heard) == 4


def test_a_failing_subscriber_harms_nobody(opened: Opened) -> None:
    """The row is on disk, so its caller is told so, whatever a subscriber does."""

    def listen(_changes: Sequence[Change]) -> None:
        raise RuntimeError("on purpose")

    opened.store.writer.subscribe(listen)
    opened.note("one")
    assert _count(opened) == 1


def test_closing_finishes_the_queue(opened: Opened) -> None:
    """What was queued before the close is stored; what comes after is refused, not executed."""
    gate = Gate(opened)
    writer = opened.store.writer
    queued: list[Future[Stored]] = [
        writer.submit(lambda tx, n=n: drafts.insert(tx, _insert(f"row {n}"), by="grant"))  # type: ignore[misc]  # n is bound
        for n in range(20)
    ]
    closer = threading.Thread(target=writer.close)
    closer.start()
    gate.open()
    closer.join(PATIENCE)
    assert [future.result(0).result for future in queued] == ["stored"] * 20
    with pytest.raises(Closed):
        writer.submit(lambda _tx: None).result(0)
    assert opened.store.wal_bytes() == 0


def test_a_full_disk_fails_the_group_and_passes(opened: Opened) -> None:
    """Nothing of the group is stored, reads go on, and with space again so do writes."""
    opened.note("first")
    pages = int(opened.write(lambda tx: tx.connection.pragma("page_count")))
    opened.write(lambda tx: tx.connection.pragma("max_page_count", pages + 2))
    gate = Gate(opened)
    writer = opened.store.writer
    small = writer.submit(lambda tx: drafts.insert(tx, _insert("small"), by="grant"))
    large = writer.submit(lambda tx: drafts.insert(tx, _insert("x y " * 20_000), by="grant"))
    gate.open()
    for future in (small, large):
        with pytest.raises(FullDisk):
            future.result(PATIENCE)
    assert _count(opened) == 1
    opened.write(lambda tx: tx.connection.pragma("max_page_count", 1 << 30))
    opened.note("after")
    assert _count(opened) == 2


def test_damage_stops_all_writing(opened: Opened) -> None:
    """Once the file is found damaged, nothing is written any more and the reason is kept."""

    def stumble(_tx: Transaction) -> None:
        raise apsw.CorruptError("on purpose")

    gate = Gate(opened)
    failing = opened.store.writer.submit(stumble)
    gate.open()
    with pytest.raises(Damaged):
        failing.result(PATIENCE)
    assert opened.store.writer.damage is not None
    with pytest.raises(Damaged):
        opened.note("refused")


def test_time_never_goes_back(opened: Opened) -> None:
    """A clock that is set back does not reorder memories."""
    times = iter([2_000.0, 1_000.0, 3_000.0])
    opened.store.writer._clock = lambda: next(times)  # pyright: ignore[reportPrivateUsage]
    stamps = [opened.write(lambda tx: tx.now) for _ in range(3)]
    assert stamps == sorted(stamps)
    assert stamps[0] == stamps[1] == "1970-01-01T00:33:20.000Z"


def test_the_wal_stays_small(opened: Opened) -> None:
    """Bulk writing does not let the WAL grow beyond what one truncation allows."""
    text = "word " * 2_000
    for number in range(12):
        opened.write(
            lambda tx, n=number: [  # type: ignore[misc]  # n is bound
                drafts.insert(tx, _insert(f"{n} {row} {text}"), by="grant") for row in range(100)
            ]
        )
    assert opened.store.wal_bytes() < 24 << 20


def test_the_wal_shrinks_once_a_long_reader_ends(opened: Opened) -> None:
    """A reader that stays in one block holds the WAL back only for as long as it stays."""
    with opened.reader.until(time.monotonic() + PATIENCE) as connection:
        connection.execute("SELECT count(*) FROM memories").fetchall()
        for number in range(10):
            text = f"{number} " + "word " * 200_000
            opened.write(lambda tx, t=text: drafts.insert(tx, _insert(t), by="grant"))  # type: ignore[misc]  # t is bound
        assert opened.store.wal_bytes() > 16 << 20
    end = time.monotonic() + PATIENCE
    while opened.store.wal_bytes() > 16 << 20 and time.monotonic() < end:
        time.sleep(0.02)
    assert opened.store.wal_bytes() <= 16 << 20
