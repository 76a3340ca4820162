"""What counts for a memory whose vector is still to come."""

from __future__ import annotations

import numpy as np
import pytest
from recalld.daemon.recall.arrays import Flags, Floats
from recalld.daemon.recall.candidates import gather
from recalld.daemon.recall.fusion import WEIGHTS, fuse, lone_factor
from recalld.daemon.recall.lexical import Statistics, WordScores
from recalld.daemon.recall.query import analyse
from recalld.daemon.recall.shelf import Shelf

from tests.recall.remembered import Remembered

FRESH = (
    "The staging cluster runs in Frankfurt",
    "Invoices are rounded half to even",
    "Never call the billing service from a loop",
)


@pytest.mark.parametrize("text", FRESH)
def test_what_was_just_stored_is_not_behind_for_lack_of_its_vector(
    either: Remembered, text: str
) -> None:
    """A memory whose vector is still to come counts by its words where others count by meaning."""
    for old in (
        "Use tabs in the Makefile",
        "The deployment of the web shop takes place in Ireland on servers",
        "Payments and amounts of money are kept as integers of cents",
        "Requests to other services are made in one go, not one by one",
    ):
        either.remember(old)
    either.embed_all()
    either.backlog.stop()
    either.remember(text)
    for question in (text, " ".join(text.split()[-3:])):
        assert either.found(question)[0] == text, question


WORDS = np.array([0.1, 1.0, 2.0, 0.5], np.float32)
CLOSE = np.array([0.8, 0.4, 0.0, -0.2], np.float32)


def meaning(similarity: Floats, pending: Flags) -> list[float]:
    """The share of meaning of four lone rows with the word scores WORDS."""
    shelf = Shelf(0, 4)
    words, every = WordScores(WORDS, np.zeros(4, np.float32)), np.ones(4, np.bool_)
    state = shelf.state._replace(size=4)
    found = gather(shelf, state, words, similarity, pending, every, None)
    stats = Statistics(np.ones(1, np.float32), 1.0)
    shares = fuse(found, stats, analyse("anything", 0))["meaning"]
    return [round(float(share / WEIGHTS.meaning / lone_factor(WEIGHTS)), 4) for share in shares]


def test_only_a_missing_vector_is_made_up_for() -> None:
    """With every vector there, or none, meaning is what the vectors say."""
    none = np.zeros(4, np.bool_)
    assert meaning(CLOSE, none) == [1.0, 0.5, 0.0, 0.0]
    assert meaning(0 * CLOSE, ~none) == [0.0, 0.0, 0.0, 0.0]
    assert meaning(CLOSE, CLOSE <= 0) == [1.0, 0.5, 1.0, 0.25]
