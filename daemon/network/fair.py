"""What the event loop turns to first when thousands of sockets have something to say."""

from __future__ import annotations

import asyncio
import selectors
import threading
from typing import Final, TypeAlias

PORTION: Final = 64
"""Strangers dealt with in one turn of the loop: 20 ms of work."""
MOST_KNOWN: Final = 256
"""Sockets dealt with ahead of them in one turn: any answer makes one known, even a refusal."""
HELD_BACK: Final = 0.25
"""Seconds a worker lets a crowd go first, so that it still gets something done meanwhile."""

_Events: TypeAlias = list[tuple[selectors.SelectorKey, int]]


class Crowd:
    """Whether more sockets wait for the loop than it deals with in one turn.

    The loop lets go of the interpreter with every system call, and takes it back only when a busy
    worker has had its time: beside four of them the same work takes it six times as long.
    """

    def __init__(self) -> None:
        self._gone = threading.Event()
        self._gone.set()

    def let_pass(self) -> None:
        """Called by a worker before it begins something: wait while there is a crowd."""
        self._gone.wait(HELD_BACK)

    def notice(self, is_there: bool) -> None:
        """Called by the loop."""
        if is_there:
            self._gone.clear()
        elif not self._gone.is_set():
            self._gone.set()


class FairSelector(selectors.DefaultSelector):
    """Reports a crowd in portions, and those who have been served before ahead of it.

    asyncio does everything that is ready before it looks again. With 3,000 new connections a turn
    took up to a second, and a health check on a connection that was there long before waited for
    all of them. What is held back here is reported again by the next call: nothing is lost. The
    system reports the same sockets first every time, so each portion begins where the last ended.
    """

    def __init__(self, crowd: Crowd) -> None:
        super().__init__()
        self._crowd = crowd
        self._known: set[int] = set()
        self._begun_at = 0

    def favour(self, fd: int) -> None:
        """Report this socket ahead of strangers, until it has a stranger's number again."""
        self._known.add(fd)

    def forget(self, fd: int) -> None:
        """The socket is closed."""
        self._known.discard(fd)

    def select(self, timeout: float | None = None) -> _Events:
        """The events to deal with now."""
        events = super().select(timeout)
        self._crowd.notice(len(events) > PORTION)
        if len(events) <= PORTION:
            return events
        known = [event for event in events if event[0].fd in self._known]
        strangers = [event for event in events if event[0].fd not in self._known]
        self._begun_at += PORTION
        return self._portion(known, MOST_KNOWN) + self._portion(strangers, PORTION)

    def _portion(self, events: _Events, most: int) -> _Events:
        """So many of them, another lot each time."""
        if len(events) <= most:
            return events
        first = self._begun_at % len(events)
        return (events[first:] + events[:first])[:most]


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop that hears those it has served, and its own threads, ahead of strangers."""

    def __init__(self, crowd: Crowd) -> None:
        self._fair = FairSelector(crowd)
        super().__init__(self._fair)
        for key in self._fair.get_map().values():  # so far only the pipe that threads wake us by
            self._fair.favour(key.fd)

    def favour(self, fd: int) -> None:
        """Whoever is connected here has been served before."""
        self._fair.favour(fd)

    def forget(self, fd: int) -> None:
        """The connection is lost; its number may soon be somebody else's."""
        self._fair.forget(fd)
