"""httpx transports over a pool of proven connections, and nothing else of its network stack."""

from __future__ import annotations

from collections.abc import AsyncIterable, Generator, Iterable
from contextlib import contextmanager
from typing import cast

import httpcore
import httpx

from .proving import AsyncProving, Proof, Proving

_CONNECTIONS = 64
_KEPT_SECONDS = 5.0
"""Well below the daemon's keep-alive, so that a connection rarely closes just as it is reused."""


class ProvenTransport(httpx.BaseTransport):
    """Sends requests over connections whose other end has proven to be the daemon."""

    def __init__(self, proof: Proof) -> None:
        self._pool = httpcore.ConnectionPool(
            max_connections=_CONNECTIONS,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=Proving(proof),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One request and its whole answer; raises httpx.TransportError."""
        with _mapped():
            answer = self._pool.handle_request(_translated(request))
            stream = cast("Iterable[bytes]", answer.stream)
            try:
                content = b"".join(stream)
            finally:
                answer.close()
        return httpx.Response(answer.status, headers=answer.headers, content=content)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class AsyncProvenTransport(httpx.AsyncBaseTransport):
    """The same for asyncio and trio."""

    def __init__(self, proof: Proof) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            max_connections=_CONNECTIONS,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=AsyncProving(proof),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request and its whole answer; raises httpx.TransportError."""
        with _mapped():
            answer = await self._pool.handle_async_request(_translated(request))
            stream = cast("AsyncIterable[bytes]", answer.stream)
            try:
                content = b"".join([part async for part in stream])
            finally:
                await answer.aclose()
        return httpx.Response(answer.status, headers=answer.headers, content=content)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


def _translated(request: httpx.Request) -> httpcore.Request:
    url = httpcore.URL(
        scheme=request.url.raw_scheme,
        host=request.url.raw_host,
        port=request.url.port,
        target=request.url.raw_path,
    )
    return httpcore.Request(
        request.method,
        url,
        headers=request.headers.raw,
        content=request.content,
        extensions=request.extensions,
    )


# From the most specific to the least: the first that fits is raised.
_MAPPING: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (httpcore.ConnectTimeout, httpx.ConnectTimeout),
    (httpcore.ReadTimeout, httpx.ReadTimeout),
    (httpcore.WriteTimeout, httpx.WriteTimeout),
    (httpcore.PoolTimeout, httpx.PoolTimeout),
    (httpcore.TimeoutException, httpx.ReadTimeout),
    (httpcore.ConnectError, httpx.ConnectError),
    (httpcore.WriteError, httpx.WriteError),
    (httpcore.NetworkError, httpx.ReadError),
    (httpcore.ConnectionNotAvailable, httpx.ReadError),
    (httpcore.ProtocolError, httpx.RemoteProtocolError),
    (httpcore.UnsupportedProtocol, httpx.UnsupportedProtocol),
    (httpcore.ProxyError, httpx.ProxyError),
)


@contextmanager
def _mapped() -> Generator[None]:
    """Httpcore's errors as httpx's, which is what callers of httpx expect."""
    try:
        yield
    except Exception as error:
        for found, wanted in _MAPPING:
            if isinstance(error, found):
                raise wanted(str(error)) from error
        raise
