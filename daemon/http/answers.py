"""What a handler hands back, and how it goes out: one head, one body, one write."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import NamedTuple

import orjson

from ...auth.errors import MethodNotAllowed, RecalldError

JSON = b"application/json"


class Answer(NamedTuple):
    """A response: status, body, extra headers (lower-case), for a stream what follows the body."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    stream: AsyncGenerator[bytes] | None = None


def reply(content: object, status: int = 200) -> Answer:
    """A JSON answer."""
    return Answer(status, orjson.dumps(content))


def refusal(error: RecalldError) -> Answer:
    """The answer that carries an error; `Retry-After` in whole seconds where waiting helps."""
    headers: list[tuple[bytes, bytes]] = []
    if error.retry_after_ms is not None:
        headers.append((b"retry-after", str(-(-error.retry_after_ms // 1000)).encode()))
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", ", ".join(error.allowed).encode("ascii")))
    return Answer(error.status, orjson.dumps(error.to_wire()), tuple(headers))
