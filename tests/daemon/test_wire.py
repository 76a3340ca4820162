"""HTTP/1.1 as bytes: pieces, pipelines, idle connections, and what other clients really send."""

from __future__ import annotations

import contextlib
import json
import select
import socket

import pytest
from recalld.daemon.network.connection import MOST_QUEUED

from tests.daemon import raw
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.harness import processes
from tests.harness.http import Http

JSON = "Content-Type: application/json"
NONCE = json.dumps({"nonce": "0" * 64, "version": "1", "api": [1, 1]}).encode()


def hello(port: int, *lines: str) -> bytes:
    """A whole request with a body, on the route open to anyone."""
    return raw.head(port, "POST", "/v1/hello", JSON, f"Content-Length: {len(NONCE)}", *lines) + (
        NONCE
    )


@pytest.mark.parametrize("size", [1, 7, 60])
def test_a_request_may_come_in_pieces(served: Started, size: int) -> None:
    """Wherever the network cuts a request, it means the same."""
    request = hello(served.port)
    with raw.connect(served.port) as connection:
        for start in range(0, len(request), size):
            connection.sendall(request[start : start + size])
        assert raw.status(raw.answer(connection)) == 200


def test_pipelined_requests_are_answered_in_order(served: Started) -> None:
    """Requests sent without waiting get their answers one after the other."""
    paths = ["/v1/health", "/nothing", "/v1/health"]
    sent = b"".join(raw.head(served.port, "GET", path) for path in paths)
    with raw.connect(served.port) as connection:
        connection.sendall(sent + raw.head(served.port, "GET", "/v1/health", "Connection: close"))
        got = b""
        while part := connection.recv(65_536):
            got += part
    statuses = [int(part[:3]) for part in got.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200, 404, 200, 200]


def test_garbage_after_a_request_does_not_answer_it(served: Started) -> None:
    """The answer to a request comes first, whatever follows the request."""
    with raw.connect(served.port) as connection:
        connection.sendall(hello(served.port) + b"\0garbage\r\n\r\n")
        got = b""
        while part := connection.recv(65_536):
            got += part
    assert got.startswith(b"HTTP/1.1 200 ")


def test_an_idle_connection_outlives_the_limit_for_heads(start: Starter) -> None:
    """Between requests only `keep_alive_s` counts; `head_timeout_s` begins with the next one."""
    daemon = start(head_timeout_s=0.2, keep_alive_s=60).ready()
    with raw.connect(daemon.port) as connection:
        connection.sendall(raw.head(daemon.port, "GET", "/v1/health"))
        assert raw.status(raw.answer(connection)) == 200
        # Nothing is to happen for as long as a head would have had, five times over.
        assert select.select([connection], [], [], 1.0)[0] == []
        connection.sendall(raw.head(daemon.port, "GET", "/v1/health"))
        assert raw.status(raw.answer(connection)) == 200
        connection.sendall(b"GET /v1/hea")
        assert raw.status(raw.answer(connection)) == 408


@pytest.mark.parametrize("spelling", ["Upgrade", "upgrade", "UPGRADE"])
def test_an_offer_to_change_the_protocol_is_ignored(served: Started, spelling: str) -> None:
    """Java's client offers HTTP/2 with its first request; the request counts, body and all."""
    offer = ("Connection: Upgrade, HTTP2-Settings", f"{spelling}: h2c", "HTTP2-Settings: AAMAAABk")
    reply = raw.send(served.port, hello(served.port, *offer))
    assert raw.status(reply) == 200
    assert "mac" in raw.body(reply)


@pytest.mark.parametrize("version", ["0.9", "2.0", "1.9"])
def test_other_versions_of_http_are_refused(served: Started, version: str) -> None:
    """Only HTTP/1.1 and 1.0 are spoken here."""
    reply = raw.send(served.port, raw.head(served.port, "GET", "/v1/health", version=version))
    assert raw.status(reply) == 400


def test_http_1_0_ends_its_connection(served: Started) -> None:
    """A client of HTTP/1.0 gets its answer and the end of the connection."""
    with raw.connect(served.port) as connection:
        connection.sendall(raw.head(served.port, "GET", "/v1/health", version="1.0"))
        got = b""
        while part := connection.recv(65_536):
            got += part
    assert raw.status(got) == 200


def test_headers_after_a_body_are_refused(client: Http) -> None:
    """Trailers would have no limit of their own: none are taken, and nothing is stored."""
    token = f"Authorization: Bearer {client.token}"
    head = raw.head(client.port, "POST", "/v1/memories", token, JSON, "Transfer-Encoding: chunked")
    body = json.dumps({"content": "with a trailer"}).encode()
    chunk = b"%x\r\n%s\r\n0\r\nX-Late: 1\r\n\r\n" % (len(body), body)
    reply = raw.send(client.port, head + chunk)
    assert raw.status(reply) == 400
    assert client.get("/v1/memories").json["items"] == []


def test_an_endless_head_is_cut_off(served: Started) -> None:
    """A head that grows beyond the cap is refused before it is complete."""
    with raw.connect(served.port) as connection:
        connection.sendall(b"GET /v1/health HTTP/1.1\r\nX-Long: ")
        for _ in range(20):
            connection.sendall(b"y" * 1000)
        assert raw.status(raw.answer(connection)) == 431


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET /v1/health HTTP/1.1\n",
        b"GET /v1/health\r\n",
        b"get /v1/health HTTP/1.1\r\n",
        b"CONNECT 127.0.0.1:1 HTTP/1.1\r\n",
        b"GET /v1/h\xc3\xa9alth HTTP/1.1\r\n",
        b"GET /v1/health\0 HTTP/1.1\r\n",
    ],
)
def test_odd_request_lines_are_refused(served: Started, request_line: bytes) -> None:
    """What is not a request line of HTTP/1.1 is 4xx, never taken for a near one."""
    reply = raw.send(served.port, request_line + b"Host: 127.0.0.1:%d\r\n\r\n" % served.port)
    assert 400 <= raw.status(reply) < 500


@pytest.mark.parametrize(
    "line", [b"X-Folded: a\r\n b", b"X-Space : a", b"X-Nul: a\0b", b"X-Bare: a\rb", b": empty"]
)
def test_odd_header_lines_are_refused(served: Started, line: bytes) -> None:
    """Header lines that parsers have read differently are 400."""
    start = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % served.port
    assert raw.status(raw.send(served.port, start + line + b"\r\n\r\n")) == 400


def everything(connection: socket.socket) -> bytes:
    """All that comes until the daemon hangs up."""
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            got += part
    return got


def test_a_flood_of_pipelined_requests_is_cut_off(served: Started) -> None:
    """Fourteen thousand requests in one segment get a few answers, a 429 and the end."""
    before = processes.resident_bytes(served.pid)
    with contextlib.ExitStack() as held:
        flooding = [held.enter_context(raw.connect(served.port)) for _ in range(8)]
        for connection in flooding:
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"GET / HTTP/1.1\r\n\r\n" * 14_000)
        for connection in flooding:
            got = everything(connection)
            assert got.count(b"HTTP/1.1 ") == MOST_QUEUED + 2
            assert got.split(b"HTTP/1.1 ")[-1].startswith(b"429 ")
    assert processes.resident_bytes(served.pid) - before < 16 << 20


def test_an_endless_head_behind_a_stream_is_not_kept(served: Started, client: Http) -> None:
    """While an answer goes on, what follows it is still held to the limits of a head."""
    token = f"Authorization: Bearer {client.token}"
    before = processes.resident_bytes(served.pid)
    with raw.connect(client.port) as connection:
        connection.sendall(raw.head(client.port, "GET", "/v1/stream", token))
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        connection.settimeout(2)
        with contextlib.suppress(TimeoutError, ConnectionError):
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
            for _ in range(1600):
                connection.sendall(b"a" * 65_536)
    # A hundred megabytes were on offer; what is loaded late by the daemon itself is below this.
    assert processes.resident_bytes(served.pid) - before < 32 << 20


@pytest.mark.parametrize("junk", [b"0\r\n", b"1;"], ids=["trailers", "an extension of a chunk"])
def test_a_body_that_goes_on_without_a_byte_of_it_is_cut_off(client: Http, junk: bytes) -> None:
    """Trailers and chunk extensions have a limit though no body grows by them."""
    token = f"Authorization: Bearer {client.token}"
    head = raw.head(client.port, "POST", "/v1/memories", token, JSON, "Transfer-Encoding: chunked")
    with raw.connect(client.port) as connection:
        connection.sendall(head + b"2\r\n{}\r\n" + junk)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                connection.sendall(b"a" * 4096)
        assert raw.status(raw.answer(connection)) in {0, 400}


def test_a_broken_second_request_does_not_answer_the_first(client: Http) -> None:
    """What was stored is answered as stored, whatever the client sends behind it."""
    token = f"Authorization: Bearer {client.token}"
    body = json.dumps({"content": "stored before something broken"}).encode()
    first = raw.head(
        client.port, "POST", "/v1/memories", token, JSON, f"Content-Length: {len(body)}"
    )
    second = raw.head(client.port, "POST", "/v1/hello", JSON, "Transfer-Encoding: chunked")
    with raw.connect(client.port) as connection:
        connection.sendall(first + body + second + b"zz\r\n")
        got = everything(connection)
    assert got.startswith(b"HTTP/1.1 201 ")
    assert b"HTTP/1.1 400 " in got


def test_line_breaks_after_an_answer_do_not_hold_a_connection(start: Starter) -> None:
    """They are no request: the connection ends as one whose head does not come."""
    daemon = start(head_timeout_s=0.2, keep_alive_s=1).ready()
    with raw.connect(daemon.port) as connection:
        connection.sendall(raw.head(daemon.port, "GET", "/v1/health"))
        assert raw.status(raw.answer(connection)) == 200
        connection.sendall(b"\r\n\r\n")
        assert connection.recv(1) == b""


def test_a_refused_body_leaves_no_trace_in_the_log(start: Starter) -> None:
    """The answer of a request that was refused half-way goes nowhere, quietly."""
    daemon = start().ready()
    head = raw.head(daemon.port, "POST", "/nothing", JSON, "Transfer-Encoding: chunked")
    for _ in range(3):
        assert raw.status(raw.send(daemon.port, head + b"zz\r\n")) in {400, 404}
    daemon.signal()
    assert daemon.exit_code() == 0
    assert "Traceback" not in daemon.log()
    assert '"level": "error"' not in daemon.log()
