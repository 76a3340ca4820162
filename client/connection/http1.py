"""HTTP/1.1 without I/O: one request becomes bytes, and bytes become one answer.

The socket transport of the command line and the network backends of the SDK share it, so that the
hello is spoken and read in one way only. Standard library pieces (`http.client`) cost 30 ms of
imports.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_HEAD = 65_536
"""Bytes an answer's head may have; ours are under 1 KiB, so more means a stranger is talking."""

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_NO_BODY = frozenset({204, 304})


class BadAnswer(Exception):
    """What arrived is not an HTTP/1.1 answer."""


class Answer(NamedTuple):
    """A whole answer: status, lower-case headers, body, and whether the connection lives on."""

    status: int
    headers: dict[str, str]
    body: bytes
    reusable: bool


def quote(text: str) -> str:
    """Percent-encode a path segment, query value or header value as UTF-8; slashes stay."""
    raw = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in raw)


def segment(text: str) -> str:
    """Percent-encode an id as one segment of a path: a slash in it must not reach another route."""
    return quote(text).replace("/", "%2F")


def encode_query(pairs: list[tuple[str, str]]) -> str:
    """`?name=value&…` for these pairs, or nothing."""
    if not pairs:
        return ""
    return "?" + "&".join(f"{quote(name)}={quote(value)}" for name, value in pairs)


def encode_request(
    method: str, target: str, host: str, headers: dict[str, str], body: bytes | None
) -> bytes:
    """The bytes of one request, head and body together: one send, one segment."""
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    elif method not in {"GET", "HEAD", "DELETE"}:
        lines.append("Content-Length: 0")
    head = "\r\n".join(lines)
    if "\r\n\r\n" in head or any("\r" in line or "\n" in line for line in lines):
        raise ValueError("A header value must be one line.")
    return (head + "\r\n\r\n").encode("latin-1") + (body or b"")


class AnswerReader:
    """Collects the bytes of one answer: `feed` what arrives until `answer()` is not None.

    Call `end()` when the peer closed; it completes an answer that is delimited by the close and
    raises BadAnswer when something is missing. `take()` hands out the body bytes that have arrived
    so far.
    """

    def __init__(self, *, method: str = "GET") -> None:
        self._bodiless = method == "HEAD"
        self._buffer = bytearray()
        self._body = bytearray()
        self._head: tuple[int, dict[str, str]] | None = None
        # Bytes of the body (or of the current chunk) still to come; None means "until the close".
        self._wanted: int | None = 0
        self._chunked = False
        self._complete = False
        self._closed = False

    def feed(self, data: bytes) -> None:
        """Take what the peer sent."""
        self._buffer += data
        if self._head is None and not self._read_head():
            return
        self._read_body()

    def end(self) -> None:
        """The peer closed the connection."""
        self._closed = True
        if self._head is not None and self._wanted is None and not self._chunked:
            self._complete = True
        if not self._complete:
            raise BadAnswer("The connection ended in the middle of an answer.")

    def take(self) -> bytes:
        """The body bytes that arrived since the last call, for answers that are streamed."""
        piece = bytes(self._body)
        self._body.clear()
        return piece

    @property
    def head(self) -> tuple[int, dict[str, str]] | None:
        """Status and headers once the head has arrived."""
        return self._head

    @property
    def streams(self) -> bool:
        """Whether what has begun to arrive is an event stream."""
        return self._head is not None and self._head[1].get("content-type", "").startswith(
            "text/event-stream"
        )

    def answer(self) -> Answer | None:
        """The answer, or None while bytes are missing."""
        if not self._complete or self._head is None:
            return None
        status, headers = self._head
        kept = not self._closed and headers.get("connection", "").lower() != "close"
        return Answer(status, headers, bytes(self._body), kept)

    def _read_head(self) -> bool:
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > MAX_HEAD or not b"HTTP/1.".startswith(self._buffer[:7]):
                    raise BadAnswer("This is not an HTTP answer.")
                return False
            status, headers = _parse_head(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
            if status >= 200:  # 1xx answers announce the real one
                break
        self._head = (status, headers)
        self._plan_body(status, headers)
        return True

    def _plan_body(self, status: int, headers: dict[str, str]) -> None:
        if self._bodiless or status in _NO_BODY:
            self._wanted = 0
        elif "chunked" in headers.get("transfer-encoding", "").lower():
            self._chunked, self._wanted = True, None
        elif "content-length" in headers:
            self._wanted = _number(headers["content-length"], 10)
        else:
            self._wanted = None

    def _read_body(self) -> None:
        if self._chunked:
            while not self._complete and self._read_chunk():
                pass
            return
        if self._wanted is None:
            self._move(len(self._buffer))
            return
        self._wanted -= self._move(min(self._wanted, len(self._buffer)))
        self._complete = self._wanted == 0

    def _read_chunk(self) -> bool:
        if self._wanted is None:
            end = self._buffer.find(b"\r\n")
            if end < 0:
                return False
            size = _number(self._buffer[:end].split(b";")[0].decode("latin-1"), 16)
            if size == 0:
                # The blank line may come in a later segment, and left unread it would look like the
                # start of the next answer on this connection. Trailers before it are skipped.
                self._complete = self._buffer.find(b"\r\n\r\n", end) >= 0
                return False
            del self._buffer[: end + 2]
            self._wanted = size + 2
        if len(self._buffer) < self._wanted:
            return False
        self._move(self._wanted - 2)
        del self._buffer[:2]
        self._wanted = None
        return True

    def _move(self, count: int) -> int:
        self._body += self._buffer[:count]
        del self._buffer[:count]
        return count


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1."):
        raise BadAnswer("This is not an HTTP answer.")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadAnswer("A header line has no colon.")
        headers[name.strip().lower()] = value.strip()
    return _number(parts[1], 10), headers


def _number(text: str, base: int) -> int:
    try:
        value = int(text.strip(), base)
    except ValueError as error:
        raise BadAnswer(f"{text[:20]!r} is not a number.") from error
    if value < 0:
        raise BadAnswer("A length cannot be negative.")
    return value
