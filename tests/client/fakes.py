"""A stand-in daemon: proves itself like the real one and answers as the test wants."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from recalld.auth import record
from recalld.auth.paths import Layout, ensure_private_dir
from recalld.auth.record import Record

from tests.harness.http import proof
from tests.harness.jsontypes import JsonObject, decode


class Asked(NamedTuple):
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Drop(Exception):
    """Raised by a script to close the connection without an answer."""


Script = Callable[[Asked], tuple[int, JsonObject]]


class FakeDaemon:
    """Listens, publishes a record in `layout` and logs every request in `asked`."""

    def __init__(
        self,
        layout: Layout,
        script: Script,
        *,
        api: object = (1, 1),
        pid: int = 1,
        managed_by: str = "spawn",
        honest: bool = True,
    ) -> None:
        self.layout = layout
        self.script = script
        self.api = api
        self.phase = "ready"
        # Whether every answer but a hello's ends its connection, as expired keep-alive would.
        self.closing = False
        self.honest = honest
        self.asked: list[Asked] = []
        self.lines: list[socket.socket] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.record = Record(
            instance="fake",
            pid=pid,
            boot_id=record.boot_id(),
            host_id=record.host_id(),
            host="127.0.0.1",
            port=int(self.server.server_address[1]),
            secret="5e" * 32,
            version="0.0.1",
            api=(1, 1),
            managed_by=managed_by,
            started_at="2026-01-01T00:00:00.000Z",
        )
        self._thread = threading.Thread(
            target=lambda: self.server.serve_forever(poll_interval=0.02)
        )
        self._thread.start()
        self.publish()

    def publish(self) -> None:
        """Make clients find this one."""
        ensure_private_dir(self.layout.data)
        ensure_private_dir(self.layout.run)
        record.publish(self.layout, self.record)

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def hang_up(self) -> None:
        """End every connection without a word, as a daemon does with idle ones."""
        for line in self.lines:
            with suppress(OSError):  # the client may have been faster
                line.shutdown(socket.SHUT_RDWR)
        self.lines.clear()

    def calls(self, path: str) -> list[Asked]:
        """The requests for this path."""
        return [asked for asked in self.asked if asked.path.partition("?")[0] == path]

    def hello(self, asked: Asked) -> JsonObject:
        """The answer to a hello."""
        nonce = str(decode(asked.body)["nonce"])
        mac = proof(self.record.secret, self.record.instance, self.record.port, nonce)
        return {
            "instance": self.record.instance,
            "version": self.record.version,
            "api": self.api,
            "phase": self.phase,
            "stale_code": False,
            "mac": mac if self.honest else "0" * 64,
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep quiet."""

            def setup(self) -> None:
                super().setup()
                fake.lines.append(self.connection)

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:
                    self.close_connection = True

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                named = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, named, self.rfile.read(length))
                fake.asked.append(asked)
                try:
                    known = self.path == "/v1/hello"
                    status, body = (200, fake.hello(asked)) if known else fake.script(asked)
                except Drop:
                    self.close_connection = True
                    return
                raw = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                if fake.closing and not known:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(raw)

        for method in ("GET", "POST", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", Handler.answer)
        return Handler


def refusal(code: str, status: int, retry_after_ms: int = 10) -> tuple[int, JsonObject]:
    """An error answer."""
    error = {"code": code, "message": "Not now.", "hint": "", "retry_after_ms": retry_after_ms}
    return status, {"error": error}


def sequence(*answers: tuple[int, JsonObject] | None) -> Script:
    """A script that answers one after the other and then repeats the last; None drops."""
    rest = list(answers)

    def script(_asked: Asked) -> tuple[int, JsonObject]:
        answer = rest.pop(0) if len(rest) > 1 else rest[0]
        if answer is None:
            raise Drop
        return answer

    return script
