"""Which rows wait for their vector since the store was last looked through, and whether more come.

Looking through a large store for a row without a vector takes as long as storing several; the rows
just stored are known by name. And a vector has its own commit, which a row stored meanwhile would
have to wait for: so vectors wait for a pause, but not for long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from typing import Final

QUIET_SECONDS: Final = 0.06
"""No row for this long is a pause; one client storing as fast as it can takes 1 to 20 ms a row."""
LONGEST_SECONDS: Final = 0.7
"""Rows that keep coming are not waited for beyond this: recall finds by meaning within a second."""
HURRY_SECONDS: Final = 0.02
"""Whoever asks may have what waits embedded at once, this often: each time costs a commit."""
FEW: Final = 256
"""So few rows are embedded in the time a question may be held up for them."""
MOST: Final = 20_000
"""Rows remembered by name; more than that are found by looking through the store."""


class Arrivals:
    """Filled by the writer's thread, emptied by the backlog's. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rids: set[int] = set()
        self._taken: set[int] = set()
        self._too_many = False
        self._first = self._last = 0.0
        self._batch = self._done = 0
        self._hurried = float("-inf")
        self._in_a_hurry = False

    def add(self, rids: Collection[int]) -> None:
        """Rows were stored, or have a new text."""
        with self._lock:
            self._last = self._clock()
            if not self._rids:
                self._first = self._last
            self._rids.update(rids)
            if len(self._rids) > MOST:
                self._too_many = True
                self._rids.clear()

    def pause(self) -> float:
        """Seconds to wait before embedding what has arrived; 0 or less for now."""
        with self._lock:
            if not self._rids or self._in_a_hurry:
                return 0.0
            return min(self._last + QUIET_SECONDS, self._first + LONGEST_SECONDS) - self._clock()

    def hurry(self) -> int | None:
        """Somebody asks: wait for no pause. What `is_done` will take when all that has arrived by
        now has its vectors; None when that is long, or not to be had again so soon.
        """
        with self._lock:
            if not self._rids:
                return self._batch if self._taken else None
            now = self._clock()
            if now - self._hurried >= HURRY_SECONDS and len(self._rids) <= FEW:
                self._hurried, self._in_a_hurry = now, True
            return self._batch + 1 if self._in_a_hurry else None

    def is_done(self, batch: int) -> bool:
        """Whether the rows of this batch have their vectors."""
        with self._lock:
            return self._done >= batch

    def take(self) -> list[int] | None:
        """The rows to embed, newest first; None when the store must be looked through."""
        with self._lock:
            self._in_a_hurry = False
            self._batch += 1
            self._taken |= self._rids
            self._rids = set()
            too_many, self._too_many = self._too_many, False
            return None if too_many else sorted(self._taken, reverse=True)

    def done(self) -> None:
        """What was taken has its vectors, or will be found by looking through the store."""
        with self._lock:
            self._taken = set()
            self._done = self._batch

    def waiting(self) -> int:
        """Rows that arrived and are not done."""
        with self._lock:
            return len(self._rids) + len(self._taken)
