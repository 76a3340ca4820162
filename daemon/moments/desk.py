"""What a moment may look at before anything is written, and what it comes to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import apsw

from ...storage.hard_rules import HardRule
from ...storage.reader import Reader
from ..caller import Caller
from ..deadline import Deadline
from ..injection.block import Item
from ..recall.request import Hit, RecallRequest
from ..retrieval import Retrieval

if TYPE_CHECKING:
    from ..recall.pipeline import Recall  # numpy: 165 ms the first answer need not wait for

T = TypeVar("T")

LOOK_S = 0.8
"""Seconds a look may take: hooks give up on an answer after one."""


class Seen(NamedTuple):
    """What a look found: items to show under a heading, and what to keep account of.

    `how` is what being shown counts as, but for the ids in `loaded`; `relevant` are memories that
    fit but are in the session's context already; `unshown` were left out for want of room; `marks`
    forbid the tool call. `begun` says that all a session is given at its start is among them, also
    where that is nothing.
    """

    items: tuple[Item, ...] = ()
    heading: str = ""
    how: str = "injected"
    relevant: tuple[str, ...] = ()
    loaded: frozenset[str] = frozenset()
    unshown: int = 0
    marks: tuple[HardRule, ...] = ()
    begun: bool = False


NOTHING = Seen()


class Reads(Protocol):
    """Runs a reading job in a worker."""

    def __call__(
        self, job: Callable[[Reader, Deadline], T], deadline: Deadline | None = None
    ) -> Awaitable[T]:
        """The job's result."""
        ...


class Desk:
    """The reading side of one request."""

    def __init__(self, caller: Caller, reads: Reads, retrieval: Retrieval) -> None:
        self.caller = caller
        self._reads = reads
        self._retrieval = retrieval
        self._deadline = Deadline.after(LOOK_S)

    async def read(self, job: Callable[[apsw.Connection], T]) -> T:
        """Run a job on a reading connection."""
        return await self._reads(
            lambda reader, _: job(reader.connection), Deadline(self._deadline.at)
        )

    async def recall(
        self, request: RecallRequest, then: Callable[[apsw.Connection, Recall, list[Hit]], T]
    ) -> T | None:
        """Recall, and judge the hits in the same worker; None while recall is still loading."""
        try:
            pipeline = await self._retrieval.recall(self._deadline.remaining() / 2)
        except TimeoutError:
            return None

        def job(reader: Reader, limit: Deadline) -> T:
            found = pipeline.recall(reader, self.caller.scope, request, limit)
            return then(reader.connection, pipeline, list(found.hits))

        return await self._reads(job, Deadline(self._deadline.at))
