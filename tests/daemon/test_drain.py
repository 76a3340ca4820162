"""Ending: what was begun is finished, what was not is refused, and nothing holds it up."""

from __future__ import annotations

import contextlib
import signal
import threading
from pathlib import Path

import pytest

from tests.daemon import raw
from tests.daemon.burst import statuses
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.daemon.test_admission import post
from tests.harness.http import Http
from tests.harness.waiting import eventually


@pytest.mark.parametrize("clingers", [False, True])
def test_writes_at_sigterm_are_stored_or_refused(
    start: Starter, tmp_path: Path, clingers: bool
) -> None:
    """40 stores under way: each is acknowledged and there, or 503 and not; exit 0 in 5 s.

    The clingers are open streams, half-sent bodies and half-sent heads.
    """
    daemon = start().ready()
    client = daemon.client(tmp_path)
    requests = [post(client, "/v1/memories", {"content": f"item {n}"}) for n in range(40)]
    with contextlib.ExitStack() as held:
        if clingers:
            _cling(daemon, client, held)
        timer = threading.Timer(0.01, daemon.signal)
        timer.start()
        answers = statuses(daemon.port, requests)
        timer.join()
        assert daemon.exit_code(within=5) == 0

    assert set(answers) <= {0, 201, 503}  # 0: it knocked after the listener had closed
    kept = {f"item {n}" for n, status in enumerate(answers) if status == 201}
    again = start().ready()
    mine = Http(again.port, token=client.token)
    assert {i["content"] for i in mine.get("/v1/memories?limit=200").json["items"]} == kept


def test_while_draining_only_hello_and_health_answer(start: Starter, tmp_path: Path) -> None:
    """A connection from before learns: hello says draining, everything else is 503 at once."""
    daemon = start(drain_s=5, workers=1, waiting=400).ready()
    client = daemon.client(tmp_path)
    owner, port = daemon.owner(), daemon.port
    token = f"Authorization: Bearer {client.token}"
    _hold(client, daemon.owner(), 3000)
    slow = post(client, "/v1/search", {"query": "word", "limit": 100})
    with contextlib.ExitStack() as held:
        kept, greeted = (held.enter_context(raw.connect(port)) for _ in range(2))
        for connection in (kept, greeted):
            connection.sendall(raw.head(daemon.port, "GET", "/v1/health"))
            assert raw.status(raw.answer(connection)) == 200
        for _ in range(100):
            held.enter_context(raw.connect(daemon.port)).sendall(slow)
        assert owner.post("/v1/stop", {"reason": "test"}).status == 202
        assert not daemon.record_path.exists()
        kept.sendall(raw.head(port, "GET", "/v1/memories", token))
        refused = raw.answer(kept)
        greeted.sendall(raw.head(port, "GET", "/v1/health"))
        health = raw.answer(greeted)
    assert (raw.status(refused), raw.code(refused)) == (503, "draining")
    assert b"retry-after: 0" in refused
    assert raw.body(health)["phase"] == "draining"
    assert daemon.exit_code() == 0


def test_stop_answers_after_the_record_is_gone(start: Starter) -> None:
    """Whoever gets the answer to stop finds no record any more."""
    daemon = start().ready()
    reply = daemon.owner().post("/v1/stop", {"reason": "an upgrade"})
    assert (reply.status, reply.json["result"]) == (202, "draining")
    assert not daemon.record_path.exists()
    assert daemon.exit_code() == 0
    assert b"an upgrade" in (daemon.data / "run" / "last-exit.json").read_bytes()


def test_a_second_interrupt_hurries_but_cleans_up(start: Starter, data: Path) -> None:
    """SIGINT twice: still exit 0, no record, an empty WAL."""
    daemon = start().ready()
    daemon.signal(signal.SIGINT)
    daemon.signal(signal.SIGINT)
    assert daemon.exit_code() == 0
    assert not daemon.record_path.exists()
    assert not (data / "memory.db-wal").exists()


def test_a_signal_during_start_ends_it(start: Starter) -> None:
    """SIGTERM before the first answer: it goes, and leaves no record."""
    for _ in range(3):
        daemon = start()
        daemon.signal()
        assert daemon.exit_code() in {0, -signal.SIGTERM}
        assert not daemon.record_path.exists()


def test_kill_9_leaves_a_store_that_opens(start: Starter, tmp_path: Path) -> None:
    """Every acknowledged store survives kill -9; the next daemon takes over the stale record."""
    daemon = start().ready()
    client = daemon.client(tmp_path)
    ids = {client.store(f"acknowledged {n}") for n in range(20)}
    daemon.process.kill()
    daemon.process.wait()
    again = start().ready()
    mine = Http(again.port, token=client.token)
    assert {item["id"] for item in mine.get("/v1/memories").json["items"]} == ids


def _cling(daemon: Started, client: Http, held: contextlib.ExitStack) -> None:
    token = f"Authorization: Bearer {client.token}"
    for _ in range(20):
        stream = held.enter_context(raw.connect(daemon.port))
        stream.sendall(raw.head(daemon.port, "GET", "/v1/stream", token))
        assert stream.recv(4096).startswith(b"HTTP/1.1 200")
    for _ in range(10):
        body = held.enter_context(raw.connect(daemon.port))
        body.sendall(post(client, "/v1/memories", {"content": "never complete"})[:-5])
        half = held.enter_context(raw.connect(daemon.port))
        half.sendall(b"GET /v1/hea")


def _hold(client: Http, owner: Http, number: int) -> None:
    for first in range(0, number, 1000):
        items = [{"content": f"word {n}"} for n in range(first, first + 1000)]
        assert client.post("/v1/memories/batch", {"items": items}).status == 200
    eventually(lambda: owner.get("/v1/status").json["queue"] == 0)
