"""One client connection: uvicorn's HTTP/1.1 protocol with limits on number, silence and size."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import OrderedDict
from http import HTTPStatus
from typing import Any, cast

import h11
import orjson
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ..auth.errors import Busy, HeadersTooLarge, MalformedBody, RecalldError, RequestTimeout
from .http.head import MAX_HEAD
from .transport import Coalescing

OVERDRAFT = 16
"""Connections accepted beyond the cap, only to be told 429."""
FRESH = 0.5
"""Seconds a silent connection is spared, while the overdraft lasts: its request may be coming."""

log = logging.getLogger("recalld.connection")


class Connections:
    """Every open connection, the idle ones in the order in which they became idle."""

    def __init__(self, cap: int, head_timeout: float) -> None:
        self.cap = cap
        self.head_timeout = head_timeout
        self._open: set[Connection] = set()
        self._idle: OrderedDict[Connection, float] = OrderedDict()

    @property
    def open(self) -> int:
        """Connections that are open and not being closed to make room."""
        return len(self._open)

    def over(self) -> bool:
        """Whether there are more than the cap right now."""
        return self.open > self.cap

    def is_full(self, now: float) -> bool:
        """Whether there are too many even without those that have been idle for a while."""
        self._evict(now)
        return self.open > self.cap

    def admit(self, connection: Connection, now: float) -> bool:
        """Count a new connection, making room if need be; False: there is none, hang up."""
        self._open.add(connection)
        self._evict(now)
        if self.open > self.cap + OVERDRAFT and not self._evict_one():
            self._open.discard(connection)
            return False
        self._idle[connection] = now
        return True

    def idle(self, connection: Connection, now: float) -> None:
        """The connection waits for its next request."""
        if connection in self._open:
            self._idle[connection] = now
            self._idle.move_to_end(connection)

    def busy(self, connection: Connection) -> None:
        """The connection has a request being answered and must not be evicted."""
        self._idle.pop(connection, None)

    def forget(self, connection: Connection) -> None:
        """The connection is closed."""
        self._open.discard(connection)
        self._idle.pop(connection, None)

    def _evict(self, now: float) -> None:
        """Close the longest idle connections until the rest fits; fresh ones are spared."""
        while self.open > self.cap and self._idle:
            if now - next(iter(self._idle.values())) < FRESH:
                return
            self._evict_one()

    def _evict_one(self) -> bool:
        if not self._idle:
            return False
        connection, _ = self._idle.popitem(last=False)
        self._open.discard(connection)
        connection.evict()
        return True


class Connection(H11Protocol):
    """A connection that is counted, may be evicted while idle, and has to send its head in time."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._book = connections
        self._head_timer: asyncio.TimerHandle | None = None
        self._broken = False
        self._evicted = False

    # Protocol callbacks, in the order in which asyncio makes them.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection and give its first request a time limit."""
        inner = cast(asyncio.Transport, transport)
        super().connection_made(Coalescing(inner, self.loop, self._has_unread_input))
        if self._book.admit(self, self.loop.time()):
            self._expect_head()
        else:
            inner.abort()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; the time limit for a head runs until the head is complete."""
        if not self._is_lingering():
            super().data_received(data)

    def handle_events(self) -> None:
        """Start a request when its head is complete."""
        super().handle_events()
        if self._is_answering():
            self._book.busy(self)
            self._stop_head_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._expect_head()

    def on_response_complete(self) -> None:
        """Become idle, unless the next request is here already."""
        if not self.transport.is_closing():
            self._book.idle(self, self.loop.time())
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_head_timer()
        self._book.forget(self)
        super().connection_lost(exc)

    def evict(self) -> None:
        """Close an idle connection to make room; a client sees a keep-alive that ended."""
        self._evicted = True
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, with the reason the parser gave."""
        cause = sys.exception()
        hint = cause.error_status_hint if isinstance(cause, h11.RemoteProtocolError) else 400
        if hint == 431:
            self._refuse(HeadersTooLarge(f"The request head is larger than {MAX_HEAD} bytes."))
        else:
            self._refuse(MalformedBody("This is not a well-formed HTTP/1.1 request."))

    # What the callbacks are made of.

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(self._book.head_timeout, self._head_is_late)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing() or self._is_answering():
            return
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._refuse(RequestTimeout("The request head did not arrive in time."))
        else:
            self.transport.close()

    def _is_answering(self) -> bool:
        cycle = cast(
            "object | None", self.cycle
        )  # None before the first request, whatever the stub says
        return cycle is not None and not self.cycle.response_complete

    def _is_lingering(self) -> bool:
        return isinstance(self.transport, Coalescing) and self.transport.lingering

    def _has_unread_input(self) -> bool:
        if self._evicted:
            return False
        cycle = cast("object | None", self.cycle)
        return self._broken or (cycle is not None and self.cycle.more_body)

    def _refuse(self, error: RecalldError) -> None:
        """Answer without a request: it could not be read."""
        self._broken = True
        body = orjson.dumps(error.to_wire())
        reason = HTTPStatus(error.status).phrase
        head = (
            f"HTTP/1.1 {error.status} {reason}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()


def over_the_cap(connections: Connections) -> Busy | None:
    """The refusal for a request that arrives while there are too many connections."""
    if connections.is_full(time.monotonic()):
        return Busy("Too many connections are open.", retry_after_ms=500)
    return None
