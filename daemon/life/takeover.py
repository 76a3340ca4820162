"""`--takeover`: a service manager's daemon asks one that a client had spawned to leave."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Generator

from ...auth import hello, record
from ...auth.errors import RecalldError
from ...auth.paths import Layout

PATIENCE = 2.0
"""Seconds a daemon on the same machine gets for all of it, however it spreads its bytes."""


def ask_to_leave(layout: Layout) -> bool:
    """Stop the spawned daemon of this data folder, if there is one; whether it agreed.

    It proves itself on the same connection first: the port may be someone else's by now. Anything
    that goes wrong is left to the lock, which then says who is there.
    """
    trouble = (RecalldError, record.StaleRecord, OSError, http.client.HTTPException, ValueError)
    with contextlib.suppress(*trouble):
        found = record.read(layout)
        if found is not None and found.managed_by == "spawn":
            return _stop(found)
    return False


def _stop(found: record.Record) -> bool:
    connection = http.client.HTTPConnection(found.host, found.port, timeout=PATIENCE)
    with contextlib.closing(connection), _cut_off(connection):
        # From here on http.client must not reconnect by itself: it would be another peer.
        connection.auto_open = 0
        nonce = hello.new_nonce()
        answer = _post(connection, "/v1/hello", {"nonce": nonce}, {})
        if not hello.check(found, nonce, str(answer.get("mac", ""))):
            return False
        owner = {"Authorization": f"Owner {found.secret}"}
        reply = _post(connection, "/v1/stop", {"reason": "a service takes over"}, owner)
        return reply.get("result") == "draining"


@contextlib.contextmanager
def _cut_off(connection: http.client.HTTPConnection) -> Generator[None]:
    """Connect, and end every wait on the socket when patience does: its time-out is per read."""
    connection.connect()
    timer = threading.Timer(PATIENCE, _unplug, [connection.sock])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _unplug(peer: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has hung up by itself
        peer.shutdown(socket.SHUT_RDWR)


def _post(
    connection: http.client.HTTPConnection, path: str, body: object, headers: dict[str, str]
) -> dict[str, object]:
    sent = {"Content-Type": "application/json", **headers}
    connection.request("POST", path, json.dumps(body), sent)
    answer: object = json.loads(connection.getresponse().read(65_536))
    return {str(k): v for k, v in answer.items()} if isinstance(answer, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
