"""The lightest client there is: what is measured on two cores must be the daemon, not its clients.

`http.client` takes 0.25 ms a call, a quarter of what the daemon takes to store a row.
"""

from __future__ import annotations

import json
import socket


class Wire:
    """One kept connection that sends requests and reads the status of their answers."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tail = (
            f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        ).encode()

    def get(self, path: str) -> int:
        """The status of a GET."""
        return self._ask(b"GET " + path.encode() + self._tail + b"\r\n")

    def post(self, path: str, body: object) -> int:
        """The status of a POST of `body` as JSON."""
        raw = json.dumps(body).encode()
        typed = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(raw)
        return self._ask(b"POST " + path.encode() + self._tail + typed + raw)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _ask(self, request: bytes) -> int:
        self._socket.sendall(request)
        got = self._receive()
        while b"\r\n\r\n" not in got:
            got += self._receive()
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
        while len(body) < length:
            body += self._receive()
        return int(head[9:12])

    def _receive(self) -> bytes:
        part = self._socket.recv(65_536)
        if not part:
            raise ConnectionError("the daemon hung up")
        return part
