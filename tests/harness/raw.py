"""Raw sockets to a daemon: requests no well-behaved client would send."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress

TIMEOUT_S = 10.0


@contextmanager
def connected(port: int, *, timeout: float = TIMEOUT_S) -> Generator[socket.socket]:
    """A connection to `port` that is closed at the end."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as sock:
        yield sock


def read_all(sock: socket.socket) -> bytes:
    """Everything until the peer closes, resets, or says nothing for the socket's timeout."""
    got = b""
    try:
        while chunk := sock.recv(65536):
            got += chunk
    except (TimeoutError, ConnectionResetError):
        pass
    return got


def head(
    method: str, target: str, port: int, *lines: str, host: str | None = None, close: bool = True
) -> bytes:
    """A request head; `lines` are further header lines."""
    end = ["Connection: close"] if close else []
    wanted = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", *lines, *end]
    return "\r\n".join([*wanted, "", ""]).encode("latin-1")


def exchange(port: int, data: bytes) -> bytes:
    """Send `data` on a new connection and read to the end; empty when it was closed at once."""
    with connected(port) as sock:
        with suppress(BrokenPipeError, ConnectionResetError):  # there may be an answer all the same
            sock.sendall(data)
        return read_all(sock)


def status_of(answer: bytes) -> int:
    """The status of a raw answer; 0 when there was none."""
    words = answer.split(None, 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
