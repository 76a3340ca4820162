"""Whether it is worth asking a provider at all: not right after it failed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 15.0


class Circuit:
    """Closed while all is well; after a failure it stays open for a pause that doubles.

    Once the pause is over one caller may try; the others are turned away until that one is back.
    Safe to use from several threads. `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pause = 0.0
        self._until = 0.0
        self._trying = False
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """Why it is open, or None."""
        return self._trouble

    def admits(self) -> bool:
        """Whether the caller may try now; it must then say how it went."""
        with self._lock:
            if self._trouble is None:
                return True
            now = self._clock()
            if now < self._until:
                return False
            self._until = now + max(self._pause, FIRST_PAUSE)
            self._trying = True
            return True

    def succeeded(self) -> None:
        """An answer came in time."""
        with self._lock:
            self._trouble, self._pause, self._trying = None, 0.0, False

    def failed(self, trouble: str) -> None:
        """No answer, or a bad one; `trouble` is one sentence."""
        with self._lock:
            # Several callers may have been let in before the first of them failed: one failure.
            if self._trouble is None or self._trying:
                self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
                self._until = self._clock() + self._pause
            self._trouble, self._trying = trouble, False

    def may_have_recovered(self) -> None:
        """There is a sign of life: let the next caller try at once."""
        with self._lock:
            self._until, self._pause = 0.0, 0.0
