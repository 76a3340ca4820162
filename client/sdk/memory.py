"""`Memory`: the SDK for ordinary Python code. `AsyncMemory` is the same for asyncio and trio."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TypeVar, Unpack

import httpx

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
from .transports import ProvenTransport

T = TypeVar("T")


class Memory:
    """The memory of one checkout.

    `checkout` is a folder in it (default: the current one) and decides the namespaces, exactly as
    for the command line; `token` is used instead when given. `home` is the data folder (default:
    $RECALLD_HOME or the platform's). `start` false never starts a daemon. `timeout` is in seconds
    and covers a whole call: a cold start, retries, and the answer. `notice` gets the one line about
    a first use (default: stderr). Safe to share between threads. Errors are those of `auth.errors`.
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
        self._http = httpx.Client(
            transport=ProvenTransport(self._anchor.proof), trust_env=False, follow_redirects=False
        )

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; the daemon goes on."""
        self._http.close()

    def store(self, content: str, **fields: Unpack[StoreFields]) -> Receipt:
        """Store one memory; acknowledged means on disk."""
        return self._run(operations.store(content, fields))

    def store_many(self, drafts: Iterable[Draft]) -> Sequence[Receipt | RecalldError]:
        """Store up to 1,000 memories in one transaction; a bad one does not stop the others."""
        return self._run(operations.store_many(drafts))

    def recall(self, query: str, *, limit: int = 10, **fields: Unpack[RecallFields]) -> Recalled:
        """Recall by meaning and by words, best first."""
        return self._run(operations.recall(query, limit, fields))

    def search(
        self, query: str, *, limit: int = 10, offset: int = 0, **fields: Unpack[FilterFields]
    ) -> Found:
        """Find what contains every word."""
        return self._run(operations.search(query, limit, offset, fields))

    def get(self, memory_id: str) -> Entry:
        """One whole memory; raises NotFound."""
        return self._run(operations.get(memory_id))

    def list(
        self, *, limit: int = 50, cursor: str | None = None, **fields: Unpack[ListFields]
    ) -> Page:
        """One page of memories, newest first."""
        return self._run(operations.listing(limit, cursor, fields))

    def edit(self, memory_id: str, **fields: Unpack[EditFields]) -> Entry:
        """Change what is named; raises Conflict when `if_version` is no longer current."""
        return self._run(operations.edit(memory_id, fields))

    def forget(self, memory_id: str) -> None:
        """Forget a memory; `undo` brings it back."""
        self._run(operations.forget(memory_id))

    def history(self, memory_id: str) -> Sequence[Version]:
        """Every version of a memory, oldest first."""
        page = self._run(operations.history(memory_id, None))
        found = list(page.versions)
        while page.next_cursor is not None:
            page = self._run(operations.history(memory_id, page.next_cursor))
            found += page.versions
        return found

    def undo(self, memory_id: str) -> Entry:
        """Take back the last change."""
        return self._run(operations.undo(memory_id))

    def conversation(
        self, session: str, turns: Iterable[Turn], *, namespace: str | None = None
    ) -> Sequence[Receipt | RecalldError]:
        """Keep the turns of a conversation word for word."""
        return self._run(operations.conversation(session, turns, namespace))

    def status(self) -> Status:
        """How the daemon is doing."""
        return self._run(operations.status())

    def stats(self) -> Sequence[NamespaceStats]:
        """What each readable namespace holds."""
        return self._run(operations.stats())

    def _run(self, operation: Operation[T]) -> T:
        attempt = Attempt(operation, self._anchor, Deadline(self._timeout))
        while True:
            found = self._anchor.credentials or self._anchor.identify(attempt.deadline)
            record = self._anchor.record or self._anchor.find(attempt.deadline)
            try:
                answer = self._http.request(**attempt.request(record, found))
            except httpx.TransportError as error:
                time.sleep(attempt.broken(error, record))
                continue
            pause = attempt.judge(answer, record, found)
            if pause is None:
                return attempt.read(answer)
            if attempt.refusal is not None:
                self._anchor.renew(found, attempt.refusal, attempt.deadline)
            time.sleep(pause)
