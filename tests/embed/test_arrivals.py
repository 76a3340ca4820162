"""Vectors wait for a pause between stores, but not for long."""

from __future__ import annotations

from recalld.daemon.embed.background.arrivals import (
    HURRY_SECONDS,
    LONGEST_SECONDS,
    MOST,
    QUIET_SECONDS,
    Arrivals,
)


class Clock:
    """Time that stands still until told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def test_rows_wait_for_a_pause() -> None:
    """Each new row begins the pause anew; without rows there is nothing to wait for."""
    clock = Clock()
    arrivals = Arrivals(clock)
    assert arrivals.pause() == 0.0
    arrivals.add([1])
    clock.now += QUIET_SECONDS / 2
    arrivals.add([2])
    assert arrivals.pause() > QUIET_SECONDS / 2
    clock.now += 2 * QUIET_SECONDS
    assert arrivals.pause() <= 0


def test_an_endless_stream_of_rows_is_not_waited_for() -> None:
    """Rows that never pause are embedded within a second all the same."""
    clock = Clock()
    arrivals = Arrivals(clock)
    started = clock.now
    rid = 0
    while not rid or arrivals.pause() > 0:
        rid += 1
        arrivals.add([rid])
        clock.now += QUIET_SECONDS / 4
    assert clock.now - started <= LONGEST_SECONDS + QUIET_SECONDS < 1.0


def test_what_was_taken_waits_until_it_is_done() -> None:
    """Status never says that nothing is pending while a row is between the two threads."""
    arrivals = Arrivals()
    arrivals.add([1, 2])
    assert arrivals.take() == [2, 1]
    arrivals.add([3])
    assert arrivals.waiting() == 3
    arrivals.done()
    assert arrivals.waiting() == 1


def test_too_many_rows_are_looked_for_instead() -> None:
    """An import of any size takes no memory here."""
    arrivals = Arrivals()
    arrivals.add(range(MOST + 1))
    assert arrivals.waiting() == 0
    assert arrivals.take() is None
    assert arrivals.take() == []


def test_whoever_asks_ends_the_pause_but_not_all_the_time() -> None:
    """A question is worth a commit of its own, though not every question of a hundred."""
    clock = Clock()
    arrivals = Arrivals(clock)
    assert arrivals.hurry() is None
    arrivals.add([1])
    batch = arrivals.hurry()
    assert batch is not None
    assert arrivals.pause() == 0.0
    assert arrivals.take() == [1]
    arrivals.add([2])
    assert arrivals.hurry() is None
    assert arrivals.pause() > 0
    assert not arrivals.is_done(batch)
    arrivals.done()
    assert arrivals.is_done(batch), "rows that came later are waited for by nobody"
    clock.now += 2 * HURRY_SECONDS
    assert arrivals.hurry() == batch + 1
