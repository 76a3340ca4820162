"""Requests no HTTP library would send, over a plain socket."""

from __future__ import annotations

import contextlib
import socket

from tests.harness.jsontypes import JsonObject, decode


def connect(port: int, timeout: float = 10.0) -> socket.socket:
    """An open connection to the daemon."""
    connection = socket.create_connection(("127.0.0.1", port), timeout)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def head(
    port: int, method: str, path: str, *lines: str, host: str | None = None, version: str = "1.1"
) -> bytes:
    """A request head with the given extra header lines."""
    named = f"Host: {host or f'127.0.0.1:{port}'}"
    return "\r\n".join([f"{method} {path} HTTP/{version}", named, *lines, "", ""]).encode("latin-1")


def answer(connection: socket.socket) -> bytes:
    """Everything until the daemon closes, or until one whole answer has arrived."""
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while not _complete(got):
            part = connection.recv(65_536)
            if not part:
                break
            got += part
    return got


def send(port: int, request: bytes) -> bytes:
    """One request on a connection of its own; its whole answer (empty when only closed)."""
    with contextlib.closing(connect(port)) as connection:
        connection.sendall(request)
        return answer(connection)


def status(reply: bytes) -> int:
    """The status of an answer; 0 for none."""
    return int(reply.split(b" ", 2)[1]) if reply else 0


def body(reply: bytes) -> JsonObject:
    """The JSON body of an answer."""
    return decode(reply.partition(b"\r\n\r\n")[2])


def code(reply: bytes) -> str:
    """The wire code of an error answer."""
    return str(body(reply)["error"]["code"])


def _complete(got: bytes) -> bool:
    top, separator, rest = got.partition(b"\r\n\r\n")
    for line in top.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if separator and name == b"content-length":
            return len(rest) >= int(value)
    return False
