"""A small stand-in for the daemon: real socket, real record, real hello, and events as it likes.

For what a real daemon cannot be asked to do: answer exactly this, refuse, break off, fall silent.
It holds daemon.lock like the real one, so clients see an owned data folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import cast

from recalld.auth import hello, paths, record, tokens
from recalld.auth.record import API, Record

from tests.harness.jsontypes import JsonObject, decode

NOTHING: JsonObject = {"taken": 1, "context": None, "deny": None, "notice": None}


class FakeDaemon:
    """Serves `data` until closed; `events` and `replies` are what arrived, in order.

    `said` is the body of the next answers to /v1/events and `status` their status; `silent` makes
    it take connections and say nothing, `breaks` makes it close instead of answering events.
    """

    def __init__(self, data: Path) -> None:
        self.layout = paths.layout({"RECALLD_HOME": str(data)})
        self.events: list[JsonObject] = []
        self.replies: list[bool] = []
        self.grants: list[JsonObject] = []
        self.checkouts: list[str] = []
        self.said: JsonObject = dict(NOTHING)
        self.status = 200
        self.silent = False
        self.breaks = 0
        self.tokens: set[str] = set()
        self.stopped = threading.Event()
        paths.ensure_private_dir(self.layout.data)
        paths.ensure_private_dir(self.layout.run)
        self._lock = os.open(self.layout.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._server = _Server(self)
        self.record = _record(self._server.server_address[1])
        record.publish(self.layout, self.record)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def __enter__(self) -> FakeDaemon:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Withdraw and end."""
        self.stopped.set()
        record.withdraw(self.layout, self.record.instance)
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        os.close(self._lock)

    def ids(self) -> list[str]:
        """The ids of all events that arrived."""
        return [str(event["id"]) for event in self.events]

    def mac(self, nonce: str) -> str:
        """What proves this daemon."""
        known = self.record
        return hello.prove(known.secret, known.instance, known.port, nonce)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, fake: FakeDaemon) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is none of a test's business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # head and body in one segment: two would wait for each other, 40 ms a call
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer hello, grants and events."""
        fake = cast("_Server", self.server).fake
        body = decode(self.rfile.read(int(self.headers["Content-Length"])))
        if fake.silent:
            fake.stopped.wait()
            self.close_connection = True
        elif self.path == "/v1/hello":
            phase: JsonObject = {"version": "0", "api": list(API), "phase": "ready"}
            self._answer(200, {**phase, "stale_code": False, "mac": fake.mac(str(body["nonce"]))})
        elif self.path == "/v1/grants":
            self._grant(fake, body)
        else:
            self._events(fake, body)

    def _grant(self, fake: FakeDaemon, body: JsonObject) -> None:
        if self.headers["Authorization"] != f"Owner {fake.record.secret}":
            self._answer(401, _error("unauthenticated"))
            return
        token = tokens.mint()
        fake.tokens.add(token)
        fake.grants.append(body)
        self._answer(201, {"id": "g", "token": token, "namespaces": {"user:local": "editor"}})

    def _events(self, fake: FakeDaemon, body: JsonObject) -> None:
        if self.headers["Authorization"].removeprefix("Bearer ") not in fake.tokens:
            self._answer(401, _error("unauthenticated"))
            return
        if fake.breaks:
            fake.breaks -= 1
            self.close_connection = True
            return
        if fake.status != 200:
            self._answer(fake.status, fake.said)
            return
        fake.events += body["events"]
        fake.replies.append(bool(body["reply"]))
        fake.checkouts.append(self.headers["Recalld-Checkout"])
        self._answer(200, fake.said)

    def _answer(self, status: int, body: Mapping[str, object]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing on stderr."""


def _error(code: str) -> JsonObject:
    return {"error": {"code": code, "message": "No.", "hint": ""}}


def _record(port: int) -> Record:
    return Record(
        instance=os.urandom(8).hex(),
        pid=os.getpid(),
        boot_id=record.boot_id(),
        host_id=record.host_id(),
        host="127.0.0.1",
        port=port,
        secret=os.urandom(32).hex(),
        version="0",
        api=API,
        managed_by="foreground",
        started_at="2026-01-01T00:00:00.000Z",
    )
