"""Results on their way from the writer back to the loop, a whole commit with one wake-up."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class Returns:
    """Settles futures of the loop from another thread.

    `asyncio.wrap_future` wakes the loop once a future; the writer settles a whole group at a time.
    Whoever waits may be cancelled: the job it waited for is not, it has its turn.
    """

    def __init__(self) -> None:
        self._ready: deque[Callable[[], None]] = deque()
        self._woken = False

    async def of(self, future: Future[T]) -> T:
        """The result of the future, or what it raises."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[T] = loop.create_future()
        future.add_done_callback(lambda done: self._post(loop, waiting, done))
        return await waiting

    def _post(
        self, loop: asyncio.AbstractEventLoop, waiting: asyncio.Future[T], done: Future[T]
    ) -> None:
        """On the writer's thread. What is queued before `_woken` is looked at is never left over:
        the loop resets it before it takes from the queue.
        """
        self._ready.append(lambda: _settle(waiting, done))
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop has ended; so has whoever waited
                loop.call_soon_threadsafe(self._hand_out)

    def _hand_out(self) -> None:
        self._woken = False
        while self._ready:
            self._ready.popleft()()


def _settle(waiting: asyncio.Future[T], done: Future[T]) -> None:
    if waiting.done():  # cancelled meanwhile
        return
    if done.cancelled():
        waiting.cancel()
        return
    error = done.exception()
    if error is None:
        waiting.set_result(done.result())
    else:
        waiting.set_exception(error)
