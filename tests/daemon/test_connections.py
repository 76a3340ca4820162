"""Connections: counted, capped, evicted when idle, kept alive when used."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import statistics
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from recalld.daemon.life.descriptors import RESERVE, connections_within
from recalld.daemon.network.connections import OVERDRAFT

from tests.daemon import raw
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.harness import processes
from tests.harness.http import Http
from tests.harness.waiting import eventually


@contextlib.contextmanager
def many_connections(port: int, number: int) -> Generator[list[socket.socket]]:
    """So many open, silent connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(number + 200, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    with contextlib.ExitStack() as held:
        held.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        yield [held.enter_context(raw.connect(port)) for _ in range(number)]


def test_1300_idle_connections_do_not_stop_a_call(served: Started, client: Http) -> None:
    """Clients that connect and say nothing cost a descriptor each, and nobody's call."""
    with many_connections(served.port, 1300):
        assert client.store("while all those sit there")
    eventually(lambda: len(processes.open_files(served.pid)) < 200)


def test_beyond_the_cap_the_longest_idle_goes(start: Starter) -> None:
    """A new connection over the cap takes the place of the one that was idle longest."""
    daemon = start(max_connections=8).ready()
    with many_connections(daemon.port, 8) as idle:
        assert eventually(lambda: _health(daemon) == 200 and _closed(idle[0]))
        assert not _closed(idle[-1])


def test_busy_connections_are_never_evicted(start: Starter, tmp_path: Path) -> None:
    """With every place taken by a stream, a newcomer is told 429 and the streams go on."""
    daemon = start(max_connections=8, max_streams=50).ready()
    client = daemon.client(tmp_path)
    token = f"Authorization: Bearer {client.token}"
    with many_connections(daemon.port, 8) as streams:
        for stream in streams:
            stream.sendall(raw.head(daemon.port, "GET", "/v1/stream", token))
            assert stream.recv(4096).startswith(b"HTTP/1.1 200")
        reply = raw.send(daemon.port, raw.head(daemon.port, "GET", "/v1/stats", token))
        assert (raw.status(reply), raw.code(reply)) == (429, "busy")
        assert _health(daemon) == 200
        assert not any(_closed(stream) for stream in streams)


def test_a_flood_of_silent_clients_keeps_nobody_out(start: Starter, tmp_path: Path) -> None:
    """200 silent clients against a cap of 40: a real call gets through, and the rest goes."""
    daemon = start(max_connections=40).ready()
    client = daemon.client(tmp_path)
    with many_connections(daemon.port, 200):
        assert eventually(lambda: _answered(client)) == 201
        assert len(processes.open_files(daemon.pid)) < 40 + OVERDRAFT + RESERVE
    eventually(lambda: len(processes.open_files(daemon.pid)) < 40)


@pytest.mark.slow
def test_under_a_low_limit_it_sheds_and_recovers(start: Starter, tmp_path: Path) -> None:
    """With 128 descriptors in all, 200 silent clients end in evictions, and calls get through."""
    daemon = start("--managed-by", "spawn", limit_files=128).ready()
    client = daemon.client(tmp_path)
    with many_connections(daemon.port, 200):
        assert eventually(lambda: _answered(client)) == 201
        assert len(processes.open_files(daemon.pid)) <= 128
    eventually(lambda: len(processes.open_files(daemon.pid)) < 60)


def test_a_cap_leaves_descriptors_for_the_store() -> None:
    """The cap is what the limit leaves after the reserve, within sane bounds."""
    assert connections_within(128, 4096) == 128 - RESERVE
    assert connections_within(8192, 4096) == 4096
    assert connections_within(10, 4096) == 8


def test_answers_leave_at_once_and_in_one_piece(client: Http) -> None:
    """Nagle's algorithm is off (B.9 row 9): half of 50 keep-alive calls take under 10 ms."""
    request = raw.head(client.port, "GET", "/v1/health")
    times: list[float] = []
    with raw.connect(client.port) as connection:
        for _ in range(50):
            begun = time.perf_counter()
            connection.sendall(request)
            piece = connection.recv(65_536)
            times.append(time.perf_counter() - begun)
            assert piece.endswith(b"}")  # head and body came together
    assert statistics.median(times) < 0.010


def test_pipelined_requests_are_answered_in_order(client: Http) -> None:
    """Two requests sent together get two answers."""
    two = raw.head(client.port, "GET", "/v1/health") + raw.head(client.port, "GET", "/nothing")
    with raw.connect(client.port) as connection:
        connection.sendall(two)
        got = b""
        while got.count(b"HTTP/1.1") < 2:
            got += connection.recv(65_536)
    assert got.index(b" 200 ") < got.index(b" 404 ")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_client_may_ask_to_close(client: Http, version: str) -> None:
    """`Connection: close` (and HTTP/1.0) end the connection after the answer."""
    request = raw.head(client.port, "GET", "/v1/health", "Connection: close", version=version)
    with raw.connect(client.port) as connection:
        connection.sendall(request)
        whole = b"".join(iter(lambda: connection.recv(4096), b""))
    assert json.loads(whole.partition(b"\r\n\r\n")[2])["status"] == "ok"


def _health(daemon: Started) -> int:
    return raw.status(raw.send(daemon.port, raw.head(daemon.port, "GET", "/v1/health")))


def _answered(client: Http) -> int:
    """201 once a store got through; 429 until then is an answer, too."""
    status = client.post("/v1/memories", {"content": "through the crowd"}).status
    assert status in {201, 429}
    return status if status == 201 else 0


def _closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
