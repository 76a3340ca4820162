"""Stopping: everything acknowledged or cleanly refused, and gone within seconds."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.harness import processes
from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.http import Http, Reply
from tests.harness.raw import connected, head, status_of
from tests.harness.waiting import eventually

WRITERS = 40
GRACE_S = 5.0
BATCH = 200


class Written:
    """What writers were promised, and what they were refused or never told about."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.refused: list[str] = []
        self.odd: list[str] = []

    def note(self, texts: list[str], reply: Reply) -> bool:
        """Sort one answer in; whether its writer may go on."""
        if reply.status in {200, 201}:
            results = reply.json.get("results", [reply.json])
            if all("id" in result for result in results):
                self.acknowledged += texts
                return True
        if reply.status in {429, 503} and reply.code in {"busy", "draining"}:
            self.refused += texts
            return reply.status == 429
        self.odd.append(f"{reply.status} {reply.body[:200]!r}")
        return False


def write_until_refused(client: Http, name: int, written: Written, batch: int) -> None:
    """Store one piece after another until the daemon refuses or is gone; note what was promised.

    A connection that was reset is a refusal: what was on it must not have been stored.
    """
    for n in range(100_000):
        texts = [f"writer {name} note {n} {part}" for part in range(batch)]
        items = [{"content": text + " " * 500 + "end"} for text in texts]
        try:
            if batch == 1:
                reply = client.post("/v1/memories", {"content": texts[0]})
            else:
                reply = client.post("/v1/memories/batch", {"items": items})
        except (OSError, http.client.HTTPException):
            written.refused += texts
            return
        if not written.note(texts, reply):
            return


def everything(client: Http) -> set[str]:
    """The content of all memories the client can list, without their padding."""
    found: set[str] = set()
    cursor = ""
    while True:
        page = client.get(f"/v1/memories?limit=100{cursor}").json
        found |= {item["content"].partition("  ")[0] for item in page["items"]}
        if not page["next_cursor"]:
            return found
        cursor = f"&cursor={page['next_cursor']}"


@pytest.fixture
def foreground(recalld: Cli, any_daemon: Daemon) -> Iterator[subprocess.Popen[bytes]]:
    """`recalld serve`, ready: a daemon whose exit status can be asked for."""
    process = subprocess.Popen(
        [*program(), "serve"],
        cwd=recalld.cwd,
        env=recalld.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: any_daemon.published, within=20)
        yield process
    finally:
        process.kill()
        process.wait()


def assert_ended_in_time(daemon: Daemon, process: subprocess.Popen[bytes]) -> None:
    """The process ends within its grace period with status 0, said so, and left the lock file."""
    assert process.wait(GRACE_S) == 0
    assert not daemon.record_path.exists()
    exits = list(daemon.data.rglob("last-exit.json"))
    assert len(exits) == 1
    assert len(list(daemon.data.rglob("daemon.lock"))) == 1


def test_sigterm_under_load_loses_nothing(
    recalld: Cli, foreground: subprocess.Popen[bytes], any_daemon: Daemon
) -> None:
    """40 writers, two of them of batches, streams and half a body: exit in 5 s, promises kept."""
    daemon = any_daemon
    client = daemon.http(daemon.grant(checkout=str(recalld.cwd))["token"])
    written = Written()
    threads = [
        threading.Thread(
            target=write_until_refused,
            args=(client.as_token(client.token), n, written, BATCH if n < 2 else 1),
        )
        for n in range(WRITERS)
    ]
    token = f"Authorization: Bearer {client.token}"
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
        eventually(lambda: len(written.acknowledged) > 2 * BATCH)
        foreground.send_signal(signal.SIGTERM)
        assert_ended_in_time(daemon, foreground)
    for thread in threads:
        thread.join(timeout=30)
    assert written.odd == []
    recalld.ok("start")
    kept = everything(daemon.http(client.token))
    assert set(written.acknowledged) <= kept
    assert not set(written.refused) & kept
    assert len(daemon.pids()) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_every_ending_signal_is_a_clean_end(
    foreground: subprocess.Popen[bytes], any_daemon: Daemon, number: signal.Signals
) -> None:
    """SIGTERM, SIGINT and a hang-up drain, and end in status 0."""
    foreground.send_signal(number)
    assert_ended_in_time(any_daemon, foreground)


def test_two_signals_still_end_cleanly(
    foreground: subprocess.Popen[bytes], any_daemon: Daemon
) -> None:
    """A second Ctrl-C does not skip the clean-up."""
    foreground.send_signal(signal.SIGINT)
    foreground.send_signal(signal.SIGINT)
    assert_ended_in_time(any_daemon, foreground)


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
