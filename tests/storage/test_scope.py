"""Scopes and identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.storage import ulid
from recalld.storage.scope import Scope, identify
from recalld.storage.timestamps import from_unix_ms

from tests.storage.opened import HERE, THERE, Opened


@pytest.mark.parametrize("names", [[], [""], ["a", ""]])
def test_a_scope_names_something(names: list[str]) -> None:
    """There is no scope over everything or over nothing."""
    with pytest.raises(ValueError, match="at least one"):
        Scope(names)


def test_a_scope_is_a_set_in_order() -> None:
    """Names count once, equality ignores their order, membership is exact."""
    scope = Scope(["b", "a", "b"])
    assert scope.names == ("b", "a")
    assert scope == Scope(["a", "b"])
    assert hash(scope) == hash(Scope(["a", "b"]))
    assert "a" in scope
    assert "A" not in scope
    assert list(scope) == ["b", "a"]
    assert len(scope) == 2


def test_a_scope_only_ever_narrows() -> None:
    """What was not in it does not come in."""
    scope = Scope(["a", "b"])
    assert scope.narrowed(["b", "c"]) == Scope(["b"])
    assert scope.narrowed(["c"]) is None


def test_names_are_exact(opened: Opened) -> None:
    """No pattern, case or quote in a name reaches another namespace."""
    opened.note("x")
    opened.note("y", THERE)
    for name in ("project:%", HERE.upper(), f"{HERE}' OR 1=1 --", "project:here_00000000"):
        assert opened.read(lambda c, n=name: identify(c, Scope([n]))) == {}  # type: ignore[misc]  # n is bound
    assert opened.read(lambda c: identify(c, Scope([HERE]))) == {1: HERE}


@given(st.lists(st.integers(0, (1 << 48) - 1), min_size=2, max_size=50))
def test_ids_only_grow(times: list[int]) -> None:
    """Whatever the clock does, each id is greater than the one before and well formed."""
    source = ulid.UlidSource()
    made = [source.next(unix_ms) for unix_ms in times]
    assert made == sorted(set(made))
    assert all(ulid.is_ulid(one) for one in made)


@pytest.mark.parametrize(
    "text", ["", "01", "0" * 27, "8" + "0" * 25, "0" * 25 + "I", "0" * 25 + "a"]
)
def test_what_is_no_id(text: str) -> None:
    """Other lengths, letters and values over 128 bits are no ids."""
    assert not ulid.is_ulid(text)


def test_times_sort_as_text() -> None:
    """Times are UTC with milliseconds, and their text sorts as they do."""
    assert from_unix_ms(0) == "1970-01-01T00:00:00.000Z"
    assert from_unix_ms(1_795_986_000_007) == "2026-11-29T21:00:00.007Z"
