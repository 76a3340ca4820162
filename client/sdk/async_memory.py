"""`AsyncMemory`: the SDK for asyncio and trio; call for call the same as `Memory`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TypeVar, Unpack

import anyio
import httpx
from anyio.to_thread import run_sync

from ...auth.errors import RecalldError
from ..connection.access import Notice
from ..connection.deadline import Deadline
from . import anchor, operations
from .anchor import Anchor, Settings
from .attempt import Attempt
from .models import Entry, Found, NamespaceStats, Page, Recalled, Receipt, Status, Version
from .operations import (
    Draft,
    EditFields,
    FilterFields,
    ListFields,
    Operation,
    RecallFields,
    StoreFields,
    Turn,
)
from .transports import AsyncProvenTransport

T = TypeVar("T")


class AsyncMemory:
    """The memory of one checkout; parameters and errors as for `Memory`.

    Safe to share between tasks of one event loop.
    """

    def __init__(
        self,
        checkout: str | None = None,
        *,
        token: str | None = None,
        home: str | None = None,
        start: bool = True,
        timeout: float = 15.0,
        notice: Notice = anchor.say,
    ) -> None:
        self._timeout = timeout
        self._anchor = Anchor(Settings(checkout, token, home, start, timeout, notice))
        # No proxies, no .netrc, no redirects: the token goes to the proven daemon or nowhere.
        self._http = httpx.AsyncClient(
            transport=AsyncProvenTransport(self._anchor.proof),
            trust_env=False,
            follow_redirects=False,
        )

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; the daemon goes on."""
        await self._http.aclose()

    async def store(self, content: str, **fields: Unpack[StoreFields]) -> Receipt:
        """Store one memory; acknowledged means on disk."""
        return await self._run(operations.store(content, fields))

    async def store_many(self, drafts: Iterable[Draft]) -> Sequence[Receipt | RecalldError]:
        """Store up to 1,000 memories in one transaction; a bad one does not stop the others."""
        return await self._run(operations.store_many(drafts))

    async def recall(
        self, query: str, *, limit: int = 10, **fields: Unpack[RecallFields]
    ) -> Recalled:
        """Recall by meaning and by words, best first."""
        return await self._run(operations.recall(query, limit, fields))

    async def search(
        self, query: str, *, limit: int = 10, offset: int = 0, **fields: Unpack[FilterFields]
    ) -> Found:
        """Find what contains every word."""
        return await self._run(operations.search(query, limit, offset, fields))

    async def get(self, memory_id: str) -> Entry:
        """One whole memory; raises NotFound."""
        return await self._run(operations.get(memory_id))

    async def list(
        self, *, limit: int = 50, cursor: str | None = None, **fields: Unpack[ListFields]
    ) -> Page:
        """One page of memories, newest first."""
        return await self._run(operations.listing(limit, cursor, fields))

    async def edit(self, memory_id: str, **fields: Unpack[EditFields]) -> Entry:
        """Change what is named; raises Conflict when `if_version` is no longer current."""
        return await self._run(operations.edit(memory_id, fields))

    async def forget(self, memory_id: str) -> None:
        """Forget a memory; `undo` brings it back."""
        await self._run(operations.forget(memory_id))

    async def history(self, memory_id: str) -> Sequence[Version]:
        """Every version of a memory, oldest first."""
        page = await self._run(operations.history(memory_id, None))
        found = list(page.versions)
        while page.next_cursor is not None:
            page = await self._run(operations.history(memory_id, page.next_cursor))
            found += page.versions
        return found

    async def undo(self, memory_id: str) -> Entry:
        """Take back the last change."""
        return await self._run(operations.undo(memory_id))

    async def conversation(
        self, session: str, turns: Iterable[Turn], *, namespace: str | None = None
    ) -> Sequence[Receipt | RecalldError]:
        """Keep the turns of a conversation word for word."""
        return await self._run(operations.conversation(session, turns, namespace))

    async def status(self) -> Status:
        """How the daemon is doing."""
        return await self._run(operations.status())

    async def stats(self) -> Sequence[NamespaceStats]:
        """What each readable namespace holds."""
        return await self._run(operations.stats())

    async def _run(self, operation: Operation[T]) -> T:
        attempt = Attempt(operation, self._anchor, Deadline(self._timeout))
        while True:
            # Files, locks and processes block; they are met on the first call and after a restart.
            found = self._anchor.credentials
            if found is None:
                found = await run_sync(self._anchor.identify, attempt.deadline)
            record = self._anchor.record
            if record is None:
                record = await run_sync(self._anchor.find, attempt.deadline)
            try:
                answer = await self._http.request(**attempt.request(record, found))
            except httpx.TransportError as error:
                await anyio.sleep(attempt.broken(error, record))
                continue
            pause = attempt.judge(answer, record, found)
            if pause is None:
                return attempt.read(answer)
            if attempt.refusal is not None:
                await run_sync(self._anchor.renew, found, attempt.refusal, attempt.deadline)
            await anyio.sleep(pause)
