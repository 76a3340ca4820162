"""One SDK call from its first try to its answer, without I/O: what to send, and what to do next.

`Memory` and `AsyncMemory` run the same loop around it; only how they wait differs.
"""

from __future__ import annotations

from typing import Generic, TypedDict, TypeVar

import httpx

from ...auth.errors import GrantElsewhere, RecalldError, Unauthenticated, from_wire
from ...auth.record import Record
from ..connection import access
from ..connection.access import Credentials
from ..connection.deadline import Deadline
from ..connection.documents import document, parse
from ..connection.retry import Retries
from .anchor import Anchor
from .operations import Operation

T = TypeVar("T")


class Sent(TypedDict):
    """The arguments of `httpx.Client.request`."""

    method: str
    url: str
    content: bytes | None
    headers: dict[str, str]
    timeout: float


class Attempt(Generic[T]):
    """The state of one call."""

    def __init__(self, operation: Operation[T], anchor: Anchor, deadline: Deadline) -> None:
        self._read = operation.read
        self._anchor = anchor
        self._asked = operation.request
        self._retries = Retries(repeatable=self._asked.repeatable())
        self.deadline = deadline
        # Why the token was refused, until it has been looked for anew: once, never in a loop.
        self.refusal: GrantElsewhere | Unauthenticated | None = None

    def request(self, record: Record, found: Credentials) -> Sent:
        """What to send to the daemon of this record."""
        host = f"[{record.host}]" if ":" in record.host else record.host
        asked = self._asked._replace(token=found.token, checkout=found.root)
        declared = {} if asked.body is None else {"Content-Type": "application/json"}
        return {
            "method": asked.method,
            "url": f"http://{host}:{record.port}{asked.target}",
            "content": asked.body,
            "headers": asked.headers(record.secret) | declared,
            "timeout": max(self.deadline.left(), 0.001),
        }

    def broken(self, error: httpx.TransportError, record: Record) -> float:
        """The connection failed: seconds to wait before sending again; raises if that is final."""
        self._anchor.lose(record)
        unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        if self.deadline.over or (isinstance(error, httpx.TimeoutException) and not unsent):
            seconds, log = self.deadline.seconds, self._anchor.layout.log
            raise self._asked.unanswered(record.pid, seconds, log) from error
        # A connection that was never made carried nothing, so trying again is always safe.
        pause = 0.0 if unsent else self._retries.after_break()
        if pause is None or self.deadline.left() <= pause:
            raise self._asked.lost() from error
        return pause

    def judge(self, answer: httpx.Response, record: Record, found: Credentials) -> float | None:
        """None for success, or seconds to wait before going round again; raises what is final."""
        if answer.status_code < 400:
            return None
        error = from_wire(parse(answer.content), answer.status_code)
        if isinstance(error, GrantElsewhere | Unauthenticated) and self.refusal is None:
            self.refusal = error
            return 0.0
        self.refusal = None
        pause = self._retries.after_refusal(error)
        if pause is None or self.deadline.left() <= pause:
            raise _explained(error, found)
        self._anchor.lose(record)
        return pause

    def read(self, answer: httpx.Response) -> T:
        """The model of a successful answer."""
        return self._read(document(parse(answer.content)))


def _explained(error: RecalldError, found: Credentials) -> RecalldError:
    """The error with the remedy that fits where the token came from."""
    if isinstance(error, Unauthenticated):
        return access.refused(error, found)
    return error
