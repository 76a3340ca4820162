"""Too much at once: answers or 429, health in time, memory back; abandoned work ends."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path

import pytest

from tests.daemon import raw
from tests.daemon.burst import counted
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.harness import processes, vectors
from tests.harness.http import Http
from tests.harness.waiting import eventually


def post(client: Http, path: str, body: object, *lines: str) -> bytes:
    """A whole POST that asks to close the connection."""
    data = json.dumps(body).encode()
    token = f"Authorization: Bearer {client.token}"
    length = f"Content-Length: {len(data)}"
    kind = "Content-Type: application/json"
    close = "Connection: close"
    return raw.head(client.port, "POST", path, token, kind, length, close, *lines) + data


@pytest.mark.slow
def test_3000_recalls_end_in_answers_or_429(start: Starter, tmp_path: Path) -> None:
    """Nothing else than 200 or 429, somebody is served, and the memory comes back."""
    daemon = start(supervise_s=0.2).ready()
    client = daemon.client(tmp_path)
    client.store("the deployment needs two keys")
    client.recall("how many keys")
    eventually(lambda: vectors.settled(daemon.owner()))
    before = processes.resident_bytes(daemon.pid)

    found = counted(daemon.port, [post(client, "/v1/recall", {"query": "two keys"})] * 3000)

    assert set(found) <= {200, 429}, found
    assert found[200] >= 4
    limit = before + 40 * (1 << 20)
    eventually(lambda: processes.resident_bytes(daemon.pid) < limit, within=20)
    assert client.recall("how many keys")


def test_health_is_answered_while_workers_are_taken(start: Starter, tmp_path: Path) -> None:
    """With one worker and nobody allowed to wait, reads get 429 and health its answer."""
    daemon = start(workers=1, waiting=0).ready()
    client = daemon.client(tmp_path)
    _fill(client, 3000)
    requests = [post(client, "/v1/search", {"query": "word", "limit": 100})] * 40
    seen: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.append(daemon.http().get("/v1/health").status)

    thread = threading.Thread(target=watch)
    thread.start()
    found = counted(daemon.port, requests)
    done.set()
    thread.join()
    assert set(found) == {200, 429}
    assert set(seen) == {200}


def test_a_busy_answer_says_when_to_come_back(start: Starter, tmp_path: Path) -> None:
    """429 carries Retry-After and its milliseconds."""
    daemon = start(workers=1, waiting=0).ready()
    client = daemon.client(tmp_path)
    _fill(client, 3000)
    slow = post(client, "/v1/search", {"query": "word", "limit": 100})
    with contextlib.ExitStack() as held:
        connections = [held.enter_context(raw.connect(daemon.port)) for _ in range(20)]
        for connection in connections:
            connection.sendall(slow)
        replies = [raw.answer(connection) for connection in connections]
    busy = [reply for reply in replies if raw.status(reply) == 429]
    assert busy
    assert b"retry-after: 1" in busy[0]
    assert raw.body(busy[0])["error"]["retry_after_ms"] > 0


def test_the_work_of_gone_clients_is_dropped(start: Starter, tmp_path: Path) -> None:
    """Clients that leave take their queued and running reads with them."""
    daemon = start(waiting=400).ready()
    client = daemon.client(tmp_path)
    _fill(client, 3000)
    request = post(client, "/v1/search", {"query": "word", "limit": 100})
    connections = [raw.connect(daemon.port) for _ in range(300)]
    for connection in connections:
        connection.sendall(request)
    for connection in connections:
        connection.close()
    eventually(lambda: _recalls(daemon.owner()) <= 1, within=5)


def test_a_write_is_finished_although_the_client_left(served: Started, client: Http) -> None:
    """Once its body has arrived a store happens, whole, whoever still listens."""
    for number in range(50):
        with raw.connect(client.port) as connection:
            connection.sendall(post(client, "/v1/memories", {"content": f"left behind {number}"}))
            connection.shutdown(1)
    stored = eventually(lambda: _stable_count(served.owner(), client))
    items = client.get("/v1/memories?limit=200").json["items"]
    assert len(items) == stored
    assert all(item["content"].startswith("left behind") for item in items)


def test_a_deadline_of_the_client_is_kept(served: Started, tmp_path: Path) -> None:
    """timeout_ms ends a recall: an answer, or 503 deadline_exceeded, never a hang."""
    client = served.client(tmp_path)
    _fill(client, 1000)
    begun = time.monotonic()
    reply = client.post("/v1/recall", {"query": "word", "timeout_ms": 1})
    assert reply.status in {200, 503}
    if reply.status == 503:
        assert reply.code == "deadline_exceeded"
    assert time.monotonic() - begun < 5


def _fill(client: Http, number: int) -> None:
    for first in range(0, number, 1000):
        items = [
            {"content": f"word number {n} and more words {n % 7}"}
            for n in range(first, first + 1000)
        ]
        reply = client.post("/v1/memories/batch", {"items": items})
        assert reply.status == 200, reply


def _recalls(owner: Http) -> int:
    reply = owner.get("/v1/status")
    return int(reply.json["recalls"]) if reply.status == 200 else 999


def _stable_count(owner: Http, client: Http) -> int:
    waiting = owner.get("/v1/status").json["queue"]
    return 0 if waiting else int(client.get("/v1/status").json["memories"])


def test_refusals_of_recalls_cost_next_to_nothing(start: Starter, tmp_path: Path) -> None:
    """While every place is taken a recall is refused unparsed; other requests are served."""
    daemon = start(workers=1, waiting=0).ready()
    client = daemon.client(tmp_path)
    _fill(client, 3000)
    slow = post(client, "/v1/search", {"query": "word", "limit": 100})
    replies: list[bytes] = []
    with contextlib.ExitStack() as held:
        connections = [held.enter_context(raw.connect(daemon.port)) for _ in range(30)]
        for connection in connections:
            connection.sendall(slow)
        assert client.post("/v1/memories", {"content": "stored meanwhile"}).status == 201
        replies = [raw.answer(connection) for connection in connections]
    shed = [reply for reply in replies if b"x-request-id: unparsed" in reply]
    assert shed
    assert {raw.status(reply) for reply in shed} == {429}
