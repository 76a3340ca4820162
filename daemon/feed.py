"""The change feed: what the writer committed, handed from its thread to the streams on the loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator, Sequence

from ..auth.errors import Busy
from ..storage.scope import Scope
from ..storage.transaction import Change

QUEUE = 1000
"""Changes a slow reader may be behind before its stream is ended."""


class Subscription:
    """One reader's changes, in commit order; None is the end."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.changes: asyncio.Queue[Change | None] = asyncio.Queue(QUEUE)

    def offer(self, change: Change) -> bool:
        """Queue a change the scope covers; False when the reader is too far behind."""
        if change.namespace not in self.scope or change.op == "embed":
            return True
        try:
            self.changes.put_nowait(change)
        except asyncio.QueueFull:
            return False
        return True

    def end(self) -> None:
        """Let the reader finish, even when its queue is full."""
        while True:
            try:
                self.changes.put_nowait(None)
            except asyncio.QueueFull:
                self.changes.get_nowait()
            else:
                return


class Feed:
    """Spreads committed changes over the open streams."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[Subscription] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    @property
    def streams(self) -> int:
        """Streams open now."""
        return len(self._open)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver on this loop from now on."""
        self._loop = loop

    def publish(self, changes: Sequence[Change]) -> None:
        """Called by the writer thread after each commit."""
        if self._loop is not None and self._open:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._spread, tuple(changes))

    @contextlib.contextmanager
    def subscribe(self, scope: Scope) -> Generator[Subscription]:
        """A subscription for as long as the block runs.

        Raises:
            Busy: there are too many streams already.
        """
        if self._closed or len(self._open) >= self._most:
            raise Busy("Too many streams are open.", retry_after_ms=5000)
        subscription = Subscription(scope)
        self._open.add(subscription)
        try:
            yield subscription
        finally:
            self._open.discard(subscription)

    def close(self) -> None:
        """End every stream, and refuse new ones."""
        self._closed = True
        for subscription in self._open:
            subscription.end()

    def _spread(self, changes: Sequence[Change]) -> None:
        for subscription in list(self._open):
            if not all(subscription.offer(change) for change in changes):
                subscription.end()
                self._open.discard(subscription)
