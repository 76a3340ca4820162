"""The states of the process, and what is under way in it.

    starting -> migrating -> listening -> ready -> draining -> stopping

Only the event loop touches this object. Draining means: unpublished, nothing new is executed, what
was begun is finished.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum

from ...auth.errors import Draining

log = logging.getLogger("recalld.lifecycle")


class Phase(StrEnum):
    """Where the process is in its life; `ready` and `draining` are what clients get to see."""

    STARTING = "starting"
    MIGRATING = "migrating"
    LISTENING = "listening"
    READY = "ready"
    DRAINING = "draining"
    STOPPING = "stopping"


class Lifecycle:
    """The current phase, the number of requests being executed, and the way into draining."""

    def __init__(self) -> None:
        self.phase = Phase.STARTING
        self.reason = ""
        self.started = time.monotonic()
        self.last_activity = self.started
        self.in_flight = 0
        self.served = 0
        """Requests executed so far."""
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._readers: set[asyncio.Timeout] = set()
        self._on_drain: list[Callable[[], None]] = []

    @property
    def draining(self) -> bool:
        """Whether new work is refused."""
        return self.phase in (Phase.DRAINING, Phase.STOPPING)

    def on_drain(self, callback: Callable[[], None]) -> None:
        """Call back once, on the loop, when draining begins; in order, whatever another does."""
        self._on_drain.append(callback)

    def drain(self, reason: str) -> bool:
        """Begin draining; False when it had begun before (the first reason is kept)."""
        if self.draining:
            return False
        self.phase, self.reason = Phase.DRAINING, reason
        # A body that is still arriving was not admitted: cutting it short now keeps one slow
        # sender from holding up the exit.
        now = asyncio.get_running_loop().time()
        for timeout in self._readers:
            timeout.reschedule(now)
        for callback in self._on_drain:
            try:
                callback()
            except Exception:
                log.exception("a step of the way out failed")
        return True

    @contextmanager
    def reading(self, timeout: asyncio.Timeout) -> Generator[None]:
        """Mark the time-out of a body being read, so that draining can end it."""
        self._readers.add(timeout)
        try:
            yield
        finally:
            self._readers.discard(timeout)

    @contextmanager
    def work(self) -> Generator[None]:
        """Count one request as being executed.

        Raises:
            Draining: the daemon is on its way out; nothing was executed.
        """
        if self.draining:
            raise Draining(
                "This daemon is stopping; the request was not executed.", retry_after_ms=0
            )
        self.in_flight += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self.in_flight -= 1
            self.served += 1
            self.last_activity = time.monotonic()
            if not self.in_flight:
                self._quiet.set()

    async def settled(self, limit: float) -> bool:
        """Wait up to `limit` seconds until nothing is being executed."""
        try:
            async with asyncio.timeout(limit):
                await self._quiet.wait()
        except TimeoutError:
            return False
        return True
