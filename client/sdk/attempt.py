"""One SDK call from its first try to its answer, without I/O: what to send, and what to do next.

`Memory` and `AsyncMemory` run the same loop around it; only how they wait differs.
"""

from __future__ import annotations

from typing import Generic, TypedDict, TypeVar

import httpx

from ...auth.errors import (
    DaemonSilent,
    DaemonUnreachable,
    GrantElsewhere,
    RecalldError,
    Unauthenticated,
    from_wire,
)
from ...auth.record import Record
from ..connection import access
from ..connection.access import Credentials
from ..connection.deadline import Deadline
from ..connection.documents import document, parse
from ..connection.http1 import quote
from ..connection.retry import Retries
from .anchor import Anchor
from .operations import Operation

T = TypeVar("T")


class Request(TypedDict):
    """The arguments of `httpx.Client.request`."""

    method: str
    url: str
    content: bytes | None
    headers: dict[str, str]
    timeout: float


class Attempt(Generic[T]):
    """The state of one call."""

    def __init__(self, operation: Operation[T], anchor: Anchor, deadline: Deadline) -> None:
        self._operation = operation
        self._anchor = anchor
        self._retries = Retries(repeatable=operation.repeatable)
        self.deadline = deadline
        # Why the token was refused, until it has been looked for anew: once, never in a loop.
        self.refusal: GrantElsewhere | Unauthenticated | None = None

    def request(self, record: Record, found: Credentials) -> Request:
        """What to send to the daemon of this record."""
        host = f"[{record.host}]" if ":" in record.host else record.host
        return {
            "method": self._operation.method,
            "url": f"http://{host}:{record.port}{self._operation.target}",
            "content": self._operation.body,
            "headers": self._headers(found),
            "timeout": max(self.deadline.left(), 0.001),
        }

    def _headers(self, found: Credentials) -> dict[str, str]:
        told = {"Authorization": f"Bearer {found.token}"}
        if found.root is not None:
            told["Recalld-Checkout"] = quote(found.root)
        if self._operation.key is not None:
            told["Idempotency-Key"] = self._operation.key
        if self._operation.body is not None:
            told["Content-Type"] = "application/json"
        return told

    def broken(self, error: httpx.TransportError, record: Record) -> float:
        """The connection failed: seconds to wait before sending again; raises if that is final."""
        self._anchor.lose(record)
        unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        if self.deadline.over or (isinstance(error, httpx.TimeoutException) and not unsent):
            raise DaemonSilent(
                f"The daemon (pid {record.pid}) did not answer within {self.deadline.seconds:g} s"
                f" (phase request: {self._name}). Log: {self._anchor.layout.log}.",
                hint="Try again, or run: recalld doctor",
            ) from error
        # A connection that was never made carried nothing, so trying again is always safe.
        pause = 0.0 if unsent else self._retries.after_break()
        if pause is None or self.deadline.left() <= pause:
            doubt = "" if self._operation.repeatable else " It may have been carried out."
            raise DaemonUnreachable(
                f"The connection to the daemon broke during {self._name}.{doubt}",
                hint="Try again, or run: recalld doctor",
            ) from error
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
        return self._operation.read(document(parse(answer.content)))

    @property
    def _name(self) -> str:
        return f"{self._operation.method} {self._operation.target.partition('?')[0]}"


def _explained(error: RecalldError, found: Credentials) -> RecalldError:
    """The error with the remedy that fits where the token came from."""
    if isinstance(error, Unauthenticated):
        return access.refused(error, found)
    return error
