"""One client connection: uvicorn's HTTP/1.1 protocol with limits on number, silence and size."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from ...auth.errors import Busy, HeadersTooLarge, MalformedBody, RecalldError, RequestTimeout
from ..http.head import MAX_HEAD
from .connections import PEER, Connections
from .fair import FairLoop
from .transport import Coalescing
from .unparsed import is_whole, refusal, without_upgrade

if TYPE_CHECKING:
    from httptools import HttpRequestParser

RETRY_MS = 250
VERSIONS = ("1.1", "1.0")
MOST_QUEUED = 8
"""Requests that may wait for the answer before theirs: the parser would queue 14,000 a segment."""

log = logging.getLogger("recalld.connection")


class Connection(HttpToolsProtocol):
    """A connection that is counted, may have to make room, and has to send its head in time."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        connections: Connections,
    ) -> None:
        super().__init__(config, server_state, {**app_state, PEER: self}, _loop)
        self._book = connections
        self._begun = False  # a request is under way
        self._kept = False  # and has proven its rights
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = None  # of a head that is arriving
        self._barren = 0  # bytes since the last one of a body that is arriving
        self._farewell: RecalldError | None = None  # to be said once what was asked is answered
        self._broken = False
        self._evicted = False
        self._favoured = -1

    # Protocol callbacks, in the order in which asyncio makes them.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection and give its first request a time limit."""
        inner = cast(asyncio.Transport, transport)
        patience = self._book.write_timeout
        super().connection_made(Coalescing(inner, self.loop, self._has_unread_input, patience))
        if self._book.admit(self, self.loop.time()):
            self._expect_head()
        else:
            inner.abort()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; the time limit for a head runs until the head is complete."""
        if self._is_lingering():
            return
        fresh = self._is_between_requests()
        if fresh and self._book.sheds(data):
            self._shed(data)
            return
        counted = fresh or self._head_bytes is not None
        self._barren += len(data)
        super().data_received(without_upgrade(data) if fresh else data)
        if self._head_bytes is not None and counted:
            self._head_bytes += len(data)
        self._check_growth()
        self._watch_head()
        if self._is_between_requests() and self._head_timer is None:
            self._expect_head()  # line breaks before a head begin no head, and end no silence

    def on_message_begin(self) -> None:
        """A head begins to arrive."""
        super().on_message_begin()
        self._head_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those after a body are refused: they would be without any limit."""
        if self._head_bytes is None:
            raise ValueError("a trailer")
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take part of a body."""
        self._barren = 0
        super().on_body(body)

    def on_headers_complete(self) -> None:
        """Start a request, or queue it behind the one that is being answered."""
        self._head_bytes, self._barren = None, 0
        if len(self.pipeline) >= MOST_QUEUED:
            self._farewell = Busy("Too many requests at once.", retry_after_ms=RETRY_MS)
            raise ValueError("too many requests at once")
        parser: HttpRequestParser = self.parser  # pyright: ignore[reportAssignmentType]  # it calls
        if parser.should_upgrade() or not self.url.startswith(b"/"):
            raise ValueError("a request to a proxy, or to change the protocol")
        if parser.get_http_version() not in VERSIONS:
            raise ValueError("another version of HTTP")
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Become idle, unless the next request is here already."""
        self._begun = self._kept = False
        self._renew()
        if isinstance(self.loop, FairLoop) and not self.transport.is_closing():
            self._favoured = self.transport.get_extra_info("socket").fileno()
            self.loop.favour(self._favoured)
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self._farewell is not None and not self._is_queueing():
            self._refuse(self._farewell)
        else:
            self._watch_head()

    def pause_writing(self) -> None:
        """Its client does not read: the first to go when there are too many connections."""
        super().pause_writing()
        self._rank()

    def resume_writing(self) -> None:
        """Its client reads again."""
        super().resume_writing()
        if self._is_answering():
            self._rank()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_head_timer()
        self._book.forget(self)
        if isinstance(self.loop, FairLoop):
            self.loop.forget(self._favoured)
        super().connection_lost(exc)

    def keep(self) -> None:
        """The request under way has proven its rights: it is not evicted, unless it is unread."""
        self._kept = True
        self._rank()

    def has_arrived(self) -> bool:
        """Whether all of the request under way is here (one that is queued behind it says so)."""
        return not self.cycle.more_body

    def abort(self) -> None:
        """Cut the connection off, whatever was still to be sent."""
        self.transport.abort()

    def evict(self) -> None:
        """End the connection to make room; an idle client sees a keep-alive that ended."""
        self._evicted = True
        if self._is_answering() or self._is_lingering() or self._is_unread():
            self.transport.abort()
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._turn_away(MalformedBody("This is not a well-formed HTTP/1.1 request."))

    # What the callbacks are made of.

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._renew()

    def _renew(self) -> None:
        """Spare from now on, unless it does not read: more requests do not make that better."""
        if self.flow.write_paused:
            self._book.spare(self, self.loop.time())
        else:
            self._book.idle(self, self.loop.time())

    def _rank(self) -> None:
        """Busy while work for somebody with rights is under way and its answers are read.

        Anyone on the machine can begin a hello and not finish it, or ask and not read: that must
        not take the places of those who have a token.
        """
        if self._kept and not self.flow.write_paused:
            self._book.busy(self)
        else:
            self._book.spare(self, self.loop.time())

    def _watch_head(self) -> None:
        """See to the time limit of the head that is arriving, if one is."""
        if self._is_answering():
            self._begin()
            self._stop_head_timer()
        elif self._head_bytes is not None and self._head_timer is None:
            self._expect_head()

    def _check_growth(self) -> None:
        """Turn away a head over its limit, also behind a request that is being answered, and a
        body that goes on without a byte of it: chunk extensions and trailers have no other limit.
        """
        if self._head_bytes is not None:
            if self._head_bytes > MAX_HEAD:
                error = HeadersTooLarge(f"The request head is larger than {MAX_HEAD} bytes.")
                self._turn_away(error)
        elif self._is_answering() and self.cycle.more_body and self._barren > MAX_HEAD:
            self._turn_away(MalformedBody("The body is not well-formed."))

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
        if self._head_bytes is not None:
            self._refuse(RequestTimeout("The request head did not arrive in time."))
        else:
            self.transport.close()

    def _shed(self, data: bytes) -> None:
        """Refuse a recall unparsed: 3,000 at once must not keep health waiting for seconds.

        Parsing, rights and handler cost 0.45 ms a request, most of it for the same answer. A
        constant gives nothing away, whoever asks.
        """
        self._stop_head_timer()
        self._broken = not is_whole(data)
        self._answer_unparsed(Busy("All workers are taken.", retry_after_ms=RETRY_MS))

    def _is_between_requests(self) -> bool:
        quiet = self._head_bytes is None and not self._is_answering()
        return quiet and not self.transport.is_closing()

    def _is_answering(self) -> bool:
        cycle = cast(
            "object | None", self.cycle
        )  # None before the first request, whatever the stub says
        return cycle is not None and not self.cycle.response_complete

    def _is_queueing(self) -> bool:
        """Whether requests are to be answered before the one that is arriving."""
        return self._is_answering() and bool(self.pipeline or not self.cycle.more_body)

    def _is_lingering(self) -> bool:
        return isinstance(self.transport, Coalescing) and self.transport.lingering

    def _is_unread(self) -> bool:
        return isinstance(self.transport, Coalescing) and self.transport.unsent > 0

    def _has_unread_input(self) -> bool:
        if self._evicted:
            return False
        cycle = cast("object | None", self.cycle)
        return self._broken or (cycle is not None and self.cycle.more_body)

    def _turn_away(self, error: RecalldError) -> None:
        """Refuse what arrives, after the answers to the requests before it."""
        if self.transport.is_closing():
            return
        if self._is_queueing():
            self.flow.pause_reading()
            self._farewell = self._farewell or error
        else:
            self._refuse(error)

    def _refuse(self, error: RecalldError) -> None:
        """Answer without a request: it could not be read."""
        self._broken = True
        self._answer_unparsed(error)

    def _answer_unparsed(self, error: RecalldError) -> None:
        self.transport.write(refusal(error))
        self.transport.close()
