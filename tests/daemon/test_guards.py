"""What is refused before any work: foreign hosts, web pages, ambiguous requests, other media."""

from __future__ import annotations

import pytest

from tests.daemon import raw
from tests.daemon.started import Started
from tests.harness.http import Http

PAGES = [
    "Origin: http://evil.example",
    "Origin: null",
    "Origin: http://localhost:3000",
    "Origin: chrome-extension://abc",
    "Referer: http://127.0.0.1/",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-origin",
]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_our_names_are_answered(served: Started, name: str) -> None:
    """The three loopback names with our port are what clients may call us."""
    request = raw.head(served.port, "GET", "/v1/health", host=f"{name}:{served.port}")
    assert raw.status(raw.send(served.port, request)) == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "a@127.0.0.1:{port}",
     "localhost.evil.example:{port}", "127.0.0.1.nip.io:{port}",
     "0.0.0.0:{port}", "2130706433:{port}"],
)  # fmt: skip
def test_another_host_is_refused(served: Started, host: str) -> None:
    """A Host that is not the address we published is 421 (DNS rebinding)."""
    named = host.format(port=served.port)
    reply = raw.send(served.port, raw.head(served.port, "GET", "/v1/health", host=named))
    assert (raw.status(reply), raw.code(reply)) == (421, "foreign_host")


@pytest.mark.parametrize("line", PAGES)
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST"])
def test_web_pages_are_refused(served: Started, line: str, method: str) -> None:
    """A header only browsers send is 403, and no CORS header comes back."""
    reply = raw.send(served.port, raw.head(served.port, method, "/v1/health", line))
    assert (raw.status(reply), raw.code(reply)) == (403, "foreign_origin")
    assert b"access-control" not in reply.lower()


@pytest.mark.parametrize(
    "lines",
    [
        ["Authorization: Bearer a", "Authorization: Bearer b"],
        ["Content-Length: 2", "Transfer-Encoding: chunked"],
        ["Content-Type: application/json", "Content-Type: text/plain", "Content-Length: 2"],
        ["Host: evil.example"],
        ["Idempotency-Key: a", "Idempotency-Key: b"],
        ["Recalld-Checkout: /a", "Recalld-Checkout: /b"],
        ["Content-Length: 2", "Content-Length: 3"],
        ["Content-Length: -1"],
        ["Content-Length: 99999999999999999999999999"],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Bad Header: x"],
    ],
)
def test_ambiguous_heads_are_refused(served: Started, lines: list[str]) -> None:
    """What two parsers could read differently is refused, and never a 5xx except 501's kin."""
    reply = raw.send(served.port, raw.head(served.port, "POST", "/v1/hello", *lines))
    assert 400 <= raw.status(reply) < 500


@pytest.mark.parametrize("target", ["http://evil.example/v1/health", "*", "v1/health"])
def test_a_target_is_a_path(served: Started, target: str) -> None:
    """Absolute and asterisk forms are refused."""
    assert raw.status(raw.send(served.port, raw.head(served.port, "GET", target))) in {400, 404}


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00" + b"\0" * 40 + b"\r\n\r\n", b"\r\n" * 9, b"GET\r\n\r\n"],
)
def test_garbage_is_answered_or_closed(served: Started, garbage: bytes) -> None:
    """What is not HTTP gets a 400, and the daemon lives on."""
    reply = raw.send(served.port, garbage + b"x\r\n\r\n")
    assert raw.status(reply) in {0, 400}
    assert served.http().get("/v1/health").status == 200


@pytest.mark.parametrize(
    "media",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
     "application/jsonx"],
)  # fmt: skip
def test_bodies_are_json(client: Http, media: str) -> None:
    """A body that is not declared as JSON is 415: web pages can send those without asking."""
    reply = client.send("POST", "/v1/memories", raw=b"{}", headers={"Content-Type": media})
    assert (reply.status, reply.code) == (415, "unsupported_media")


def test_compressed_bodies_are_refused(client: Http) -> None:
    """There is no decompression, hence no bomb."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert client.send("POST", "/v1/memories", raw=b"\x1f\x8b", headers=headers).status == 415


def test_a_token_in_the_query_is_no_token(client: Http) -> None:
    """Query parameters nobody knows are refused; credentials belong into the header."""
    bare = client.as_token(None)
    assert bare.get(f"/v1/memories?access_token={client.token}").status == 401
    assert client.get("/v1/memories?access_token=x").status == 400
    assert bare.get("/v1/health?access_token=x").status == 400


@pytest.mark.parametrize(
    "scheme", ["Basic {t}", "Bearer", "Bearer  {t}", "bearer\t{t}", "{t}", "Owner {t}"]
)
def test_other_credentials_open_nothing(served: Started, client: Http, scheme: str) -> None:
    """Only `Bearer <token>` is a token."""
    line = f"Authorization: {scheme.format(t=client.token)}"
    reply = raw.send(served.port, raw.head(served.port, "GET", "/v1/memories", line))
    assert (raw.status(reply), raw.code(reply)) == (401, "unauthenticated")


def test_unknown_paths_and_methods_say_what_exists(client: Http) -> None:
    """404 points at the description, 405 names the methods."""
    assert client.get("/v1/nothing").code == "not_found"
    assert client.get("/").code == "not_found"
    reply = client.call("PUT", "/v1/memories", {})
    assert (reply.status, reply.code) == (405, "method_not_allowed")
    assert "GET" in reply.json["error"]["hint"]


def test_every_answer_has_a_request_id(client: Http) -> None:
    """Answers and errors carry an id that is in the log when something went wrong."""
    ids = {
        client.get(path).headers["x-request-id"] for path in ("/v1/health", "/nothing", "/v1/stats")
    }
    assert len(ids) == 3
