"""httpcore backends that prove the daemon on every new connection, silent reconnects included.

httpx opens connections by itself whenever one in its pool has expired. A check made elsewhere would
leave a window in which the port changes hands, so the hello happens here, on the very socket that
will carry the token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

import httpcore

from ...auth import hello
from ...auth.errors import RecalldError
from ...auth.record import Record
from ..connection import greeting
from ..connection.http1 import AnswerReader, BadAnswer

Proof = Callable[[int], Record | None]
"""From a port to the record its owner has to match."""

_PIECE = 65_536


class Proving(httpcore.NetworkBackend):
    """Connects to the daemon and nowhere else."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A stream whose other end has proven to be the daemon; raises httpcore.ConnectError."""
        exchange = Exchange(self._proof, port)
        stream = self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            stream.write(exchange.request, timeout)
            while not exchange.finished:
                exchange.feed(stream.read(_PIECE, timeout))
        except BaseException as error:
            stream.close()
            raise _unsent(error) from error
        return stream


class AsyncProving(httpcore.AsyncNetworkBackend):
    """The same for asyncio and trio."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        # Where anyio is missing httpcore has a stand-in of another type; httpx always brings anyio.
        self._inner = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A stream whose other end has proven to be the daemon; raises httpcore.ConnectError."""
        exchange = Exchange(self._proof, port)
        stream = await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            await stream.write(exchange.request, timeout)
            while not exchange.finished:
                exchange.feed(await stream.read(_PIECE, timeout))
        except BaseException as error:
            await stream.aclose()
            raise _unsent(error) from error
        return stream

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore asks its backend to."""
        await self._inner.sleep(seconds)


class Exchange:
    """One hello: the bytes to send, and the judgement on the bytes that come back."""

    def __init__(self, proof: Proof, port: int) -> None:
        record = proof(port)
        if record is None:
            raise httpcore.ConnectError(f"No daemon is published on port {port} any more.")
        self._record = record
        self._nonce = hello.new_nonce()
        self._reader = AnswerReader(method="POST")
        self.request = greeting.request(record, self._nonce)
        self.finished = False

    def feed(self, data: bytes) -> None:
        """Take what came; raises httpcore.ConnectError unless it is our daemon, ready to serve."""
        try:
            if data:
                self._reader.feed(data)
            else:
                self._reader.end()
            answer = self._reader.answer()
            if answer is None:
                return
            said = greeting.judge(self._record, self._nonce, answer)
        except BadAnswer as error:
            raise httpcore.ConnectError(str(error)) from error
        except RecalldError as error:
            raise httpcore.ConnectError(error.message) from error
        if said.phase == "draining" or not answer.reusable:
            raise httpcore.ConnectError("The daemon is on its way out.")
        self.finished = True


def _unsent(error: BaseException) -> BaseException:
    """The failure as one of connecting: nothing of the caller's has been sent yet."""
    if isinstance(error, httpcore.TimeoutException):
        return httpcore.ConnectTimeout(str(error))
    if isinstance(error, httpcore.NetworkError | httpcore.ProtocolError):
        return httpcore.ConnectError(str(error))
    return error
