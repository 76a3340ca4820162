"""Requests dealt with as bytes: refused without being parsed, or relieved of a header first."""

from __future__ import annotations

import re
from http import HTTPStatus

import orjson

from ...auth.errors import RecalldError

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]{1,9})", re.IGNORECASE)
_UPGRADE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


def refusal(error: RecalldError) -> bytes:
    """A whole response that ends the connection, written without a parser's help."""
    body = orjson.dumps(error.to_wire())
    lines = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "x-request-id: unparsed",
        "connection: close",
    ]
    if error.retry_after_ms is not None:
        lines.append(f"retry-after: {-(-error.retry_after_ms // 1000)}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body


def is_whole(data: bytes) -> bool:
    """Whether a request that begins here also ends here: nothing of it is left to arrive."""
    head, end, body = data.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return bool(end) and length is not None and len(body) >= int(length[1])


def without_upgrade(data: bytes) -> bytes:
    """The request without its offer to speak something else, which we may ignore (RFC 9110 7.8).

    Java's client offers HTTP/2 with every first request, and the parser would take the body of a
    request with such an offer for the other protocol and throw it away. Only a head that arrives in
    one piece is relieved of it; in several pieces such a request is refused.
    """
    if b"pgrade:" not in data and b"PGRADE:" not in data:
        return data
    head, end, body = data.partition(b"\r\n\r\n")
    return _UPGRADE.sub(b"", head) + end + body
