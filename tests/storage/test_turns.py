"""A turn is found by the words of the turn before it, for as long as that turn says them."""

from __future__ import annotations

import pytest
from recalld.storage import fulltext, memories
from recalld.storage.drafts import Draft
from recalld.storage.memories import CONVERSATION
from recalld.storage.scope import Scope

from tests.storage.opened import HERE, SCOPE, THERE, Opened


def _turn(opened: Opened, number: int, content: str, session: str = "s") -> str:
    draft = Draft(HERE, content, kind=CONVERSATION, session=session, turn=number)
    return opened.add(draft).ulid


def _found(opened: Opened, word: str) -> set[str]:
    hits = opened.read(lambda c: fulltext.match(c, SCOPE, [word]))
    rows = opened.read(lambda c: memories.fetch(c, SCOPE, [rid for rid, _ in hits]))
    return {row.content for row in rows.values()}


@pytest.fixture
def talk(opened: Opened) -> tuple[Opened, str]:
    """Three turns, and the id of the second."""
    _turn(opened, 0, "first alpha")
    middle = _turn(opened, 1, "second zanzibar")
    _turn(opened, 2, "third gamma")
    _turn(opened, 2, "elsewhere", session="other")
    return opened, middle


def _rebuilt_alike(opened: Opened, words: list[str]) -> None:
    before = [_found(opened, word) for word in words]
    opened.write(lambda tx: fulltext.rebuild(tx.connection))
    assert [_found(opened, word) for word in words] == before


def test_a_forgotten_turn_finds_nothing_any_more(talk: tuple[Opened, str]) -> None:
    """Its words leave the next turn too; undo brings them back to both."""
    opened, middle = talk
    assert _found(opened, "zanzibar") == {"second zanzibar", "third gamma"}
    opened.forget(middle)
    assert _found(opened, "zanzibar") == set()
    assert _found(opened, "alpha") == {"first alpha", "third gamma"}
    _rebuilt_alike(opened, ["zanzibar", "alpha", "gamma"])
    opened.undo(middle)
    assert _found(opened, "zanzibar") == {"second zanzibar", "third gamma"}
    assert _found(opened, "alpha") == {"first alpha", "second zanzibar"}
    _rebuilt_alike(opened, ["zanzibar", "alpha", "gamma"])


def test_a_turn_alone_can_be_asked_for(talk: tuple[Opened, str]) -> None:
    """With `own` the turn before leads nowhere, in a small scope and in the whole store."""
    opened, _ = talk
    opened.note("zanzibar elsewhere", THERE)
    for scope, rows in ((SCOPE, 1), (Scope([HERE, THERE]), 2)):
        own = opened.read(lambda c, s=scope: fulltext.match(c, s, ["zanzibar"], own=True))  # type: ignore[misc]  # s is bound
        assert len(own) == rows
        assert len(opened.read(lambda c, s=scope: fulltext.match(c, s, ["zanzibar"]))) == rows + 1  # type: ignore[misc]  # s is bound


def test_an_edited_turn_is_found_by_its_new_words_alone(talk: tuple[Opened, str]) -> None:
    """A changed text replaces the old one in the next turn; other changes leave it alone."""
    opened, middle = talk
    opened.edit(middle, content="second tanganyika")
    assert _found(opened, "zanzibar") == set()
    assert _found(opened, "tanganyika") == {"second tanganyika", "third gamma"}
    opened.edit(middle, tags=["tagged"])
    _rebuilt_alike(opened, ["zanzibar", "tanganyika", "alpha", "tagged"])
    opened.undo(middle)
    opened.undo(middle)
    assert _found(opened, "tanganyika") == set()
    assert _found(opened, "zanzibar") == {"second zanzibar", "third gamma"}
