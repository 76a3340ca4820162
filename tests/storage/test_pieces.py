"""Pieces of a row's text: kept beside its vector, of one text and one space, gone with both."""

from __future__ import annotations

import pytest
from recalld.storage import pieces, unread, vectors
from recalld.storage.drafts import Draft
from recalld.storage.unread import Made
from recalld.storage.vectors import Item, Space

from tests.storage.opened import HERE, Opened

DIM = 8


@pytest.fixture
def space(opened: Opened) -> Space:
    """A space for all tests here."""
    return opened.write(lambda tx: vectors.ensure_space(tx, "test", "model", DIM))


@pytest.fixture
def turn(opened: Opened) -> str:
    """A turn of a conversation."""
    return opened.add(Draft(HERE, "use tabs", kind="conversation", session="s", turn=0)).ulid


def _read(opened: Opened, space: Space, ulid: str, states: bytes, version: int = 1) -> int:
    """Write what was read of a version; the row's id."""
    rid = opened.get(ulid).rid
    made = Made(Item(rid, ulid, version, bytes(DIM)), states)
    opened.write(lambda tx: unread.put_read(tx, space, [made], ()))
    return rid


def _kept(opened: Opened, rid: int, space: str = "test") -> bytes | None:
    return opened.read(lambda c: pieces.get(c, space, [rid])).get(rid)


def test_the_last_reading_counts(opened: Opened, space: Space, turn: str) -> None:
    """Pieces read again take the place of those before; rows without any are left out."""
    _read(opened, space, turn, b"first")
    rid = _read(opened, space, turn, b"second")
    assert opened.read(lambda c: pieces.get(c, "test", [rid, rid + 1])) == {rid: b"second"}


def test_of_an_older_text_nothing_is_kept(opened: Opened, space: Space, turn: str) -> None:
    """What was read of a text that changed meanwhile is thrown away."""
    opened.edit(turn, content="use spaces")
    rid = _read(opened, space, turn, b"of tabs", version=1)
    assert _kept(opened, rid) is None


def test_a_new_text_takes_them_away(opened: Opened, space: Space, turn: str) -> None:
    """An edit, and its undoing, takes them away until the next reading; new tags do not."""
    rid = _read(opened, space, turn, b"tabs")
    opened.edit(turn, tags=("style",))
    assert _kept(opened, rid) == b"tabs"
    opened.edit(turn, content="use spaces")
    assert _kept(opened, rid) is None
    opened.undo(turn)
    assert _kept(opened, rid) is None


def test_a_turn_that_becomes_a_note_loses_them(opened: Opened, space: Space, turn: str) -> None:
    """Notes are compared by their vectors."""
    rid = _read(opened, space, turn, b"tabs")
    opened.edit(turn, kind="note")
    assert _kept(opened, rid) is None


@pytest.mark.parametrize("vectors_loaded", [True, False])
def test_a_forgotten_row_leaves_nothing(
    opened: Opened, space: Space, turn: str, vectors_loaded: bool
) -> None:
    """They say what the text said: they go with it, with the vector extension or without."""
    _read(opened, space, turn, b"tabs")
    opened.close()
    again = Opened(opened.path, vectors=vectors_loaded)
    again.forget(turn)
    assert again.read(lambda c: c.execute("SELECT count(*) FROM pieces").get) == 0
    again.close()


def test_they_belong_to_a_space(opened: Opened, space: Space, turn: str) -> None:
    """Those of another space are not handed out, and those of a dropped one go."""
    other = opened.write(lambda tx: vectors.ensure_space(tx, "other", "model", DIM))
    rid = _read(opened, space, turn, b"tabs")
    assert _kept(opened, rid, "other") is None
    _read(opened, other, turn, b"others")
    opened.write(lambda tx: vectors.drop_space(tx, space))
    assert _kept(opened, rid, "other") == b"others"
    opened.write(lambda tx: vectors.drop_space(tx, other))
    assert opened.read(lambda c: c.execute("SELECT count(*) FROM pieces").get) == 0
