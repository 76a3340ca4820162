"""All connections together: how many there are, which are spare, and who has to go."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from ...auth.errors import Busy

OVERDRAFT = 16
"""Connections accepted beyond the cap, only to be told 429."""
FRESH = 0.5
"""Seconds a silent connection is spared, while the overdraft lasts: its request may be coming."""

PEER = "recalld.peer"
"""Key of the connection in the `state` of an ASGI scope."""

SHEDDABLE = (b"POST /v1/recall ", b"POST /v1/search ")
"""Requests that need a worker and are worth nothing without one; all others are parsed first."""


class Evictable(Protocol):
    """A connection, as the book sees it."""

    def evict(self) -> None:
        """End it to make room."""
        ...


class Peer(Protocol):
    """A connection, as the application sees it."""

    def keep(self) -> None:
        """The request under way has proven its rights and must not be evicted."""
        ...

    def has_arrived(self) -> bool:
        """Whether all of the request under way is here."""
        ...

    def abort(self) -> None:
        """Cut it off."""
        ...


class Connections:
    """Every open connection, and the spare ones in the order in which they became so.

    Spare is who is idle, who has shown no rights yet, and who does not read its answers.
    """

    def __init__(
        self,
        cap: int,
        head_timeout: float,
        write_timeout: float,
        overloaded: Callable[[], bool] = lambda: False,
    ) -> None:
        self.cap = cap
        self.head_timeout = head_timeout
        self.write_timeout = write_timeout
        self._overloaded = overloaded
        self.admitted = 0
        """Connections counted so far, refused requests' ones too."""
        self._open: set[Evictable] = set()
        self._spare: OrderedDict[Evictable, float] = OrderedDict()

    @property
    def open(self) -> int:
        """Connections that are open and not being closed to make room."""
        return len(self._open)

    def sheds(self, data: bytes) -> bool:
        """Whether this beginning of a request is one that would only be told 429 much later."""
        return data.startswith(SHEDDABLE) and self._overloaded()

    def over(self) -> bool:
        """Whether there are more than the cap right now."""
        return self.open > self.cap

    def is_full(self, now: float) -> bool:
        """Whether there are too many even without those that have been spare for a while."""
        self._evict(now)
        return self.open > self.cap

    def admit(self, connection: Evictable, now: float) -> bool:
        """Count a new connection, making room if need be; False: there is none, hang up."""
        self.admitted += 1
        self._open.add(connection)
        self._evict(now)
        if self.open > self.cap + OVERDRAFT and not self._evict_one():
            self._open.discard(connection)
            return False
        self._spare[connection] = now
        return True

    def idle(self, connection: Evictable, now: float) -> None:
        """The connection waits for its next request, from now on."""
        if connection in self._open:
            self._spare[connection] = now
            self._spare.move_to_end(connection)

    def spare(self, connection: Evictable, now: float) -> None:
        """The connection may go, since now or since it first might: trickling buys no time."""
        if connection in self._open:
            self._spare.setdefault(connection, now)

    def busy(self, connection: Evictable) -> None:
        """The connection has a request being answered and must not be evicted."""
        self._spare.pop(connection, None)

    def forget(self, connection: Evictable) -> None:
        """The connection is closed."""
        self._open.discard(connection)
        self._spare.pop(connection, None)

    def _evict(self, now: float) -> None:
        """End the longest spare connections until the rest fits; fresh ones are let be."""
        while self.open > self.cap and self._spare:
            if now - next(iter(self._spare.values())) < FRESH:
                return
            self._evict_one()

    def _evict_one(self) -> bool:
        if not self._spare:
            return False
        connection, _ = self._spare.popitem(last=False)
        self._open.discard(connection)
        connection.evict()
        return True


def over_the_cap(connections: Connections) -> Busy | None:
    """The refusal for a request that arrives while there are too many connections."""
    if connections.is_full(time.monotonic()):
        return Busy("Too many connections are open.", retry_after_ms=500)
    return None
