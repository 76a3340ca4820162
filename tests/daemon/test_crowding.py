"""Nobody without a token keeps those who have one out, and nobody takes busy for a stranger."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.auth import record
from recalld.auth.errors import Busy
from recalld.auth.paths import layout
from recalld.client.connection import greeting
from recalld.client.connection.http1 import Answer

from tests.daemon import raw
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.harness import processes
from tests.harness.http import Http
from tests.harness.waiting import eventually

CAP = 16
PIPELINED = 80
"""Requests whose answers, unread, fill every buffer on the way."""


def unread(port: int) -> socket.socket:
    """A connection that asks for much and reads nothing."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(5)
    sock.connect(("127.0.0.1", port))
    sock.sendall(raw.head(port, "GET", "/openapi.json") * PIPELINED)
    return sock


def unsaid(port: int) -> socket.socket:
    """A connection that begins a hello and does not finish it."""
    sock = raw.connect(port)
    lines = ("Content-Type: application/json", "Content-Length: 200")
    sock.sendall(raw.head(port, "POST", "/v1/hello", *lines) + b"{")
    return sock


@pytest.fixture
def crowded(start: Starter, tmp_path: Path) -> Iterator[tuple[Started, Http]]:
    """A daemon whose places are all taken by people without a token, half of each kind."""
    daemon = start(max_connections=CAP).ready()
    client = daemon.client(tmp_path)
    client.store("the crowd does not matter")
    client.close()
    with contextlib.ExitStack() as held:
        for number in range(CAP):
            kind = unread if number % 2 else unsaid
            held.enter_context(contextlib.closing(kind(daemon.port)))
        yield daemon, client


def test_strangers_take_no_places(crowded: tuple[Started, Http]) -> None:
    """With the cap filled by unread answers and unsaid hellos, calls get through."""
    daemon, client = crowded
    for _ in range(5):
        health = raw.send(daemon.port, raw.head(daemon.port, "GET", "/v1/health"))
        assert raw.status(health) == 200
    assert eventually(lambda: _recalled(client), within=3)


def test_the_command_line_gets_through_a_crowd(
    crowded: tuple[Started, Http], tmp_path: Path
) -> None:
    """A command started at the cap is answered, and takes nobody for an imposter."""
    daemon, _ = crowded
    done = subprocess.run(
        ["recalld", "recall", "crowd"],
        env={"PATH": _path(), "HOME": str(tmp_path), "RECALLD_HOME": str(daemon.data)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    assert "imposter" not in done.stderr


def test_at_the_cap_hello_is_still_answered(start: Starter, tmp_path: Path) -> None:
    """With every place taken by streams a command says busy, not imposter, and starts nothing."""
    daemon = start(max_connections=8, max_streams=50).ready()
    client = daemon.client(tmp_path)
    token = f"Authorization: Bearer {client.token}"
    with contextlib.ExitStack() as held:
        for _ in range(8):
            stream = held.enter_context(raw.connect(daemon.port))
            stream.sendall(raw.head(daemon.port, "GET", "/v1/stream", token))
            assert stream.recv(4096).startswith(b"HTTP/1.1 200")
        done = subprocess.run(
            ["recalld", "recall", "anything", "--timeout", "2"],
            env={"PATH": _path(), "HOME": str(tmp_path), "RECALLD_HOME": str(daemon.data)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert done.returncode == 75, done.stderr
        assert "Too many connections" in done.stderr
        assert "not our daemon" not in done.stderr
    assert daemon.pids() == [daemon.pid]


@pytest.mark.parametrize("status", [429, 503])
def test_who_is_busy_is_no_imposter(start: Starter, status: int) -> None:
    """A hello told to come back is told to the user as that."""
    daemon = start().ready()
    found = record.read(layout({"RECALLD_HOME": str(daemon.data)}))
    assert found is not None
    answer = Answer(status, {}, b"later", reusable=False)
    with pytest.raises(Busy):
        greeting.judge(found, "0" * 64, answer)


def test_an_answer_nobody_reads_ends(start: Starter) -> None:
    """A connection whose answers are not taken is cut off, closed or not, and gives back all."""
    daemon = start(write_timeout_s=0.3).ready()
    # By then it has opened what it opens for itself behind the start.
    eventually(lambda: daemon.owner().get("/v1/status").json["embedding"]["state"] == "ready")
    at_rest = len(processes.open_files(daemon.pid))
    with contextlib.ExitStack() as held:
        for _ in range(10):
            held.enter_context(contextlib.closing(unread(daemon.port)))
        eventually(lambda: len(processes.open_files(daemon.pid)) <= at_rest, within=5)


def test_a_hello_is_given_little_time(start: Starter) -> None:
    """The body of a hello that does not come is 408 long before anybody else's would be."""
    daemon = start().ready()
    with contextlib.closing(unsaid(daemon.port)) as sock:
        sock.settimeout(6)
        assert raw.status(raw.answer(sock)) == 408


@pytest.mark.slow
def test_a_stream_nobody_reads_is_cut_off(start: Starter, tmp_path: Path) -> None:
    """A reader of the feed that falls behind loses its connection, not only its place."""
    daemon = start(write_timeout_s=0.5, heartbeat_s=0.1).ready()
    client = daemon.client(tmp_path)
    token = f"Authorization: Bearer {client.token}"
    with contextlib.closing(socket.socket()) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        stream.connect(("127.0.0.1", daemon.port))
        stream.sendall(raw.head(daemon.port, "GET", "/v1/stream", token))
        eventually(lambda: client.get("/v1/status").json["streams"] == 1)
        turns = iter(range(60))
        while client.get("/v1/status").json["streams"]:
            turn = next(turns)
            items = [{"content": f"{turn} {n}"} for n in range(1000)]
            assert client.post("/v1/memories/batch", {"items": items}).status == 200
        eventually(lambda: _connections(daemon) <= 1, within=10)


def _recalled(client: Http) -> bool:
    status = client.post("/v1/recall", {"query": "crowd"}).status
    assert status in {200, 429}
    return status == 200


def _connections(daemon: Started) -> int:
    return int(daemon.owner().get("/v1/status").json["connections"])


def _path() -> str:
    return str(Path(sys.executable).parent) + ":/usr/bin:/bin"
