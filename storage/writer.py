"""The one thread that writes: it takes what waits, commits it together, then answers everybody."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, Generic, TypeVar

import apsw

from .checkpoints import Checkpoints
from .faults import Closed, Damaged, StorageFault, from_sqlite, spoils_group
from .original import Original
from .timestamps import from_unix_ms
from .transaction import Change, Transaction
from .ulid import UlidSource

T = TypeVar("T")
_log = logging.getLogger(__name__)

GROUP_JOBS: Final = 512
# A group is cut here so that the first job in it does not wait for hundreds of batches.
GROUP_SECONDS: Final = 0.1
# Background jobs (vectors, upkeep) run in groups this small: an interactive job that arrives
# meanwhile waits for a few of them at most.
BACKGROUND_JOBS: Final = 4
# After this many interactive groups in a row a background one has its turn, or the vectors and the
# upkeep of a store that is never quiet would wait for ever.
URGENT_GROUPS: Final = 16


class _HalfDone(Exception):
    """A job failed after it had changed something, and nothing marks where it began."""


class _Job(Generic[T]):
    """A function waiting for the writer, and the future its caller holds."""

    def __init__(self, work: Callable[[Transaction], T], *, background: bool) -> None:
        self._work = work
        self.background = background
        self.future: Future[T] = Future()
        self._claimed = False
        self._answer: T
        self._error: BaseException | None = None

    def claim(self) -> bool:
        """Whether the caller still wants it; from then on the future cannot be cancelled."""
        self._claimed = self._claimed or self.future.set_running_or_notify_cancel()
        return self._claimed

    def run(self, transaction: Transaction, *, careful: bool) -> None:
        """Run the job; one that fails is undone alone, for which `careful` takes a savepoint.

        Raises what spoils the group, and _HalfDone when a savepoint would have been needed.
        """
        self._error = None
        connection, before = transaction.connection, transaction.connection.total_changes()
        try:
            with transaction.savepoint() if careful else contextlib.nullcontext():
                self._answer = self._work(transaction)
        except Exception as error:
            broken = not connection.in_transaction
            if broken or (isinstance(error, apsw.Error) and spoils_group(error)):
                raise
            if not careful and connection.total_changes() != before:
                raise _HalfDone from error
            self._error = _fault(error)

    def settle(self, failure: BaseException | None = None) -> None:
        """Answer the caller: the group's failure if there is one, else how the job itself ended."""
        error = failure or self._error
        if error is None:
            self.future.set_result(self._answer)
        else:
            self.future.set_exception(error)


class Writer:
    """Runs jobs on its own connection: a job's future resolves when its change is on disk.

    Many callers share one fsync: everything queued while a commit runs is the next group. A job
    that raises is rolled back alone; a full disk fails the whole group, and the writer goes on.

    Groups run without savepoints at first: with one around each job the full-text index writes its
    words out after each, which doubles the cost of a row. If a job then fails with its work half
    done, the group is rolled back and its jobs run again, each in a savepoint. So a job must have
    no effects but through its transaction.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        *,
        sign: Callable[[bytes], bytes],
        original: Original,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._connection = connection
        self._original = original
        self._sign = sign
        self._clock = clock
        self._ids = UlidSource()
        self._last_ms = 0
        self._checkpoints = Checkpoints(connection)
        self._wake = threading.Condition()
        self._urgent: deque[_Job[object]] = deque()
        self._background: deque[_Job[object]] = deque()
        self._running = 0
        self._in_a_row = 0  # interactive groups since the last background one
        self._closing = False
        self._damage: Damaged | None = None
        self._subscribers: list[Callable[[Sequence[Change]], None]] = []
        self._thread = threading.Thread(target=self._run, name="recalld-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Transaction], T], *, background: bool = False) -> Future[T]:
        """Queue a job. Cancelling the future before its turn drops the job unexecuted.

        The future raises what the job raised, or FullDisk, Busy, Damaged or Closed.
        """
        job = _Job(work, background=background)
        with self._wake:
            refusal = self._refusal()
            if refusal is not None:
                job.future.set_exception(refusal)
                return job.future
            queue = self._background if background else self._urgent
            queue.append(job)  # type: ignore[arg-type]  # the queue does not care about T
            self._wake.notify()
        return job.future

    def subscribe(self, callback: Callable[[Sequence[Change]], None]) -> Callable[[], None]:
        """Call back after each commit, on the writer thread, before the group's futures resolve.

        The callback must be quick. Returns the function that ends the subscription.
        """
        with self._wake:
            self._subscribers = [*self._subscribers, callback]

        def unsubscribe() -> None:
            with self._wake:
                self._subscribers = [one for one in self._subscribers if one is not callback]

        return unsubscribe

    def queue_length(self) -> int:
        """Jobs waiting or running now."""
        with self._wake:
            return len(self._urgent) + len(self._background) + self._running

    @property
    def damage(self) -> Damaged | None:
        """Why the writer refuses all work: the file was found damaged. None while all is well."""
        return self._damage

    def condemn(self, damage: Damaged) -> None:
        """Refuse everything from now on, what is queued included; every byte is kept."""
        self._damage = self._damage or damage

    def close(self) -> None:
        """Finish everything queued, empty the WAL into the file, close the connection."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()

    def _refusal(self) -> StorageFault | None:
        if self._damage is not None:
            return self._damage
        return Closed("The store is closing.") if self._closing else None

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            members = [job for job in group if job.claim()]
            if members:
                self._commit(members)
            self._look_after(partial(self._checkpoints.consider, idle=not group))
        self._look_after(self._checkpoints.finish)
        if self._original.is_replaced():
            self._checkpoints.part()
        self._connection.close()

    def _next_group(self) -> list[_Job[object]] | None:
        """The jobs to run next; empty after a quiet while; None when all is done for good."""
        with self._wake:
            self._running = 0
            if not (self._urgent or self._background or self._closing):
                self._wake.wait(self._checkpoints.patience())
            starved = self._in_a_row >= URGENT_GROUPS and self._background
            if self._urgent and not starved:
                group = _take(self._urgent, GROUP_JOBS)
                self._in_a_row += 1
            else:
                group = _take(self._background, BACKGROUND_JOBS)
                self._in_a_row = 0
            self._running = len(group)
            return None if self._closing and not group else group

    def _commit(self, members: list[_Job[object]]) -> None:
        try:
            if self._damage is not None:
                raise self._damage
            self._original.check()
            try:
                transaction = self._begin()
                # Background jobs may make or drop tables, which no count of changed rows shows.
                done = self._execute(members, transaction, careful=members[0].background)
            except _HalfDone:
                self._connection.execute("ROLLBACK")
                transaction = self._begin()
                done = self._execute(members, transaction, careful=True)
            members = done
            transaction.conclude()
            self._connection.execute("COMMIT")
            # Replaced meanwhile: what nobody will find again must not be acknowledged.
            self._original.check()
        except Exception as error:
            self._fail(members, error)
            return
        self._publish(transaction.changes)
        for job in members:
            job.settle()

    def _begin(self) -> Transaction:
        self._connection.execute("BEGIN IMMEDIATE")
        unix_ms = max(int(self._clock() * 1000), self._last_ms)
        self._last_ms = unix_ms
        return Transaction(
            self._connection,
            from_unix_ms(unix_ms),
            lambda: self._ids.next(unix_ms),
            self._sign,
        )

    def _execute(
        self, members: list[_Job[object]], transaction: Transaction, *, careful: bool
    ) -> list[_Job[object]]:
        """Run jobs until the group has had its time; the others go back to their queue's front."""
        end = time.monotonic() + GROUP_SECONDS
        for position, job in enumerate(members):
            if position and time.monotonic() >= end:
                self._put_back(members[position:])
                return members[:position]
            job.run(transaction, careful=careful)
        return members

    def _put_back(self, jobs: list[_Job[object]]) -> None:
        with self._wake:
            queue = self._background if jobs[0].background else self._urgent
            queue.extendleft(reversed(jobs))

    def _fail(self, members: list[_Job[object]], error: Exception) -> None:
        """Undo the group and tell everyone in it."""
        with contextlib.suppress(apsw.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        fault = _fault(error)
        self._note_damage(fault)
        for job in members:
            job.settle(fault)

    def _note_damage(self, fault: BaseException) -> None:
        """Writing on could spread the damage: from here on everything is refused and kept."""
        if isinstance(fault, Damaged):
            self._damage = fault

    def _publish(self, changes: list[Change]) -> None:
        for callback in self._subscribers if changes else ():
            try:
                callback(changes)
            except Exception:  # the rows are on disk: no subscriber may turn that into a failure
                _log.exception("a subscriber of the change feed failed")

    def _look_after(self, upkeep: Callable[[], None]) -> None:
        """Work on the WAL, unless the file is damaged; it may find that out itself."""
        if self._damage is not None:
            return
        try:
            upkeep()
        except apsw.Error as error:
            self._note_damage(_fault(error))


def _fault(error: Exception) -> Exception:
    return (isinstance(error, apsw.Error) and from_sqlite(error)) or error


def _take(queue: deque[_Job[object]], limit: int) -> list[_Job[object]]:
    return [queue.popleft() for _ in range(min(limit, len(queue)))]
