"""What an editor may not do to rows of others: every route that changes one, against an admin's."""

from __future__ import annotations

import pytest

from tests.daemon.started import Started
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject
from tests.loop.agent import Agent

TEAM = "org:foreign-rows"
PNPM, YARN = "Use pnpm for this project", "Use yarn for this project"


def _holder(served: Started, role: str) -> Http:
    return Http(served.port, token=served.grant(namespaces={TEAM: role})["token"])


@pytest.fixture
def admin(served: Started) -> Http:
    """Who wrote the rows."""
    return _holder(served, "admin")


@pytest.fixture
def editor(served: Started) -> Http:
    """Who may write, but not change what others wrote."""
    return _holder(served, "editor")


def _seen(client: Http, ulid: str) -> JsonObject:
    return client.get(f"/v1/memories/{ulid}").json


CHANGES: list[tuple[str, str, JsonObject | None]] = [
    ("PATCH", "/v1/memories/{id}", {"content": "changed"}),
    ("DELETE", "/v1/memories/{id}", None),
    ("POST", "/v1/memories/{id}/undo", None),
    ("POST", "/v1/memories", {"content": "in its place", "supersedes": "{id}"}),
    ("POST", "/v1/rules/{id}/promote", None),
    ("POST", "/v1/rules/{id}/demote", None),
    ("POST", "/v1/rules/{id}/hard", {"pattern": "rm *"}),
    ("DELETE", "/v1/rules/{id}/hard", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_an_editor_changes_no_row_of_another_grant(
    admin: Http, editor: Http, method: str, path: str, body: JsonObject | None
) -> None:
    """Each changing route refuses, and the row stays as it was."""
    ulid = admin.store(f"An admin's rule against {method} {path}", kind="correction")
    admin.call("PATCH", f"/v1/memories/{ulid}", {"importance": 0.9})
    admin.call("POST", f"/v1/rules/{ulid}/hard", {"pattern": "make *"})
    before = _seen(admin, ulid)
    sent = body and {name: str(text).replace("{id}", ulid) for name, text in body.items()}
    reply = editor.call(method, path.replace("{id}", ulid), sent)
    assert (reply.status, reply.code) == (403, "forbidden")
    assert _seen(admin, ulid) == before


def test_a_batch_supersedes_only_own_rows(admin: Http, editor: Http) -> None:
    """In a batch the item that would replace another's row is refused alone."""
    theirs, own = admin.store("the admin's fact"), editor.store("the editor's fact")
    items = [{"content": f"instead of {n}", "supersedes": n} for n in (theirs, own)]
    told = editor.post("/v1/memories/batch", {"items": items}).json["results"]
    assert told[0]["error"]["code"] == "forbidden"
    assert told[1]["result"] == "superseded"
    assert _seen(admin, theirs)["status"] == "active"


def test_an_editors_choice_stands_beside_an_admins(admin: Http, editor: Http) -> None:
    """A keyed preference retires own ones; another grant's stays, and an admin's retires all."""
    theirs = admin.store(PNPM, kind="preference")
    reply = editor.post("/v1/memories", {"content": YARN, "kind": "preference"})
    assert reply.status == 201
    assert reply.json["result"] == "stored"
    assert "ignore" not in reply.json
    assert _seen(admin, theirs)["status"] == "active"
    newer = admin.post(
        "/v1/memories", {"content": "Use npm for this project", "kind": "preference"}
    )
    assert [one["id"] for one in newer.json["ignore"]] == [theirs]


def test_a_choice_heard_by_a_hook_retires_no_row_of_another_grant(
    served: Started, admin: Http
) -> None:
    """What a hook captures is kept under the rights of the grant it came with."""
    theirs = admin.store("Use jest for this project", kind="preference")
    agent = Agent(_holder(served, "editor"))
    assert "keeps" in agent.prompt("Always use vitest for this project.")["notice"]
    assert _seen(admin, theirs)["status"] == "active"
