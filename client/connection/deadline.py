"""One number for all the waiting, carried everywhere, so that nested waits cannot add up."""

from __future__ import annotations

import time

VERB_SECONDS = 15.0
"""How long a command line verb may take by default, a cold start of the daemon included."""


class Deadline:
    """A point in monotonic time; ask it for the seconds that are left."""

    __slots__ = ("_ends", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._ends - time.monotonic())

    def within(self, seconds: float) -> float:
        """At most `seconds`, and no more than what is left."""
        return min(seconds, self.left())

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.left() <= 0.0
