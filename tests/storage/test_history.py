"""The signed chain of every namespace's history."""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import Any

import apsw
import pytest
from recalld.storage import drafts, edits, history
from recalld.storage.drafts import Draft
from recalld.storage.faults import MissingRow
from recalld.storage.memories import Memory
from recalld.storage.transaction import Transaction

from tests.storage.opened import HERE, PATIENCE, SCOPE, THERE, Opened, is_signed, sign


def _chain(opened: Opened, ns: int = 1) -> history.ChainReport:
    return opened.read(lambda c: history.verify(c, ns, is_signed))


def _page(opened: Opened, ulid: str, after: int, limit: int) -> history.Past:
    return opened.read(lambda c: history.versions(c, SCOPE, ulid, after=after, limit=limit))


def test_versions_tell_the_whole_story(opened: Opened) -> None:
    """History names each change, who made it, and the state after it, also once forgotten."""
    ulid = opened.note("A")
    opened.edit(ulid, content="B")
    opened.forget(ulid)
    opened.undo(ulid)
    told = opened.read(lambda c: history.versions(c, SCOPE, ulid)).entries
    assert [entry.op for entry in told] == ["store", "edit", "forget", "undo"]
    assert [entry.memory["content"] for entry in told] == ["A", "B", "B", "B"]
    assert [entry.version for entry in told] == [1, 2, 3, 4]
    assert told[-1].restores == 2
    assert {entry.by for entry in told} == {"grant"}


def test_versions_come_in_pages(opened: Opened) -> None:
    """No page holds more than its limit or its bytes, and together they hold every version."""
    large = "x" * 300_000
    ulid = opened.note("0")
    for number in range(1, 12):
        opened.edit(ulid, content=f"{number} {large if number > 7 else ''}")

    def walk(limit: int) -> list[list[int]]:
        pages: list[list[int]] = []
        after: int | None = 0
        while after is not None:
            page = _page(opened, ulid, after, limit)
            pages.append([entry.version for entry in page.entries])
            after = page.after
        return pages

    assert walk(5) == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12]]
    assert walk(100) == [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [12]]
    assert walk(12)[0] == walk(100)[0]


def test_a_long_history_costs_an_undo_nothing(opened: Opened) -> None:
    """An undo, or a look at what stood then, reads the versions it needs, not all of them."""
    ulid = opened.note("0")
    moments: list[str] = []
    for number in range(1, 40):
        moments.append(opened.edit(ulid, content=f"{number}").updated_at)
    asked: list[str] = []

    def job(tx: Transaction) -> Memory:
        def trace(_: apsw.Cursor, statement: str, __: apsw.Bindings | None) -> bool:
            asked.append(statement)
            return True

        tx.connection.exec_trace = trace
        try:
            return edits.undo(tx, SCOPE, ulid, by="grant")
        finally:
            tx.connection.exec_trace = None

    assert opened.write(job).content == "38"
    reads = [one for one in asked if " doc FROM versions" in one]
    assert 0 < len(reads) <= 3
    assert all("LIMIT 1" in one or "version = ?" in one for one in reads)
    stood = opened.read(lambda c: history.at_time(c, SCOPE, ulid, moments[4]))
    assert stood is not None
    assert stood.at == moments[4]
    assert opened.read(lambda c: history.at_time(c, SCOPE, ulid, "2000")) is None
    assert opened.read(lambda c: history.namespace_of(c, SCOPE, ulid)) == HERE


def test_each_namespace_has_its_own_chain(opened: Opened) -> None:
    """Chains verify independently and count their own entries only."""
    for number in range(5):
        opened.note(f"here {number}")
    opened.note("there", THERE)
    assert _chain(opened, 1) == (5, None, "")
    assert _chain(opened, 2) == (1, None, "")
    assert _chain(opened, 3) == (0, None, "")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("UPDATE versions SET doc = CAST('{}' AS BLOB) WHERE id = 2", "document was changed"),
        ("UPDATE versions SET by = 'someone' WHERE id = 2", "columns were changed"),
        ("UPDATE versions SET signature = zeroblob(64) WHERE id = 2", "signature is not ours"),
        ("DELETE FROM versions WHERE id = 2", "missing or was moved"),
        ("DELETE FROM versions WHERE id = 3", "at its end are missing"),
    ],
)
def test_tampering_is_found(opened: Opened, damage: str, reason: str) -> None:
    """Changing, dropping or cutting entries afterwards breaks the chain."""
    for number in range(3):
        opened.note(f"here {number}")

    opened.write(lambda tx: tx.connection.execute(damage).fetchall())
    assert reason in _chain(opened).reason


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE namespaces SET name = CASE id WHEN 1 THEN 'b' ELSE 'a' END",
        "UPDATE versions SET ns = 3 - ns",
    ],
)
def test_a_chain_belongs_to_its_namespace(opened: Opened, damage: str) -> None:
    """Two namespaces that change places, or names, do not verify."""
    opened.note("here")
    opened.note("there", THERE)
    opened.write(lambda tx: tx.connection.execute(damage).fetchall())
    for ns in (1, 2):
        assert "another namespace" in _chain(opened, ns).reason


def test_a_signature_covers_the_chain(opened: Opened) -> None:
    """What is signed is the hash over the entry before and the document."""
    opened.note("here")
    row = opened.read(
        lambda c: c.execute("SELECT prev_hash, doc, hash, signature FROM versions").get
    )
    assert row[0] == history.GENESIS
    assert row[2] == history.chain_hash(row[0], row[1])
    assert row[3] == sign(row[2])
    assert HERE.encode() in row[1]


def test_what_is_undone_in_a_group_leaves_no_trace_in_chain_or_counts(opened: Opened) -> None:
    """A job that fails half-way, between two others, takes its entries and its count with it."""

    def stumble(tx: Transaction) -> None:
        drafts.insert(tx, Draft(HERE, "half done"), by="grant")
        drafts.insert(tx, Draft("project:new-22222222", "half done too"), by="grant")
        raise MissingRow("on purpose")

    writer, go = opened.store.writer, threading.Event()
    jobs: list[Future[Any]] = [
        writer.submit(lambda _: go.wait(PATIENCE)),
        writer.submit(lambda tx: drafts.insert(tx, Draft(HERE, "before"), by="grant")),
        writer.submit(stumble),
        writer.submit(lambda tx: drafts.insert(tx, Draft(HERE, "after"), by="grant")),
    ]
    go.set()
    wait(jobs, PATIENCE)
    assert isinstance(jobs[2].exception(), MissingRow)
    assert _chain(opened) == history.ChainReport(2, None, "")
    assert opened.read(lambda c: c.execute("SELECT name, rows FROM namespaces").fetchall()) == [
        (HERE, 2)
    ]
