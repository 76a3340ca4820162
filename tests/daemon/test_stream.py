"""The change feed: own namespaces only, in order, alive, and ended when the daemon drains."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.daemon import raw
from tests.daemon.conftest import Starter
from tests.daemon.started import Started
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject, decode
from tests.harness.waiting import eventually


@contextlib.contextmanager
def following(client: Http, query: str = "") -> Generator[socket.socket]:
    """An open stream."""
    token = f"Authorization: Bearer {client.token}"
    with raw.connect(client.port) as stream:
        stream.sendall(raw.head(client.port, "GET", f"/v1/stream{query}", token))
        first = stream.recv(4096)
        assert first.startswith(b"HTTP/1.1 200"), first
        assert b"text/event-stream" in first
        while b": connected" not in first:
            first += stream.recv(4096)
        yield stream


def events(stream: socket.socket, number: int) -> list[JsonObject]:
    """The next so many change events."""
    got = b""
    while got.count(b"event: change") < number or not got.endswith(b"\n\n\r\n"):
        part = stream.recv(4096)
        assert part, got
        got += part
    lines = [line for line in got.split(b"\n") if line.startswith(b"data: ")]
    return [decode(line.removeprefix(b"data: ")) for line in lines]


def test_changes_arrive_in_order(client: Http) -> None:
    """Store, edit and forget are told with id, operation, namespace and version."""
    with following(client) as stream:
        ulid = client.store("watched")
        client.call("PATCH", f"/v1/memories/{ulid}", {"content": "edited"})
        client.call("DELETE", f"/v1/memories/{ulid}")
        told = events(stream, 3)
    assert [(e["id"], e["op"], e["version"]) for e in told] == [
        (ulid, "upsert", 1), (ulid, "upsert", 2), (ulid, "remove", 3),
    ]  # fmt: skip
    assert told[0]["namespace"].startswith("project:")


def test_other_namespaces_are_not_told(served: Started, client: Http, tmp_path: Path) -> None:
    """A stream tells of its grant's namespaces, and of nothing else."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").mkdir()
    other = Http(served.port, token=served.grant(namespaces={"org:other": "editor"})["token"])
    with following(client) as stream:
        other.store("not for you")
        mine = client.store("for you")
        assert [e["id"] for e in events(stream, 1)] == [mine]


def test_a_quiet_stream_shows_that_it_lives(start: Starter, tmp_path: Path) -> None:
    """Heartbeat comments come in between, and a client that left is noticed."""
    daemon = start(heartbeat_s=0.1).ready()
    client = daemon.client(tmp_path)
    with following(client) as stream:
        assert b": still here" in stream.recv(4096)
        assert client.get("/v1/status").json["streams"] == 1
    eventually(lambda: client.get("/v1/status").json["streams"] == 0)


def test_streams_are_limited(start: Starter, tmp_path: Path) -> None:
    """Beyond the limit a stream is refused with 429 and a reason, before it has begun."""
    daemon = start(max_streams=1).ready()
    client = daemon.client(tmp_path)
    with following(client):
        reply = client.get("/v1/stream")
        assert (reply.status, reply.code) == (429, "busy")


ENDED: dict[str, Callable[[Started, str], object]] = {
    "revoked": lambda daemon, grant: daemon.owner().call("DELETE", f"/v1/grants/{grant}"),
    "rotated": lambda daemon, grant: daemon.owner().call("POST", f"/v1/grants/{grant}/rotate"),
    "narrowed": lambda daemon, grant: daemon.narrow(grant, {"org:other": "admin"}),
}


@pytest.mark.parametrize("how", ENDED)
def test_a_stream_ends_with_its_grant(served: Started, client: Http, how: str) -> None:
    """After its grant was revoked, rotated or narrowed a stream ends and tells of no change."""
    home = client.get("/v1/stats").json["namespaces"][0]["namespace"]
    granted = served.grant(namespaces={home: "viewer"})
    with following(Http(served.port, token=granted["token"])) as stream:
        ENDED[how](served, granted["id"])
        client.store("not for a grant that is gone")
        rest = b"".join(iter(lambda: stream.recv(4096), b""))
    assert b"event:" not in rest
    assert rest.endswith(b"0\r\n\r\n")


def test_a_quiet_stream_ends_when_its_grant_runs_out(start: Starter) -> None:
    """Without any change a stream notices at its next heartbeat that the grant has expired."""
    daemon = start(heartbeat_s=0.1).ready()
    soon = datetime.now(UTC) + timedelta(seconds=1)
    granted = daemon.grant(namespaces={"org:a": "viewer"}, expires_at=soon.isoformat())
    with following(Http(daemon.port, token=granted["token"])) as stream:
        stream.settimeout(10)
        rest = b"".join(iter(lambda: stream.recv(4096), b""))
    assert rest.endswith(b"0\r\n\r\n")


def test_draining_ends_streams(start: Starter, tmp_path: Path) -> None:
    """At SIGTERM a stream ends properly, so its client knows to connect anew."""
    daemon = start().ready()
    with following(daemon.client(tmp_path)) as stream:
        daemon.signal()
        rest = b"".join(iter(lambda: stream.recv(4096), b""))
    assert rest.endswith(b"0\r\n\r\n")
    assert daemon.exit_code() == 0
