"""Stopping: everything acknowledged or cleanly refused, and gone within seconds."""

from __future__ import annotations

import http.client
import json
import signal
import threading
import time
from contextlib import ExitStack

import pytest

from tests.harness import processes
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.http import Http
from tests.harness.raw import connected, head, status_of
from tests.harness.waiting import eventually

WRITERS = 40
GRACE_S = 5.0


def write_until_refused(client: Http, name: int, acknowledged: list[str], odd: list[str]) -> None:
    """Store one note after another until the daemon refuses or is gone; note what was promised."""
    for n in range(100_000):
        text = f"writer {name} note {n}"
        try:
            reply = client.post("/v1/memories", {"content": text})
        except (OSError, http.client.HTTPException):
            return
        if reply.status in {200, 201}:
            acknowledged.append(text)
        elif reply.status == 503 and reply.code == "draining":
            return
        elif reply.status != 429:
            odd.append(f"{reply.status} {reply.body[:200]!r}")
            return


def everything(client: Http) -> set[str]:
    """The content of all memories the client can list."""
    found: set[str] = set()
    cursor = ""
    while True:
        page = client.get(f"/v1/memories?limit=100{cursor}").json
        found |= {item["content"] for item in page["items"]}
        if not page["next_cursor"]:
            return found
        cursor = f"&cursor={page['next_cursor']}"


def assert_ended_in_time(daemon: Daemon, pid: int, started: float) -> None:
    """The process is gone within its grace period, said so, and left the lock file."""
    eventually(lambda: processes.gone(pid), within=GRACE_S * 3)
    assert time.monotonic() - started < GRACE_S + 2
    assert not daemon.record_path.exists()
    exits = list(daemon.data.rglob("last-exit.json"))
    assert len(exits) == 1
    assert len(list(daemon.data.rglob("daemon.lock"))) == 1


def test_sigterm_under_load_loses_nothing(recalld: Cli, daemon: Daemon, http: Http) -> None:
    """40 writers, open event streams and half a body: exit in 5 s, every promise kept."""
    acknowledged: list[str] = []
    odd: list[str] = []
    threads = [
        threading.Thread(
            target=write_until_refused, args=(http.as_token(http.token), n, acknowledged, odd)
        )
        for n in range(WRITERS)
    ]
    token = f"Authorization: Bearer {http.token}"
    with ExitStack() as stack:
        for _ in range(10):
            stream = stack.enter_context(connected(daemon.port))
            stream.sendall(head("GET", "/v1/stream", daemon.port, token, close=False))
            assert status_of(stream.recv(4096)) == 200
        slow = stack.enter_context(connected(daemon.port))
        lines = [token, "Content-Type: application/json", "Content-Length: 1000"]
        slow.sendall(head("POST", "/v1/memories", daemon.port, *lines) + b'{"content": "half')
        half_head = stack.enter_context(connected(daemon.port))
        half_head.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: ")
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) > WRITERS)
        pid = daemon.pid
        started = time.monotonic()
        processes.send(pid, signal.SIGTERM)
        assert_ended_in_time(daemon, pid, started)
    for thread in threads:
        thread.join(timeout=30)
    assert odd == []
    recalld.ok("start")
    assert set(acknowledged) <= everything(daemon.http(http.token))
    assert len(daemon.pids()) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_every_ending_signal_is_a_clean_end(daemon: Daemon, number: signal.Signals) -> None:
    """SIGTERM and SIGINT drain; a hang-up does nothing worse."""
    pid = daemon.pid
    processes.send(pid, number)
    if number == signal.SIGHUP:
        if not processes.exists(pid):
            assert not daemon.record_path.exists()
        return
    assert_ended_in_time(daemon, pid, time.monotonic())


def test_two_signals_still_end_cleanly(daemon: Daemon, http: Http) -> None:
    """A second Ctrl-C does not skip the clean-up."""
    http.store("before the end")
    pid = daemon.pid
    processes.send(pid, signal.SIGINT)
    processes.send(pid, signal.SIGINT)
    assert_ended_in_time(daemon, pid, time.monotonic())


def test_stopping_is_idempotent_and_final(recalld: Cli, daemon: Daemon) -> None:
    """`stop` ends the daemon, and says so when there is none."""
    pid = daemon.pid
    recalld.ok("stop")
    eventually(lambda: processes.gone(pid))
    assert not daemon.record_path.exists()
    assert recalld("stop").returncode in {0, 69}
    assert daemon.pids() == []


def test_a_restart_serves_what_was_stored(recalld: Cli, daemon: Daemon) -> None:
    """`restart` replaces the process and keeps every memory."""
    recalld.ok("store", "kept over the restart")
    pid = daemon.pid
    recalld.ok("restart")
    assert daemon.pid != pid
    assert "kept over the restart" in recalld.ok("recall", "kept over the restart")


def test_nothing_is_left_in_the_wal(recalld: Cli, daemon: Daemon, http: Http) -> None:
    """A clean end folds the write-ahead log into the database."""
    for n in range(50):
        http.store(f"note {n}")
    recalld.ok("stop")
    eventually(lambda: daemon.pids() == [])
    wals = [path for path in daemon.data.rglob("*-wal") if path.stat().st_size]
    assert wals == []


def test_a_draining_daemon_serves_what_it_began(daemon: Daemon, http: Http) -> None:
    """Requests in flight at the stop are answered; later ones are told to come again."""
    body = json.dumps({"content": "in flight"}).encode()
    token = f"Authorization: Bearer {http.token}"
    lines = [token, "Content-Type: application/json", f"Content-Length: {len(body)}"]
    with connected(daemon.port) as sock:
        sock.sendall(head("POST", "/v1/memories", daemon.port, *lines) + body[:-5])
        reply = daemon.owner().post("/v1/stop", {})
        assert reply.status == 202
        try:
            sock.sendall(body[-5:])
            answer = sock.recv(65536)
        except (TimeoutError, ConnectionError):
            answer = b""
    assert status_of(answer) in {201, 503}
    if status_of(answer) == 503:
        assert b"draining" in answer
    eventually(lambda: daemon.pids() == [], within=GRACE_S * 2)


def test_no_wrong_daemon_is_ever_left(recalld: Cli, daemon: Daemon) -> None:
    """Stop and start in quick turns always end with one published daemon."""
    for _ in range(3):
        recalld.ok("stop")
        recalld.ok("recall", "anything")
        assert daemon.pids() == [daemon.pid]
