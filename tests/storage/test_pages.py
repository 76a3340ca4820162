"""Lists by keyset, and counts."""

from __future__ import annotations

import pytest
from recalld.storage import drafts, edits, pages
from recalld.storage.drafts import Draft
from recalld.storage.faults import Invalid
from recalld.storage.pages import Counts, Filter, Page
from recalld.storage.scope import Scope

from tests.storage.opened import HERE, SCOPE, THERE, Opened

BOTH = Scope([THERE, HERE])


def _page(opened: Opened, scope: Scope, cursor: str | None = None, limit: int = 7) -> Page:
    return opened.read(lambda c: pages.page(c, scope, Filter(), cursor, limit))


def _walk(opened: Opened, scope: Scope, limit: int = 7) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        items, cursor = _page(opened, scope, cursor, limit)
        found += [item.content for item in items]
        if cursor is None:
            return found


def _only(opened: Opened, wanted: Filter) -> list[str]:
    items = opened.read(lambda c: pages.page(c, SCOPE, wanted)).items
    return [item.content for item in items]


@pytest.mark.parametrize("limit", [1, 7, 30, 100])
def test_pages_hold_every_row_once_newest_first(opened: Opened, limit: int) -> None:
    """Rows of one moment and of several namespaces come in one order, none twice, none missing."""
    opened.write(
        lambda tx: [
            drafts.insert(tx, Draft((HERE, THERE)[n % 2], f"{n:02}"), by="g") for n in range(30)
        ]
    )
    assert _walk(opened, BOTH, limit) == [f"{n:02}" for n in reversed(range(30))]
    assert _walk(opened, SCOPE, limit) == [f"{n:02}" for n in reversed(range(0, 30, 2))]


def test_rows_stored_meanwhile_do_not_shift_pages(opened: Opened) -> None:
    """Reading on from a cursor continues where the page ended."""
    for number in range(10):
        opened.note(f"{number}")
    first = _page(opened, SCOPE, limit=5)
    opened.note("new")
    rest = _page(opened, SCOPE, first.next_cursor, limit=50)
    assert [item.content for item in rest.items] == ["4", "3", "2", "1", "0"]
    assert rest.next_cursor is None


def test_filters_narrow_the_list(opened: Opened) -> None:
    """Kinds match any, tags all, times from inclusive to exclusive, status exactly."""
    opened.add(Draft(HERE, "a", kind="solution", tags=("x", "y")))
    second = opened.add(Draft(HERE, "b", tags=("x",)))
    opened.add(Draft(HERE, "c", kind="failure"))
    opened.edit(second.ulid, status="archived")
    assert _only(opened, Filter(kinds=("solution", "failure"))) == ["c", "a"]
    assert _only(opened, Filter(tags=("x",))) == ["b", "a"]
    assert _only(opened, Filter(tags=("x", "y"))) == ["a"]
    assert _only(opened, Filter(status="archived")) == ["b"]
    at = opened.get(second.ulid).created_at
    assert "b" in _only(opened, Filter(since=at))
    assert "b" not in _only(opened, Filter(until=at))


@pytest.mark.parametrize("cursor", ["", "x", "é", "MjAyNg", "fDE", "eHwtMQ", "A" * 10_000])
def test_foreign_cursors_are_refused(opened: Opened, cursor: str) -> None:
    """A cursor we did not make is refused with one fault, whatever it holds."""
    with pytest.raises(Invalid):
        _page(opened, SCOPE, cursor)


def test_counts_by_namespace(opened: Opened) -> None:
    """Each namespace of the scope is counted on its own; an unused one holds nothing."""
    opened.note("a")
    opened.add(Draft(HERE, "b", kind="solution"))
    gone = opened.note("c")
    opened.write(lambda tx: edits.update(tx, SCOPE, gone, {"status": "archived"}, by="g"))
    there, here = opened.read(lambda c: pages.counts(c, BOTH))
    assert there == Counts(THERE, 0, {}, {}, None, None)
    assert (here.memories, here.kinds) == (3, {"note": 2, "solution": 1})
    assert here.statuses == {"active": 2, "archived": 1}
    assert here.first_at is not None
    assert here.last_at is not None
    assert here.first_at <= here.last_at
