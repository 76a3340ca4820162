"""Rights over HTTP: grants, roles, foreign namespaces, the owner."""

from __future__ import annotations

from pathlib import Path

import pytest
from recalld.daemon.http.table import ROUTES

from tests.daemon.started import Started
from tests.harness.http import Http

TEAM = "org:team"


def holder(served: Started, **namespaces: str) -> Http:
    """A client whose grant covers exactly these namespaces (`org_team` is org:team)."""
    named = {name.replace("_", ":"): role for name, role in namespaces.items()}
    return Http(served.port, token=served.grant(namespaces=named)["token"])


def test_a_checkouts_grant_covers_its_namespace_and_the_users(
    served: Started, tmp_path: Path
) -> None:
    """The daemon derives the namespace from the location itself."""
    grant = served.grant(checkout=str(tmp_path))
    (project, role), *rest = grant["namespaces"].items()
    assert project.startswith("project:")
    assert role == "admin"
    assert dict(rest) == {"user:local": "editor"}


def test_a_token_is_good_in_its_checkout_only(served: Started, tmp_path: Path) -> None:
    """Presented from another folder it is 401 grant_elsewhere; from its own it works."""
    client = served.client(tmp_path)
    at_home = {"Recalld-Checkout": str(tmp_path)}
    elsewhere = {"Recalld-Checkout": "/tmp/%C3%BC"}
    assert client.get("/v1/stats", headers=at_home).status == 200
    reply = client.get("/v1/stats", headers=elsewhere)
    assert (reply.status, reply.code) == (401, "grant_elsewhere")


def test_foreign_and_missing_namespaces_look_the_same(served: Started) -> None:
    """A namespace that is not granted is 403 whether or not it exists."""
    holder(served, org_secret="editor").store("hidden")
    client = holder(served, org_mine="editor")
    answers = set[tuple[int, str]]()
    for name in ("org:secret", "org:nowhere"):
        for path, body in [
            ("/v1/recall", {"query": "hidden", "namespaces": [name]}),
            ("/v1/search", {"query": "hidden", "namespaces": [name]}),
            ("/v1/memories", {"content": "x", "namespace": name}),
            ("/v1/conversations", {"session": "s", "turns": [{"text": "x"}], "namespace": name}),
        ]:
            reply = client.post(path, body)
            answers.add((reply.status, reply.code))
        for path in (f"/v1/memories?namespace={name}", f"/v1/stream?namespace={name}"):
            reply = client.get(path)
            answers.add((reply.status, reply.code))
    assert answers == {(403, "forbidden")}


def test_foreign_ids_are_not_found(served: Started) -> None:
    """Every route by id answers as if the memory did not exist."""
    ulid = holder(served, org_theirs="editor").store("theirs")
    client = holder(served, org_mine="admin")
    for method, path, body in [
        ("GET", "", None), ("GET", "/history", None), ("DELETE", "", None),
        ("POST", "/undo", None), ("PATCH", "", {"content": "mine"}),
    ]:  # fmt: skip
        reply = client.call(method, f"/v1/memories/{ulid}{path}", body)
        assert (reply.status, reply.code) == (404, "not_found"), (method, path)
    reply = client.post("/v1/memories", {"content": "x", "supersedes": ulid})
    assert reply.code == "not_found"


def test_viewers_read_editors_change_their_own_admins_change_all(served: Started) -> None:
    """The three roles over one namespace."""
    viewer, editor, other, admin = (
        holder(served, org_team=role) for role in ("viewer", "editor", "editor", "admin")
    )
    ulid = editor.store("ours")
    path = f"/v1/memories/{ulid}"
    assert viewer.get(path).status == 200
    assert viewer.post("/v1/memories", {"content": "x"}).code == "forbidden"
    for client in (viewer, other):
        assert client.call("PATCH", path, {"content": "changed"}).code == "forbidden"
        assert client.call("DELETE", path).code == "forbidden"
    assert editor.call("PATCH", path, {"content": "changed"}).status == 200
    assert admin.call("DELETE", path).status == 200
    assert other.call("POST", f"{path}/undo").code == "forbidden"
    assert admin.call("POST", f"{path}/undo").status == 200


def test_tokens_open_no_owner_routes_and_the_owner_no_memories(
    served: Started, client: Http
) -> None:
    """Two kinds of credentials, and neither does the other's work."""
    for method, path in [("GET", "/v1/grants"), ("POST", "/v1/grants"), ("POST", "/v1/stop")]:
        assert client.call(method, path, {} if method == "POST" else None).status == 401
    owner = served.owner()
    assert owner.get("/v1/memories").status == 401
    assert owner.post("/v1/recall", {"query": "x"}).status == 401
    assert Http(served.port, owner="0" * 64).get("/v1/grants").status == 401
    assert owner.get("/v1/grants").status == 200


def test_revoked_and_rotated_tokens_are_worth_nothing(served: Started, tmp_path: Path) -> None:
    """Rotation replaces the token, revocation ends it, and both are immediate."""
    owner = served.owner()
    grant = served.grant(checkout=str(tmp_path))
    old = Http(served.port, token=grant["token"])
    rotated = owner.call("POST", f"/v1/grants/{grant['id']}/rotate").json
    new = Http(served.port, token=rotated["token"])
    assert (old.get("/v1/stats").status, new.get("/v1/stats").status) == (401, 200)
    assert owner.call("DELETE", f"/v1/grants/{grant['id']}").json["result"] == "revoked"
    assert new.get("/v1/stats").status == 401
    assert owner.call("DELETE", f"/v1/grants/{grant['id']}").code == "not_found"


def test_every_grant_is_a_new_one(served: Started, tmp_path: Path) -> None:
    """A second grant for a checkout leaves the first as it is; `reuse` is no field any more."""
    first = served.grant(checkout=str(tmp_path))
    second = served.grant(checkout=str(tmp_path), namespaces={TEAM: "viewer"})
    assert second["id"] != first["id"]
    assert Http(served.port, token=first["token"]).get("/v1/stats").status == 200
    reply = served.owner().post("/v1/grants", {"namespaces": {TEAM: "viewer"}, "reuse": True})
    assert reply.code == "invalid_request"
    assert "token" not in served.owner().get("/v1/grants").json["grants"][0]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("namespaces", {"nonsense": "admin"}, "invalid_namespace"),
        ("namespaces", {TEAM: "king"}, "invalid_request"),
        ("namespaces", {}, "invalid_request"),
        ("checkout", "/does/not/exist", "invalid_request"),
        ("checkout", "relative/../path", "invalid_request"),
        ("checkout", ".", "invalid_request"),
        ("expires_at", "soon", "invalid_request"),
        ("label", "x" * 500, "payload_too_large"),
    ],
)
def test_odd_grants_are_refused(served: Started, field: str, value: object, code: str) -> None:
    """A grant that makes no sense is not issued."""
    reply = served.owner().post("/v1/grants", {field: value})
    assert reply.code == code


def test_an_expired_grant_opens_nothing(served: Started) -> None:
    """A grant with an end in the past answers like an unknown token."""
    body = {"namespaces": {TEAM: "viewer"}, "expires_at": "2020-01-01T00:00:00Z"}
    grant = served.owner().post("/v1/grants", body).json
    reply = Http(served.port, token=grant["token"]).get("/v1/stats")
    assert (reply.status, reply.code) == (401, "unauthenticated")


def test_rights_are_judged_before_bodies(served: Started) -> None:
    """Whoever may change nothing is refused, whatever was sent, on every route that changes."""
    viewer = holder(served, org_team="viewer")
    changing = [route for route in ROUTES if route.keyed]
    assert len(changing) > 10
    for route in changing:
        path = route.path.replace("{id}", "01JZ5W3V9Q8Y7X6W5V4T3S2R1Q")
        reply = viewer.call(route.method, path, {"no": "such field"})
        assert (reply.status, reply.code) == (403, "forbidden"), (route.method, route.path)
