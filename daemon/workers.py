"""The threads that read: each with its own connection, few running, few waiting, no more.

A job's client may leave at any time. Its deadline is then cancelled: while the job still waits it
is dropped, while it runs SQLite's progress handler ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Generic, Protocol, TypeVar

from ..auth.errors import Busy, DeadlineExceeded, RecalldError
from ..storage.faults import Interrupted, StorageFault
from ..storage.reader import Reader
from .deadline import Deadline

T = TypeVar("T")
log = logging.getLogger("recalld.workers")


class _Runnable(Protocol):
    def run(self, reader: Reader) -> None: ...
    def refuse(self, error: Exception) -> None: ...


class _Ticket(Generic[T]):
    """One job on its way through a worker and back to the loop."""

    def __init__(
        self,
        job: Callable[[Reader, Deadline], T],
        deadline: Deadline,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.future: asyncio.Future[T] = loop.create_future()
        self._job = job
        self._deadline = deadline
        self._loop = loop

    def run(self, reader: Reader) -> None:
        """In the worker: do the job unless nobody waits for it any more."""
        try:
            self._deadline.check()
            with reader.until(self._deadline.at, self._deadline.is_over):
                result = self._job(reader, self._deadline)
        except Interrupted:
            self.refuse(DeadlineExceeded("The work did not end within its time."))
        except Exception as error:
            self.refuse(error)
        else:
            self._post(lambda: self.future.set_result(result))

    def refuse(self, error: Exception) -> None:
        """In the worker: the job failed."""
        self._post(lambda: self.future.set_exception(error))

    def _post(self, settle: Callable[[], None]) -> None:
        def finish() -> None:
            if not self.future.done():  # the handler may have been cancelled meanwhile
                settle()

        with contextlib.suppress(RuntimeError):  # the loop has ended; so has whoever waited
            self._loop.call_soon_threadsafe(finish)


class Workers:
    """A fixed number of reader threads behind a bounded waiting room.

    They call `before` before each job: it may make them wait a moment for more urgent work.
    """

    def __init__(
        self,
        open_reader: Callable[[], Reader],
        *,
        count: int,
        waiting: int,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._open = open_reader
        self._before = before
        self._count = count
        self._capacity = count + waiting
        self._queue: queue.SimpleQueue[_Runnable | None] = queue.SimpleQueue()
        self._deadlines: set[Deadline] = set()
        self._threads: list[threading.Thread] = []

    @property
    def admitted(self) -> int:
        """Jobs running or waiting."""
        return len(self._deadlines)

    def is_full(self) -> bool:
        """Whether one more job would be refused."""
        return len(self._deadlines) >= self._capacity

    def start(self) -> None:
        """Start the threads; their connections open with their first job."""
        for number in range(self._count):
            thread = threading.Thread(target=self._work, name=f"reader-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    async def run(
        self,
        job: Callable[[Reader, Deadline], T],
        deadline: Deadline,
        gone: Coroutine[None, None, None],
    ) -> T:
        """The job's result; `gone` completes when its client leaves, which ends the job.

        Raises:
            Busy: everything is taken; nothing was begun.
            DeadlineExceeded: time was up, or the client has gone.
        """
        if self.is_full():
            gone.close()
            raise Busy("All workers are taken and the waiting room is full.", retry_after_ms=250)
        ticket = _Ticket(job, deadline, asyncio.get_running_loop())
        self._deadlines.add(deadline)
        self._queue.put(ticket)
        watch = asyncio.ensure_future(gone)
        try:
            await asyncio.wait(
                (ticket.future, watch),
                timeout=deadline.remaining(),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not ticket.future.done():
                raise DeadlineExceeded("The work did not end within its time.")
            return ticket.future.result()
        finally:
            deadline.cancel()
            watch.cancel()
            # A job that is still running keeps its place until its worker has let go of it:
            # otherwise abandoned work would be replaced by more work than there are workers.
            if ticket.future.done():
                self._deadlines.discard(deadline)
            else:
                ticket.future.add_done_callback(lambda done: self._abandon(done, deadline))

    def _abandon(self, future: asyncio.Future[T], deadline: Deadline) -> None:
        self._deadlines.discard(deadline)
        if not future.cancelled():
            future.exception()  # seen: nobody is left to care

    def cancel_all(self) -> None:
        """End everything that runs or waits."""
        for deadline in self._deadlines:
            deadline.cancel()

    def stop(self, limit: float) -> None:
        """End the threads, waiting up to `limit` seconds for all; the store closes the readers."""
        for _ in self._threads:
            self._queue.put(None)
        until = time.monotonic() + limit
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        reader: Reader | None = None
        while (ticket := self._queue.get()) is not None:
            if reader is None:
                try:
                    reader = self._open()
                except (StorageFault, OSError, RecalldError) as error:
                    ticket.refuse(error)
                    continue
            self._before()
            ticket.run(reader)
