"""Web pages, broken clients and floods: refused before any work, and nobody else notices."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.harness import processes, vectors
from tests.harness.daemons import Daemon
from tests.harness.http import Http
from tests.harness.raw import connected, exchange, head, read_all, status_of
from tests.harness.waiting import eventually

MEGABYTE = 1024 * 1024
FLOOD = 3000
STATED = {"good [::1] name", "lower-case scheme, tab", "wrong port in Host"}
"""Both answers are right for these; what matters is that there is one."""


def test_hostile_requests_are_refused(shared: Path, daemon: Daemon, http: Http) -> None:
    """Foreign hosts and origins, doubled headers, forms and garbage: 4xx or closed, never CORS."""
    script = shared / "cases" / "http_hostile.py"
    command = [sys.executable, str(script), str(daemon.port), str(http.token), "/v1/stats"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    wrong: list[str] = []
    for line in done.stdout.splitlines():
        name, want = line[:28].strip(), line.partition(" want ")[2].partition(" got ")[0].strip()
        got = line.partition(" got ")[2]
        status = status_of(got.encode())
        refused = 400 <= status < 500 or got == "<closed>"
        fine = {"2xx": status == 200, "ignored": status == 200}.get(want, refused)
        if not (fine or name in STATED) or "+CORS" in got or status >= 500:
            wrong.append(line)
    assert len(done.stdout.splitlines()) >= 30
    assert wrong == []


ORIGINS = ["Origin: http://evil.example", "Origin: null", "Referer: http://evil.example/x"]


@pytest.mark.parametrize("line", [*ORIGINS, "Sec-Fetch-Site: cross-site", "Host: evil.example"])
def test_a_foreign_page_is_refused_before_any_work(http: Http, line: str) -> None:
    """The refusal comes before the body is read and before the token is looked at."""
    host = line.removeprefix("Host: ") if line.startswith("Host") else None
    lines = ["Content-Type: application/json", "Content-Length: 900000", *([] if host else [line])]
    answer = exchange(http.port, head("POST", "/v1/memories", http.port, *lines, host=host))
    assert status_of(answer) in {403, 421}
    assert b"access-control" not in answer.lower()


@pytest.mark.parametrize("authorized", [True, False])
def test_an_endless_body_is_cut_off_with_flat_memory(
    daemon: Daemon, http: Http, *, authorized: bool
) -> None:
    """100 MB, declared or chunked, ends in 413 (or 401) without the daemon growing."""
    http.recall("whatever loads the model")
    before = processes.resident_bytes(daemon.pid)
    token = [f"Authorization: Bearer {http.token}"] if authorized else []
    wanted = {413} if authorized else {401, 413}
    json_type = "Content-Type: application/json"
    for framing in ("Content-Length: 104857600", "Transfer-Encoding: chunked"):
        lines = [json_type, framing, *token]
        with connected(http.port) as sock:
            sock.sendall(head("POST", "/v1/memories", http.port, *lines))
            piece = b" " * 65536
            if "chunked" in framing:
                piece = b"10000\r\n" + piece + b"\r\n"
            try:
                for _ in range(1600):
                    sock.sendall(piece)
            except (BrokenPipeError, ConnectionResetError, TimeoutError):
                pass
            answer = read_all(sock)
        assert status_of(answer) in wanted, (framing, answer[:200])
    assert processes.resident_bytes(daemon.pid) - before < 16 * MEGABYTE


@pytest.mark.parametrize(("size", "status"), [(1, 201), (64 * 1024, 201), (64 * 1024 + 1, 413)])
def test_the_content_limit_is_exact(http: Http, size: int, status: int) -> None:
    """64 KiB of content are taken, one byte more is refused."""
    reply = http.post("/v1/memories", {"content": "x" * size})
    assert reply.status == status, reply.body[:300]
    if status == 201:
        got = http.get(f"/v1/memories/{reply.json['id']}")
        assert got.json["content"] == "x" * size


@pytest.mark.parametrize(
    ("lines", "statuses"),
    [
        (["X-Long: " + "a" * 200_000], {400, 431}),
        ([f"X-{n}: a" for n in range(5000)], {400, 431}),
        (["Content-Encoding: gzip", "Content-Type: application/json"], {400, 415}),
        (["Expect: 100-continue", "Content-Type: text/html"], {400, 415, 417}),
        (["Content-Length: -1", "Content-Type: application/json"], {400}),
        (["Content-Length: 1e3", "Content-Type: application/json"], {400}),
        (["Content-Length: 2", "Content-Length: 3", "Content-Type: application/json"], {400}),
    ],
    ids=["long header", "many headers", "gzip", "expect", "negative", "float", "two lengths"],
)
def test_odd_heads_are_refused(http: Http, lines: list[str], statuses: set[int]) -> None:
    """Heads that are too large or make no sense get a 4xx or a closed connection."""
    token = f"Authorization: Bearer {http.token}"
    length = [] if any("Length" in line for line in lines) else ["Content-Length: 2"]
    answer = exchange(
        http.port, head("POST", "/v1/memories", http.port, token, *lines, *length) + b"{}"
    )
    assert not answer or status_of(answer) in statuses, answer[:200]


@contextmanager
def descriptors(number: int) -> Generator[None]:
    """So many file descriptors for the test process, for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, number)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_idle_connections_do_not_keep_real_ones_out(daemon: Daemon, http: Http) -> None:
    """1,300 connections that say nothing, some of them half a head, stop no real call."""
    http.recall("whatever loads the model")
    at_rest = len(processes.open_files(daemon.pid))
    with ExitStack() as stack:
        stack.enter_context(descriptors(4096))
        for n in range(1300):
            sock = stack.enter_context(socket.create_connection(("127.0.0.1", daemon.port)))
            if n % 3 == 0:
                sock.sendall(b"GET /v1/status HTTP/1.1\r\nHost: 127.0")
        for _ in range(5):
            assert http.get("/v1/stats").status == 200
        http.store("stored beside 1,300 idle connections")
    eventually(lambda: len(processes.open_files(daemon.pid)) <= at_rest + 8, within=15)


async def _one_recall(port: int, request: bytes) -> int:
    """The status one raw recall ends with; 0 when the connection was closed without an answer."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await writer.drain()
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
    except OSError:
        return 0
    return status_of(answer)


async def _flood(port: int, request: bytes, count: int) -> list[int]:
    return await asyncio.gather(*(_one_recall(port, request) for _ in range(count)))


def recall_request(http: Http, query: str) -> bytes:
    """One whole recall request as bytes."""
    body = json.dumps({"query": query}).encode()
    token = f"Authorization: Bearer {http.token}"
    lines = [token, "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return head("POST", "/v1/recall", http.port, *lines) + body


@pytest.mark.slow
def test_a_flood_of_recalls_ends_in_answers(daemon: Daemon, http: Http) -> None:
    """3,000 recalls at once end in answers or 'busy', and soon memory is what it was, +10 %."""
    for n in range(50):
        http.store(f"flood note number {n} about the release train")
    request = recall_request(http, "release train")
    for _ in range(5):  # every worker has worked, as in any daemon that is in use
        assert 200 in asyncio.run(_flood(http.port, request, 20))
    owner = daemon.owner()
    eventually(lambda: vectors.settled(owner), within=30)
    at_rest = processes.resident_bytes(daemon.pid)
    for _ in range(3):
        statuses = asyncio.run(_flood(http.port, request, FLOOD))
        assert set(statuses) <= {200, 429, 503}, {s: statuses.count(s) for s in set(statuses)}
        assert statuses.count(200) >= 50
        assert http.recall("release train")
        eventually(
            lambda: processes.resident_bytes(daemon.pid) < at_rest * 1.1,
            within=30,
            what="the memory given back",
        )


def test_busy_says_when_to_come_back(daemon: Daemon, http: Http) -> None:
    """An answer that refuses work for now carries Retry-After and nothing was executed."""
    items = [{"content": f"anything number {n} and more of it"} for n in range(1000)]
    for _ in range(3):
        assert http.post("/v1/memories/batch", {"items": items}).status == 200
    request = recall_request(http, "anything").replace(b"Connection: close\r\n", b"")
    with ExitStack() as stack:
        socks = [stack.enter_context(connected(daemon.port)) for _ in range(300)]
        for sock in socks:
            sock.sendall(request)
        answers = [sock.recv(65536) for sock in socks]
    refused = [answer for answer in answers if status_of(answer) == 429]
    assert refused
    assert {status_of(answer) for answer in answers} <= {200, 429}
    assert all(b"\r\nretry-after:" in answer.lower() for answer in refused)


def test_abandoned_recalls_do_not_occupy_the_workers(http: Http) -> None:
    """400 recalls whose clients left at once leave the workers free for the next call."""
    http.store("what the impatient wanted")
    request = recall_request(http, "what the impatient wanted")
    for _ in range(400):
        with connected(http.port) as sock:
            sock.sendall(request)
    started = time.monotonic()
    eventually(lambda: http.post("/v1/recall", {"query": "impatient"}).status == 200, within=5)
    assert time.monotonic() - started < 5


def test_a_store_whose_client_leaves_is_whole_or_absent(http: Http) -> None:
    """Writes of clients that closed right after the body are stored whole or not at all."""
    texts = [f"left behind {n} " + "z" * n for n in range(200)]
    for text in texts:
        body = json.dumps({"content": text}).encode()
        token = f"Authorization: Bearer {http.token}"
        lines = [token, "Content-Type: application/json", f"Content-Length: {len(body)}"]
        with connected(http.port) as sock:
            sock.sendall(head("POST", "/v1/memories", http.port, *lines, close=False) + body)
    http.store("the last one")
    found: list[str] = []
    cursor = ""
    while True:
        page = http.get(f"/v1/memories?limit=100{cursor}").json
        found += [item["content"] for item in page["items"]]
        if not page["next_cursor"]:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert set(found) <= {*texts, "the last one"}
    assert len(found) == len(set(found))


@pytest.mark.parametrize("keep", [True, False], ids=["keep-alive", "fresh connections"])
def test_no_call_waits_for_a_delayed_acknowledgement(http: Http, *, keep: bool) -> None:
    """The median local call is far below the 40 ms that Nagle's algorithm costs when it is on."""
    http.store("a small note")
    client = Http(http.port, token=http.token, keep=keep)
    times: list[float] = []
    for _ in range(50):
        started = time.perf_counter()
        assert client.post("/v1/recall", {"query": "a small note"}).status == 200
        times.append(time.perf_counter() - started)
    client.close()
    assert statistics.median(times) < 0.030


def test_few_descriptors_shed_load_and_recover(recalld_limited: Http, limited: Daemon) -> None:
    """With 128 descriptors, 250 connections end in answers, and all are given back."""
    recalld_limited.recall("whatever loads the model")
    at_rest = len(processes.open_files(limited.pid))
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(connected(limited.port))
        statuses = asyncio.run(_flood(limited.port, recall_request(recalld_limited, "x"), 50))
        assert set(statuses) <= {0, 200, 429, 503}
    eventually(lambda: recalld_limited.post("/v1/recall", {"query": "x"}).status == 200)
    # Readers open their connections to the store when they are first needed, two files each.
    eventually(lambda: len(processes.open_files(limited.pid)) <= at_rest + 8, within=15)
