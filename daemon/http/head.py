"""The head of a request: what it says about itself, and the refusals that need nothing else.

These guards run before any work. They keep out web pages (DNS rebinding, cross-site requests), and
requests two parsers could read differently.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...auth.errors import (
    ForeignHost,
    ForeignOrigin,
    HeadersTooLarge,
    InvalidRequest,
    MalformedBody,
    UnsupportedMediaType,
)

MAX_HEAD = 16 * 1024
"""Bytes of request line and headers together; ours are below 1 kB."""
SINGLE = frozenset(
    {
        b"host",
        b"authorization",
        b"content-length",
        b"content-type",
        b"idempotency-key",
        b"recalld-checkout",
        b"recalld-namespace",
    }
)
"""Headers that may occur once: which of two would count is a matter of taste, so neither does."""
BROWSER = (b"origin", b"referer", b"sec-fetch-site", b"sec-fetch-dest")
"""Only browsers send these, and no page of ours exists.

`Sec-Fetch-Mode: cors` alone comes from Node's fetch, and so from most MCP clients; browsers never
send it without `Sec-Fetch-Site`.
"""


class Head(NamedTuple):
    """Method, path and headers (lower-case names, values as received) of one request."""

    method: str
    path: str
    query: bytes
    headers: dict[bytes, bytes]

    @property
    def has_body(self) -> bool:
        """Whether the client announced a body."""
        return b"transfer-encoding" in self.headers or self.length not in (0, None)

    @property
    def length(self) -> int | None:
        """The announced length in bytes, None when there is none (or the body is chunked)."""
        value = self.headers.get(b"content-length")
        return None if value is None else int(value)


def read_head(method: str, path: str, query: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Head:
    """The head, with headers that must be single checked to be so.

    Raises:
        HeadersTooLarge: over 16 KiB in all.
        InvalidRequest: one of them occurs twice, or the length is said in two ways.
    """
    found: dict[bytes, bytes] = {}
    size = len(path) + len(query)
    for name, value in headers:
        size += len(name) + len(value) + 4
        if name in found and name in SINGLE:
            raise InvalidRequest(f"The header {name.decode('ascii')} occurs twice.")
        found[name] = value
    if size > MAX_HEAD:
        raise HeadersTooLarge(f"The request head is larger than {MAX_HEAD} bytes.")
    if found.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        raise InvalidRequest("The only Transfer-Encoding here is chunked.")
    if b"content-length" in found and b"transfer-encoding" in found:
        raise InvalidRequest("Content-Length and Transfer-Encoding exclude each other.")
    return Head(method, path, query, found)


def check_head(head: Head, port: int) -> None:
    """Refuse what does not come from a client of ours.

    Raises:
        ForeignHost: Host is not the loopback address we published.
        ForeignOrigin: a browser sent it.
        InvalidRequest: the target is not a path.
    """
    host = head.headers.get(b"host", b"").lower()
    if host not in (b"127.0.0.1:%d" % port, b"localhost:%d" % port, b"[::1]:%d" % port):
        raise ForeignHost(
            "The Host header does not name this daemon.",
            hint=f"Send `Host: 127.0.0.1:{port}`.",
        )
    mode = head.headers.get(b"sec-fetch-mode", b"cors")
    if mode != b"cors" or any(name in head.headers for name in BROWSER):
        raise ForeignOrigin("Requests from web pages are refused.")
    if not head.path.startswith("/"):
        raise InvalidRequest("The request target must be a path.")


def check_media_type(head: Head) -> None:
    """Refuse a body that is not declared as plain JSON.

    Raises:
        UnsupportedMediaType: another type, or a compressed body.
        MalformedBody: another character set than UTF-8.
    """
    kind, _, parameters = head.headers.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != JSON_TYPE:
        raise UnsupportedMediaType(
            "The body must be JSON.", hint="Send `Content-Type: application/json`."
        )
    if head.headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise UnsupportedMediaType("Compressed bodies are not accepted.")
    charset = parameters.strip().removeprefix(b"charset=").strip(b'"')
    if charset not in (b"", b"utf-8"):
        raise MalformedBody("JSON is UTF-8 here.")


JSON_TYPE = b"application/json"
