"""Limits while reading: size, time, depth; each ends in a 4xx and a closed connection."""

from __future__ import annotations

import contextlib
import json
import select
from pathlib import Path

import pytest

from tests.daemon import raw
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.harness import processes
from tests.harness.http import Http
from tests.harness.waiting import eventually

JSON = "Content-Type: application/json"
MEBIBYTE = 1 << 20


def authorized(client: Http, path: str, *lines: str) -> bytes:
    """The head of a POST with the client's token."""
    token = f"Authorization: Bearer {client.token}"
    return raw.head(client.port, "POST", path, token, JSON, *lines)


@pytest.mark.parametrize(("size", "status"), [(MEBIBYTE, 413), (MEBIBYTE + 1, 413)])
def test_the_body_cap_is_exact(client: Http, size: int, status: int) -> None:
    """At the cap a body is read (and its field found too long), beyond it is not even read."""
    shell = len(json.dumps({"content": ""}))
    body = json.dumps({"content": "x" * (size - shell)}).encode()
    reply = client.send(
        "POST", "/v1/memories", raw=body, headers={"Content-Type": "application/json"}
    )
    assert (reply.status, reply.code) == (status, "payload_too_large")
    assert ("Field" in reply.json["error"]["message"]) == (size == MEBIBYTE)


def test_a_body_announced_too_large_is_refused_unread(client: Http) -> None:
    """A Content-Length over the cap is refused by the head alone."""
    reply = raw.send(
        client.port, authorized(client, "/v1/memories", "Content-Length: 999999999999")
    )
    assert (raw.status(reply), raw.code(reply)) == (413, "payload_too_large")


def test_an_endless_chunked_body_is_cut_off(served: Started, client: Http) -> None:
    """Chunks are counted as they come; the refusal arrives although the client still sends."""
    before = processes.resident_bytes(served.pid)
    with raw.connect(client.port) as connection:
        connection.sendall(authorized(client, "/v1/memories", "Transfer-Encoding: chunked"))
        chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
        try:
            for _ in range(200):
                connection.sendall(chunk)
        except (BrokenPipeError, ConnectionResetError):
            pass
        reply = raw.answer(connection)
    assert raw.status(reply) in {0, 413}
    assert processes.resident_bytes(served.pid) - before < 8 * MEBIBYTE


def test_without_a_token_bodies_are_small(served: Started) -> None:
    """On open routes 4 KiB is enough for anyone."""
    body = json.dumps({"nonce": "0" * 64, "version": "x" * 5000}).encode()
    head = raw.head(served.port, "POST", "/v1/hello", JSON, f"Content-Length: {len(body)}")
    reply = raw.send(served.port, head + body)
    assert raw.status(reply) == 413


def test_without_rights_a_body_is_not_read(served: Started) -> None:
    """A missing token is answered before the body is looked at."""
    head = raw.head(served.port, "POST", "/v1/memories", JSON, "Content-Length: 1000000")
    reply = raw.send(served.port, head)
    assert raw.status(reply) == 401
    assert b"connection: close" in reply.lower()


def test_heads_are_capped(served: Started) -> None:
    """A head over 16 KiB is 431."""
    lines = [f"X-{number}: {'y' * 1000}" for number in range(30)]
    reply = raw.send(served.port, raw.head(served.port, "GET", "/v1/health", *lines))
    assert (raw.status(reply), raw.code(reply)) == (431, "headers_too_large")


def test_slow_heads_and_bodies_run_out_of_time(start: Starter, tmp_path: Path) -> None:
    """A head that does not come closes the connection, a body that does not come is 408."""
    daemon = start(head_timeout_s=0.5, body_timeout_s=0.5).ready()
    client = daemon.client(tmp_path)
    with raw.connect(daemon.port) as silent, raw.connect(daemon.port) as half:
        half.sendall(b"GET /v1/health HT")
        assert silent.recv(1) == b""
        assert raw.status(raw.answer(half)) == 408
    with raw.connect(daemon.port) as slow:
        slow.sendall(authorized(client, "/v1/memories", "Content-Length: 100") + b'{"content"')
        reply = raw.answer(slow)
    assert (raw.status(reply), raw.code(reply)) == (408, "request_timeout")


def test_a_body_shorter_than_announced_stores_nothing(client: Http) -> None:
    """A client that leaves in the middle of its body has asked for nothing."""
    body = json.dumps({"content": "half a thought"}).encode()
    with raw.connect(client.port) as connection:
        head = authorized(client, "/v1/memories", f"Content-Length: {len(body) + 10}")
        connection.sendall(head + body)
    assert client.get("/v1/memories").json["items"] == []


def test_large_bodies_share_a_budget(start: Starter, tmp_path: Path) -> None:
    """Bodies being read together may hold so much; the next sender is told to wait."""
    daemon = start(max_buffered=MEBIBYTE).ready()
    client = daemon.client(tmp_path)
    most = authorized(client, "/v1/memories", "Content-Length: 900000") + b" " * 800_000
    with raw.connect(daemon.port) as first, raw.connect(daemon.port) as second:
        for sender in (first, second):
            sender.sendall(most)
        refused, _, _ = select.select([first, second], [], [], 10)
        reply = raw.answer(refused[0])
        assert raw.code(reply) == "busy"
        assert b"retry-after: 1" in reply
    eventually(lambda: client.post("/v1/memories", {"content": "room again"}).status == 201)


def test_an_announced_body_takes_no_room(start: Starter, tmp_path: Path) -> None:
    """Senders that announce the whole budget and send nothing of it are in nobody's way."""
    daemon = start(max_buffered=MEBIBYTE).ready()
    client = daemon.client(tmp_path)
    with contextlib.ExitStack() as held:
        for _ in range(10):
            slow = held.enter_context(raw.connect(daemon.port))
            slow.sendall(authorized(client, "/v1/memories", "Content-Length: 1000000") + b"{")
        for number in range(5):
            client.store(f"beside slow senders {number}")


def test_a_body_that_was_read_keeps_the_connection(client: Http) -> None:
    """An error about what a body says leaves the connection usable; an unread body does not."""
    kept = Http(client.port, token=client.token, keep=True)
    reply = kept.post("/v1/memories", {"content": 1})
    assert (reply.status, "connection" in reply.headers) == (400, False)
    reply = kept.call("DELETE", "/v1/memories/01AAAAAAAAAAAAAAAAAAAAAAAA", {})
    assert reply.status == 400
    assert reply.headers["connection"] == "close"
    kept.close()
