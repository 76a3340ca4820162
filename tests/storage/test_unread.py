"""Rows whose vector is to be replaced: named with the first one, struck off with the second."""

from __future__ import annotations

import pytest
from recalld.storage import chunks, unread, vectors
from recalld.storage.drafts import Draft
from recalld.storage.scope import Scope, identify
from recalld.storage.unread import Made, Unread, Waiting
from recalld.storage.vectors import Item, Space

from tests.storage.opened import HERE, THERE, Opened

DIM = 8
FIRST, BETTER = bytes([1] * DIM), bytes([2] * DIM)


@pytest.fixture
def space(opened: Opened) -> Space:
    """A space for all tests here."""
    return opened.write(lambda tx: vectors.ensure_space(tx, "test", "model", DIM))


def _embed(opened: Opened, space: Space, *, turns: bool = False) -> None:
    rows = opened.read(lambda c: vectors.pending(c, space, 99))
    items = [Item(row.rid, row.ulid, row.version, FIRST) for row in rows]
    opened.write(lambda tx: unread.put_first(tx, space, items, turns=turns))


def _newest(opened: Opened, space: Space, limit: int = 99) -> Unread:
    return opened.read(lambda c: unread.newest(c, space, limit))


def _count(opened: Opened, space: Space) -> int:
    return opened.read(lambda c: unread.count(c, space))


def _read(opened: Opened, space: Space, row: Waiting, states: bytes = b"") -> None:
    made = Made(Item(row.rid, row.ulid, row.version, BETTER), states)
    opened.write(lambda tx: unread.put_read(tx, space, [made], ()))


def _vector(opened: Opened, space: Space, rid: int) -> bytes | None:
    return opened.read(lambda c: vectors.get(c, space, [rid])).get(rid)


def test_notes_wait_newest_first(opened: Opened, space: Space) -> None:
    """Whatever has its first vector is named, until it has the better one."""
    for number in range(5):
        opened.note(f"note {number}")
    assert _newest(opened, space).rows == []
    _embed(opened, space)
    assert [row.content for row in _newest(opened, space, 2).rows] == ["note 4", "note 3"]
    assert _count(opened, space) == 5
    newest = _newest(opened, space).rows[0]
    assert _vector(opened, space, newest.rid) == FIRST
    _read(opened, space, newest)
    assert _vector(opened, space, newest.rid) == BETTER
    assert _count(opened, space) == 4


@pytest.mark.parametrize("turns", [False, True])
def test_turns_wait_where_asked(opened: Opened, space: Space, turns: bool) -> None:
    """Turns of conversations are named for readers that want them, and marked as what they are."""
    opened.add(Draft(HERE, "a turn", kind="conversation", session="s", turn=0))
    opened.note("a note")
    _embed(opened, space, turns=turns)
    found = [(row.content, row.is_turn) for row in _newest(opened, space).rows]
    assert found == [("a note", False), ("a turn", True)][: 1 + turns]


def test_another_version_stays(opened: Opened, space: Space) -> None:
    """What was read of an older version counts for nothing."""
    ulid = opened.note("use tabs")
    _embed(opened, space)
    (row,) = _newest(opened, space).rows
    opened.edit(ulid, tags=("style",))
    _read(opened, space, row)
    assert _vector(opened, space, row.rid) == FIRST
    (again,) = _newest(opened, space).rows
    assert again.version == row.version + 1
    _read(opened, space, again)
    assert _vector(opened, space, row.rid) == BETTER
    assert _count(opened, space) == 0


def test_a_forgotten_row_is_told_as_gone(opened: Opened, space: Space) -> None:
    """An entry without its row is handed out as such, and struck off when that comes back."""
    gone, _ = opened.note("use tabs"), opened.note("use spaces")
    _embed(opened, space)
    opened.forget(gone)
    found = _newest(opened, space)
    assert [row.content for row in found.rows] == ["use spaces"]
    assert len(found.gone) == 1
    opened.write(lambda tx: unread.put_read(tx, space, (), found.gone))
    assert _newest(opened, space).gone == []


def test_entries_go_with_their_space(opened: Opened, space: Space) -> None:
    """A space made later under the same number begins with nothing to read."""
    opened.note("use tabs")
    _embed(opened, space)
    opened.write(lambda tx: vectors.drop_space(tx, space))
    again = opened.write(lambda tx: vectors.ensure_space(tx, "other", "model", DIM))
    assert again.id == space.id
    assert _count(opened, again) == 0


def test_a_namespace_is_told_its_own(opened: Opened, space: Space) -> None:
    """A namespace has something to read until the last of its own rows was read."""
    opened.note("ours", HERE)
    opened.note("theirs", THERE)
    _embed(opened, space)
    (ns,) = opened.read(lambda c: identify(c, Scope([HERE])))
    assert opened.read(lambda c: unread.holds(c, space, ns))
    (ours,) = [row for row in _newest(opened, space).rows if row.content == "ours"]
    _read(opened, space, ours)
    assert not opened.read(lambda c: unread.holds(c, space, ns))
    assert _count(opened, space) == 1


def test_notes_are_told_from_turns(opened: Opened) -> None:
    """A store of turns alone has no notes."""
    opened.add(Draft(HERE, "a turn", kind="conversation", session="s", turn=0))
    assert not opened.read(unread.has_notes)
    opened.note("a note")
    assert opened.read(unread.has_notes)


def test_a_turn_that_becomes_a_note_waits(opened: Opened, space: Space) -> None:
    """Turns and notes have vectors of another making: becoming the other takes the vector away."""
    ulid = opened.add(Draft(HERE, "use tabs", kind="conversation", session="s", turn=0)).ulid
    _embed(opened, space)
    assert _newest(opened, space).rows == []
    opened.edit(ulid, kind="note")
    _embed(opened, space)
    (row,) = _newest(opened, space).rows
    assert row.ulid == ulid


def test_nothing_goes_into_a_space_that_was_dropped(opened: Opened, space: Space) -> None:
    """What was read for it is thrown away without an error."""
    opened.note("use tabs")
    _embed(opened, space)
    (row,) = _newest(opened, space).rows
    opened.write(lambda tx: vectors.drop_space(tx, space))
    _read(opened, space, row)
    again = opened.write(lambda tx: vectors.ensure_space(tx, "other", "model", DIM))
    assert opened.read(lambda c: vectors.stored_count(c, again)) == 0


def test_a_better_vector_takes_no_room(opened: Opened, space: Space) -> None:
    """It lies where the first one lay: chunks of a namespace stay full."""
    for number in range(300):
        opened.note(f"note {number}")
    for _ in range(4):
        _embed(opened, space)
    before = opened.read(lambda c: chunks.chunks_of(c, space, 1))
    for row in _newest(opened, space, 300).rows[::3]:
        _read(opened, space, row)
    assert opened.read(lambda c: chunks.chunks_of(c, space, 1)) == before
    rids, joined = opened.read(lambda c: chunks.load(c, space, 1))
    assert len(rids) == 300
    assert joined.count(BETTER) == 100
