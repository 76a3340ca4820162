"""The socket we listen on and the uvicorn server behind it, which only we end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Generator

import uvicorn
from uvicorn._types import ASGI3Application

from ..settings import Settings
from .connection import Connection
from .connections import Connections
from .fair import FairLoop

BACKLOG = 2048
"""Clients that may knock at the same moment (measured with 3,000)."""
ACCEPTS = 16
"""Connections asyncio accepts before it looks at those it has: its batch size is the backlog."""
GRACE = 1
"""Seconds connections get to receive the rest of their answers once all work has ended."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

log = logging.getLogger("recalld.listener")


def bind() -> socket.socket:
    """A listening socket on 127.0.0.1 and a port nobody else had.

    IPPROTO_TCP must be said: asyncio sets TCP_NODELAY only on sockets whose protocol it can see,
    and Nagle's algorithm turns a 1 ms answer into one of 48 ms.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(BACKLOG)
    return listening


class Server(uvicorn.Server):
    """uvicorn's server with our signals, without its ten wake-ups a second.

    uvicorn's own handling raises the signal again after a clean shutdown: exit status 143, and
    nothing after `run()` happens (B.7).
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        on_listening: Callable[[], Awaitable[None]],
        on_signal: Callable[[signal.Signals], None],
    ) -> None:
        super().__init__(config)
        self._on_listening = on_listening
        self._on_signal = on_signal
        self._end = asyncio.Event()

    def end(self) -> None:
        """Close the listener and every connection, then return from `serve`."""
        self.should_exit = True
        self._end.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections, then tell the world."""
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        for listening in sockets or ():
            listening.listen(BACKLOG)  # create_server has just cut it down to ACCEPTS
            if isinstance(loop, FairLoop):
                loop.favour(listening.fileno())  # whoever knocks must not wait for a crowd
        await self._on_listening()

    async def main_loop(self) -> None:
        """Wait for `end`."""
        await self._end.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Take SIGTERM, SIGINT and SIGHUP as a wish to end; never die of one half-way."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
                # What remains to be done is short; a second Ctrl-C must not cut it off.
                signal.signal(number, signal.SIG_IGN)


def configure(
    app: ASGI3Application, settings: Settings, connections: Connections
) -> uvicorn.Config:
    """What uvicorn is told about our one application."""
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=ACCEPTS,
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=GRACE,
    )
    config.load()
    # uvicorn calls it like the class it knows; the book of connections rides along.
    make = functools.partial(Connection, connections=connections)
    setattr(config, "http_protocol_class", make)  # noqa: B010
    return config
