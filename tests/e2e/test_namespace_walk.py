"""Every route, walked with every wrong token: nothing is seen, changed or even confirmed."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.harness.checkouts import Checkouts
from tests.harness.daemons import Daemon
from tests.harness.http import Http, Reply
from tests.harness.openapi import Operation, operations, smallest_body
from tests.harness.raw import exchange, head, status_of

NOBODY = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
SECRET = "the merger is called project heron"
WRITING = {"POST", "PUT", "PATCH", "DELETE"}
READING_BY_POST = ("/v1/recall", "/v1/search")


class Stage(NamedTuple):
    """A victim with one memory, and a stranger with a valid token of another project."""

    daemon: Daemon
    victim: Http
    stranger: Http
    memory: str
    namespace: str
    all: list[Operation]
    document: dict[str, object]

    def call(self, client: Http, operation: Operation, ident: str, **more: object) -> Reply:
        """The operation with `ident` in its path and the smallest body plus `more`."""
        body = smallest_body(dict(self.document), operation)
        if operation.method == "PATCH":
            more = {"detail": "changed by someone"} | more
        if body is not None:
            body = body | more
        path = operation.path.replace("{id}", ident)
        assert "{" not in path, path
        return client.call(operation.method, path, body, timeout=5)

    def granted(self) -> list[Operation]:
        """The operations a token opens; streams are looked at on their own."""
        skip = ("/v1/stream", "/v1/stop", "/v1/grants", "/v1/jobs")
        return [
            op
            for op in self.all
            if not op.path.startswith(skip) and op.path.startswith("/v1/") and not open_to_all(op)
        ]


def open_to_all(operation: Operation) -> bool:
    """The few routes that need no token."""
    return operation.path in {"/v1/health", "/v1/hello", "/openapi.json"}


@pytest.fixture
def stage(daemon: Daemon, http: Http, checkout: Checkouts) -> Stage:
    """Victim and stranger on one daemon."""
    memory = http.store(SECRET, tags=["heron"])
    granted = daemon.grant(checkout=str(checkout("stranger")))
    document = http.as_token(None).get("/openapi.json").json
    shown = http.get(f"/v1/memories/{memory}").json
    return Stage(
        daemon,
        http,
        http.as_token(granted["token"]),
        memory,
        shown["namespace"],
        list(operations(document)),
        document,
    )


def comparable(reply: Reply, ident: str) -> tuple[int, str]:
    """Status and body, without the id that was asked for and the time it took."""
    text = reply.body.decode().replace(ident, "ID")
    return reply.status, text


def test_a_foreign_memory_is_like_none(stage: Stage) -> None:
    """On every route with an id, another project's memory answers exactly like a missing one."""
    for operation in stage.granted():
        if "{id}" not in operation.path:
            continue
        foreign = comparable(stage.call(stage.stranger, operation, stage.memory), stage.memory)
        missing = comparable(stage.call(stage.stranger, operation, NOBODY), NOBODY)
        assert foreign == missing, operation.name
        assert foreign[0] == 404, (operation.name, foreign)
    assert stage.victim.get(f"/v1/memories/{stage.memory}").json["content"] == SECRET


def test_no_route_shows_a_foreign_text(stage: Stage) -> None:
    """Whatever a stranger calls, no answer contains a word of the victim's memory."""
    for operation in stage.granted():
        reply = stage.call(stage.stranger, operation, stage.memory)
        assert reply.status < 500, (operation.name, reply.body)
        assert b"heron" not in reply.body, operation.name
    for query in ("heron", "merger", SECRET):
        for path in READING_BY_POST:
            hits = stage.stranger.post(path, {"query": query}).json["hits"]
            assert [hit for hit in hits if hit["namespace"] == stage.namespace] == []
            assert "heron" not in str(hits)


def test_a_foreign_namespace_is_like_none(stage: Stage) -> None:
    """Naming a namespace that is not granted gives the same refusal whether it exists or not."""
    absent = "project:nothing-00000000"
    for path in READING_BY_POST:
        there = stage.stranger.post(path, {"query": "heron", "namespaces": [stage.namespace]})
        gone = stage.stranger.post(path, {"query": "heron", "namespaces": [absent]})
        assert (there.status, there.code) == (gone.status, gone.code) == (403, "forbidden")
        assert there.body.replace(stage.namespace.encode(), b"") == gone.body.replace(
            absent.encode(), b""
        )
    for name in (stage.namespace, absent):
        listed = stage.stranger.get(f"/v1/memories?namespace={name}")
        assert (listed.status, listed.code) == (403, "forbidden")
        written = stage.stranger.post("/v1/memories", {"content": "x", "namespace": name})
        assert (written.status, written.code) == (403, "forbidden")
        batch = {"items": [{"content": "x", "namespace": name}]}
        answer = stage.stranger.post("/v1/memories/batch", batch)
        assert answer.status == 403 or "error" in answer.json["results"][0]


def test_supersedes_does_not_reach_across(stage: Stage) -> None:
    """A new memory cannot supersede another project's one."""
    reply = stage.stranger.post("/v1/memories", {"content": "mine now", "supersedes": stage.memory})
    missing = stage.stranger.post("/v1/memories", {"content": "mine now", "supersedes": NOBODY})
    assert comparable(reply, stage.memory) == comparable(missing, NOBODY)
    assert stage.victim.get(f"/v1/memories/{stage.memory}").json["status"] == "active"


def assert_refused(stage: Stage, client: Http) -> None:
    """Every route that needs a token answers 401, and the memory is untouched."""
    for operation in stage.all:
        if open_to_all(operation):
            continue
        reply = stage.call(client, operation, stage.memory)
        assert reply.status == 401, (operation.name, reply.status, reply.body)
        assert b"heron" not in reply.body
    assert stage.victim.get(f"/v1/memories/{stage.memory}").json["version"] == 1


def test_no_token_opens_nothing(stage: Stage) -> None:
    """Without an Authorization header every route but the open ones is 401."""
    assert_refused(stage, stage.victim.as_token(None))


@pytest.mark.parametrize("token", ["", "x", "rk_" + "A" * 43, "rk_" + "A" * 5000, "ü", "a b"])
def test_a_made_up_token_opens_nothing(stage: Stage, token: str) -> None:
    """Tokens nobody issued are 401 on every route."""
    assert_refused(stage, stage.victim.as_token(token.encode("utf-8").decode("latin-1")))


def test_a_revoked_token_opens_nothing(stage: Stage) -> None:
    """From the moment of its revocation a token is 401 on every route."""
    granted = stage.daemon.grant(namespaces={stage.namespace: "admin"})
    client = stage.victim.as_token(granted["token"])
    assert client.get(f"/v1/memories/{stage.memory}").status == 200
    reply = stage.daemon.owner().call("DELETE", f"/v1/grants/{granted['id']}")
    assert reply.status == 200
    assert_refused(stage, client)


def test_a_rotated_token_opens_nothing(stage: Stage) -> None:
    """After a rotation the old token is 401 and the new one opens what it did."""
    granted = stage.daemon.grant(namespaces={stage.namespace: "admin"})
    rotated = stage.daemon.owner().call("POST", f"/v1/grants/{granted['id']}/rotate")
    assert rotated.status == 200, rotated
    assert_refused(stage, stage.victim.as_token(granted["token"]))
    client = stage.victim.as_token(rotated.json["token"])
    assert client.get(f"/v1/memories/{stage.memory}").status == 200


def test_an_expired_token_opens_nothing(stage: Stage) -> None:
    """A grant that ran out is 401 on every route."""
    granted = stage.daemon.grant(
        namespaces={stage.namespace: "admin"}, expires_at="2020-01-01T00:00:00.000Z"
    )
    assert_refused(stage, stage.victim.as_token(granted["token"]))


def test_a_viewer_changes_nothing(stage: Stage) -> None:
    """A viewer reads, and is refused on every route that writes."""
    granted = stage.daemon.grant(namespaces={stage.namespace: "viewer"})
    viewer = stage.victim.as_token(granted["token"])
    assert viewer.get(f"/v1/memories/{stage.memory}").json["content"] == SECRET
    assert viewer.recall("merger")[0]["content"] == SECRET
    for operation in stage.granted():
        if operation.method in WRITING and operation.path not in READING_BY_POST:
            reply = stage.call(viewer, operation, stage.memory)
            refused = reply.status == 403 or all(
                "error" in result for result in reply.json.get("results", [{}])
            )
            assert refused, (operation.name, reply)
    assert stage.victim.get(f"/v1/memories/{stage.memory}").json["version"] == 1
    assert len(stage.victim.get("/v1/memories").json["items"]) == 1


def test_an_editor_does_not_forget_others_rows(stage: Stage) -> None:
    """An editor writes, but only an admin forgets what another grant wrote."""
    granted = stage.daemon.grant(namespaces={stage.namespace: "editor"})
    editor = stage.victim.as_token(granted["token"])
    own = editor.store("written by the editor")
    assert editor.call("DELETE", f"/v1/memories/{stage.memory}").status == 403
    assert editor.call("DELETE", f"/v1/memories/{own}").status == 200
    assert stage.victim.get(f"/v1/memories/{stage.memory}").status == 200


def test_two_authorization_headers_are_refused(stage: Stage) -> None:
    """Two tokens in one request are refused on every route, whichever comes first."""
    lines = [f"Authorization: Bearer {stage.victim.token}", "Authorization: Bearer x"]
    for operation in stage.all:
        path = operation.path.replace("{id}", stage.memory)
        for order in (lines, lines[::-1]):
            answer = exchange(
                stage.daemon.port, head(operation.method, path, stage.daemon.port, *order)
            )
            assert 400 <= status_of(answer) < 500, (operation.name, answer[:200])
            assert b"heron" not in answer


@pytest.mark.parametrize("path", ["/v1/stop", "/v1/grants", "/v1/jobs"])
def test_a_token_is_not_the_owner(stage: Stage, path: str) -> None:
    """No grant, however wide, opens an owner's route."""
    granted = stage.daemon.grant(namespaces={stage.namespace: "admin", "user:local": "admin"})
    for operation in stage.all:
        if operation.path.startswith(path):
            client = stage.victim.as_token(granted["token"])
            assert stage.call(client, operation, granted["id"]).status in {401, 403}
    assert stage.daemon.published


def test_a_copied_token_does_not_open_elsewhere(
    stage: Stage, daemon: Daemon, checkout: Checkouts
) -> None:
    """A token used from another checkout than its own is refused by name."""
    granted = daemon.grant(checkout=str(checkout("one")))
    client = stage.victim.as_token(granted["token"])
    here = {"Recalld-Checkout": str(checkout("one"))}
    there = {"Recalld-Checkout": str(checkout("two"))}
    assert client.get("/v1/stats", headers=here).status == 200
    moved = client.get("/v1/stats", headers=there)
    assert (moved.status, moved.code) == (401, "grant_elsewhere")


def test_the_stream_shows_own_changes_only(stage: Stage) -> None:
    """The change feed of one project is silent about another's."""
    from tests.harness.raw import connected

    token = f"Authorization: Bearer {stage.stranger.token}"
    with connected(stage.daemon.port) as sock:
        sock.sendall(head("GET", "/v1/stream", stage.daemon.port, token, close=False))
        got = sock.recv(65536)
        assert status_of(got) == 200
        stage.victim.store("a change the stranger must not see")
        own = stage.stranger.store("a change of the stranger's own")
        while own.encode() not in got:
            got += sock.recv(65536)
    assert got.count(b"event: change") == 1
    assert stage.namespace.encode() not in got
