"""The harness itself: the environment it strips, and waiting that ends."""

from __future__ import annotations

import os

import pytest

from tests.harness import environment
from tests.harness.checkouts import Checkouts
from tests.harness.waiting import eventually, never


def test_no_foreign_variable_survives() -> None:
    """Variables that could change the product are gone before a test begins."""
    assert [name for name in os.environ if environment.is_foreign(name)] == []


def test_rounds_can_be_raised() -> None:
    """`RECALLD_TEST_ROUNDS` replaces the short default and is not stripped."""
    assert environment.rounds(2, {}) == 2
    assert environment.rounds(2, {"RECALLD_TEST_ROUNDS": "20"}) == 20
    assert not environment.is_foreign("RECALLD_TEST_ROUNDS")


def test_waiting_ends() -> None:
    """A condition that never holds fails within its deadline, one that holds returns its answer."""
    assert eventually(lambda: "yes") == "yes"
    with pytest.raises(AssertionError, match="the impossible"):
        eventually(lambda: False, within=0.05, what="the impossible")
    with pytest.raises(AssertionError, match="Happened"):
        never(lambda: True)


def test_checkouts_have_a_commit(checkout: Checkouts) -> None:
    """A checkout made for a test is a real repository."""
    assert checkout.git(checkout("one"), "log", "--format=%s").strip() == "Start"
    assert checkout("one") == checkout("one")
