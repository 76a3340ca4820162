"""Every route, walked with every wrong token: nothing is seen, changed or even confirmed."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.harness import vectors
from tests.harness.checkouts import Checkouts
from tests.harness.daemons import Daemon
from tests.harness.http import Http, Reply
from tests.harness.jsontypes import JsonObject, decode
from tests.harness.openapi import Operation, operations, smallest, smallest_body
from tests.harness.raw import exchange, head, status_of
from tests.harness.waiting import eventually
from tests.mcp import toolbox

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
    reply = toolbox.post(client, "tools/list")
    assert reply.status == 401, reply
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
        if writes(operation):
            reply = stage.call(viewer, operation, stage.memory)
            assert (reply.status, reply.code) == (403, "forbidden"), (operation.name, reply)
    for tool, told in use_every_tool(viewer, stage.memory):
        assert tool["annotations"]["readOnlyHint"] or is_refused(told), (tool["name"], told)
    assert stage.victim.get(f"/v1/memories/{stage.memory}").json["version"] == 1
    assert len(stage.victim.get("/v1/memories").json["items"]) == 1


def test_an_editor_does_not_change_others_rows(stage: Stage) -> None:
    """An editor writes, but only an admin changes what another grant wrote, by whatever route."""
    granted = stage.daemon.grant(namespaces={stage.namespace: "editor"})
    editor = stage.victim.as_token(granted["token"])
    own = editor.store("written by the editor")
    rule = standing_rule(stage.victim)
    before = stage.victim.get(f"/v1/memories/{rule}").json
    for operation in stage.granted():
        if writes(operation) and "{id}" in operation.path and "promote" not in operation.path:
            reply = stage.call(editor, operation, rule)
            assert (reply.status, reply.code) == (403, "forbidden"), (operation.name, reply)
    replacing = editor.post("/v1/memories", {"content": "better", "supersedes": rule})
    assert (replacing.status, replacing.code) == (403, "forbidden")
    for tool, told in use_every_tool(editor, rule):
        assert tool["name"] not in {"memory_forget", "memory_store"} or is_refused(told), told
    assert stage.victim.get(f"/v1/memories/{rule}").json == before
    assert stage.victim.post(f"/v1/rules/{rule}/demote", None).status == 200
    promoting = editor.post(f"/v1/rules/{rule}/promote", None)
    assert (promoting.status, promoting.code) == (403, "forbidden")
    assert editor.call("DELETE", f"/v1/memories/{own}").status == 200


def standing_rule(client: Http) -> str:
    """A rule that every route has something to change about: edited, and marked as hard."""
    rule = client.store("Never push to main", kind="correction")
    edited = client.call("PATCH", f"/v1/memories/{rule}", {"detail": "It is protected."})
    marked = client.post(f"/v1/rules/{rule}/hard", {"pattern": "git push*main*"})
    assert (edited.status, marked.status) == (200, 200)
    return rule


def test_tools_tell_a_stranger_nothing(stage: Stage) -> None:
    """No tool shows a foreign text, and a foreign memory is to every tool like a missing one."""
    foreign = use_every_tool(stage.stranger, stage.memory)
    missing = use_every_tool(stage.stranger, NOBODY)
    for (tool, there), (_, gone) in zip(foreign, missing, strict=True):
        assert b"heron" not in there.body, tool["name"]
        if {"id", "ids"} & set(tool["inputSchema"]["properties"]):
            assert comparable(there, stage.memory) == comparable(gone, NOBODY), tool["name"]
    shown = stage.victim.get(f"/v1/memories/{stage.memory}").json
    assert (shown["version"], shown["status"]) == (1, "active")


def test_a_key_opens_nobody_elses_answer(stage: Stage) -> None:
    """The same key and request under another grant is another write, and under none a 401."""
    headers, body = {"Idempotency-Key": "k"}, {"content": "the heron again", "detail": SECRET}
    mine = stage.victim.post("/v1/memories", body, headers=headers)
    theirs = stage.stranger.post("/v1/memories", body, headers=headers)
    assert (mine.status, theirs.status) == (201, 201)
    assert mine.json["id"] != theirs.json["id"]
    assert stage.namespace.encode() not in theirs.body
    granted = stage.daemon.grant(namespaces={stage.namespace: "admin"})
    client = stage.victim.as_token(granted["token"])
    path, change = f"/v1/memories/{stage.memory}", {"detail": SECRET}
    assert client.call("PATCH", path, change, headers=headers).status == 200
    stage.daemon.owner().call("DELETE", f"/v1/grants/{granted['id']}")
    replayed = client.call("PATCH", path, change, headers=headers)
    assert replayed.status == 401
    assert b"heron" not in replayed.body


def test_what_others_store_is_not_felt(stage: Stage) -> None:
    """Scores, cursors, counts and status are to a stranger what they were, however much others
    store of the same words."""
    for n in range(5):
        stage.stranger.store(f"the ferry of the stranger, crossing number {n}")
    wait_for_vectors(stage)
    before = felt(stage)
    batch = {"items": [{"content": f"the ferry crossing of project heron {n}"} for n in range(60)]}
    assert stage.victim.post("/v1/memories/batch", batch).status == 200
    wait_for_vectors(stage)
    assert felt(stage) == before


def felt(stage: Stage) -> list[object]:
    """What the stranger can read, without the times it took."""
    stranger = stage.stranger
    answers: list[JsonObject] = [
        stranger.get("/v1/memories?limit=2").json,
        stranger.get("/v1/stats").json,
        stranger.get("/v1/status").json,
        stranger.get("/v1/rules").json,
        stranger.post("/v1/search", {"query": "ferry"}).json,
        stranger.post("/v1/search", {"query": "crossing number"}).json,
        stranger.post("/v1/recall", {"query": "ferry crossing", "explain": True}).json,
    ]
    passing = {"took_ms", "uptime_s"}
    return [{name: one[name] for name in one if name not in passing} for one in answers]


def wait_for_vectors(stage: Stage) -> None:
    """Wait until every row has its vector."""
    owner = stage.daemon.owner()
    eventually(lambda: vectors.written(owner), within=30)


def use_every_tool(client: Http, ident: str) -> list[tuple[JsonObject, Reply]]:
    """Each MCP tool with its smallest arguments, and `ident` wherever an id can be said."""
    used: list[tuple[JsonObject, Reply]] = []
    for tool in toolbox.result(client, "tools/list")["tools"]:
        fields = tool["inputSchema"]["properties"]
        arguments = smallest({}, tool["inputSchema"])
        arguments |= {name: ident for name in ("id", "supersedes") if name in fields}
        arguments |= {name: [ident] for name in ("ids",) if name in fields}
        call = {"name": tool["name"], "arguments": arguments}
        used.append((tool, toolbox.post(client, "tools/call", call)))
    return used


def is_refused(told: Reply) -> bool:
    """Whether a tool said no: as an error, or by the status of what was to be stored."""
    found = told.json["result"]
    said = decode(found["content"][0]["text"])
    return bool(found["isError"]) or said.get("status") in {"blocked", "invalid"}


def writes(operation: Operation) -> bool:
    """Whether the operation changes anything."""
    return operation.method in WRITING and operation.path not in READING_BY_POST


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
