"""The full-text index as a whole: checked at the start, and written anew when it turns out damaged.

Its texts are all in the table, so nothing is lost; until it is whole again meaning alone answers
where it is needed, and the answer says so. Writing it takes 60 microseconds a memory, in which no
store is answered.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future

from ...storage import fulltext, namespaces
from ...storage.engine import Store
from ...storage.transaction import Transaction

log = logging.getLogger("recalld.recall")
CHECKED_AT_START = 20_000
"""Up to so many memories the index is checked at every start, which takes 70 ms there."""


class WordIndex:
    """One per store; `mend` may be called from any thread, as often as trouble is met."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._state = "ok"

    @property
    def state(self) -> str:
        """`ok`, `rebuilding`, or `damaged` when it could not be written anew."""
        return self._state

    def check(self) -> None:
        """Look at the index in the background, if that is quick, and mend it if need be."""
        self._store.writer.submit(_is_whole, background=True).add_done_callback(self._checked)

    def mend(self) -> None:
        """Write the index anew in the background, unless that is under way."""
        with self._lock:
            if self._state == "rebuilding":
                return
            self._state = "rebuilding"
        log.error("the full-text index is damaged and is written anew")
        self._store.writer.submit(_rebuild, background=True).add_done_callback(self._mended)

    def _checked(self, done: Future[bool]) -> None:
        if done.exception() is None and not done.result():
            self.mend()

    def _mended(self, done: Future[int]) -> None:
        error = done.exception()
        self._state = "ok" if error is None else "damaged"
        if error is not None:
            log.error("the full-text index could not be written anew: %s", error)


def _is_whole(tx: Transaction) -> bool:
    memories = sum(namespaces.sizes(tx.connection).values())
    return memories > CHECKED_AT_START or not fulltext.check(tx.connection)


def _rebuild(tx: Transaction) -> int:
    return fulltext.rebuild(tx.connection)
