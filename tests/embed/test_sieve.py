"""Which row is to blame when a batch fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from recalld.daemon.embed.background.sieve import MOST_TRIES, Sieve
from recalld.daemon.embed.protocol import TextRefused, VectorsUnavailable
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.storage.vectors import Pending


class Picky(StaticEmbedder):
    """Refuses texts with `poison`, fails on those with `crash`, and may be away altogether."""

    away = False
    calls = 0

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed, refuse or fail."""
        self.calls += 1
        if self.away:
            raise VectorsUnavailable("The provider is away.")
        if any("poison" in text for text in texts):
            raise TextRefused("The provider answered 400.")
        if any("crash" in text for text in texts):
            raise VectorsUnavailable("The provider answered 500.")
        return super().documents(texts)


def _rows(*texts: str) -> list[Pending]:
    return [Pending(n, f"ulid{n}", 1, 1, text) for n, text in enumerate(texts, 1)]


def test_one_poisoned_text_is_given_up_at_once() -> None:
    """The others get their vectors; the one is refused and not tried again."""
    picky, rows = Picky(), _rows("use tabs", "poison", "use spaces")
    sieve = Sieve(picky)
    assert [item.rid for item in sieve.made(rows)] == [1, 3]
    assert (sieve.refused(), sieve.due(rows)) == (1, [rows[0], rows[2]])
    assert sieve.last_trouble == "The provider answered 400."


def test_a_failing_text_is_tried_a_few_times() -> None:
    """What fails without a reason is tried again after growing pauses, and then given up."""
    now = [0.0]
    sieve = Sieve(Picky(), lambda: now[0])
    rows = _rows("use tabs", "crash")
    tries = 0
    while sieve.refused() == 0:
        if sieve.due(rows[1:]):
            sieve.made(rows)
            tries += 1
        now[0] += 0.5
    assert tries == MOST_TRIES
    assert now[0] > MOST_TRIES


def test_trouble_that_has_passed_is_not_told_any_more() -> None:
    """A provider that failed for a row and then took it leaves nothing to complain about."""
    sieve = Sieve(Picky())
    sieve.made(_rows("use tabs", "crash"))
    assert sieve.last_trouble == "The provider answered 500."
    assert [item.rid for item in sieve.made(_rows("use tabs", "taken after all"))] == [1, 2]
    assert sieve.last_trouble is None


def test_nobody_is_blamed_for_an_absent_provider() -> None:
    """When a harmless text fails too, the trouble is the provider's and every row stays due."""
    picky, rows = Picky(), _rows("poison", "crash", "use tabs")
    picky.away = True
    sieve = Sieve(picky)
    for _ in range(20):
        with pytest.raises(VectorsUnavailable, match="away"):
            sieve.made(rows)
    assert (sieve.refused(), sieve.due(rows)) == (0, rows)


def test_batches_shrink_and_grow_again() -> None:
    """After a failure fewer rows go at once, after successes more, up to the embedder's batch."""
    picky = Picky()
    sieve = Sieve(picky)
    picky.away = True
    for _ in range(10):
        with pytest.raises(VectorsUnavailable):
            sieve.made(_rows("use tabs"))
    assert sieve.size == 1
    picky.away = False
    for _ in range(10):
        sieve.made(_rows("use tabs"))
    assert sieve.size == picky.batch


def test_an_edited_row_is_forgiven() -> None:
    """Another text, or an order to try all again, makes a refused row due."""
    rows = _rows("poison", "poison too")
    sieve = Sieve(Picky())
    sieve.made(rows)
    sieve.forgive(1)
    assert sieve.due(rows) == rows[:1]
    sieve.forgive_all()
    assert (sieve.due(rows), sieve.last_trouble) == (rows, None)
