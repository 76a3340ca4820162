"""Rules, checkpoints and lessons over MCP; resources and prompts for hosts that show them."""

from __future__ import annotations

import orjson
import pytest

from tests.daemon.started import Started
from tests.harness.http import Http
from tests.mcp.toolbox import post, refused, result, text, use


def holder(served: Started, name: str, role: str = "admin") -> Http:
    """A client whose grant covers one namespace that no other test uses."""
    return Http(served.port, token=served.grant(namespaces={f"org:{name}": role})["token"])


def test_rules_come_as_one_block(served: Started) -> None:
    """Corrections before preferences, counted; notes are no rules."""
    client = holder(served, "rules")
    assert use(client, "load_rules")["counts"]["total"] == 0
    client.store("Never push to main.", kind="correction")
    client.store("The user likes tabs.", kind="preference")
    client.store("Just a note.")
    found = use(client, "load_rules")
    assert (found["counts"]["corrections"], found["counts"]["preferences"]) == (1, 1)
    assert found["rules"].index("Never push") < found["rules"].index("likes tabs")
    assert "Just a note" not in found["rules"]
    assert "more" not in found


@pytest.mark.parametrize("budget", [1_024, 4_000, 8_192, 61_440])
@pytest.mark.parametrize(
    "letter", ["rule ", "\u0436\u0438\u0437\u043d\u044c ", '"quoted\n" ', "\u6f22"]
)
def test_rules_keep_the_budget(served: Started, budget: int, letter: str) -> None:
    """Whatever script they are written in; what was left out is said."""
    client = holder(served, f"many-{budget}-{ord(letter[0])}")
    for number in range(120):
        client.store(f"{number}: {letter * (200 // len(letter))}", kind="devops")
    answer = text(client, "load_rules", budget_bytes=budget)
    assert len(orjson.dumps(answer)) <= budget
    found = orjson.loads(answer)
    assert found["counts"]["dropped"] > 0
    assert found["more"].startswith(str(found["counts"]["dropped"]))


def test_a_checkpoint_goes_on_in_the_next_session(served: Started) -> None:
    """Saved and loaded whole; none is said plainly; what is missing is named."""
    client = holder(served, "progress")
    assert use(client, "load_checkpoint") == {"found": False}
    given = {"remaining": "write tests", "completed": "parser", "notes": "see \u202eparse.py"}
    assert use(client, "save_checkpoint", **given)["status"] == "saved"
    found = use(client, "load_checkpoint")
    assert (found["found"], found["remaining"], found["completed"]) == (
        True,
        "write tests",
        "parser",
    )
    assert found["notes"] == "see \\u202eparse.py"
    assert "remaining" in refused(client, "save_checkpoint", completed="all")["message"]
    assert "remaining" in refused(client, "save_checkpoint", remaining="")["message"]
    viewer = holder(served, "progress", "viewer")
    assert refused(viewer, "save_checkpoint", remaining="x")["code"] == "forbidden"


def test_a_long_checkpoint_keeps_the_budget(served: Started) -> None:
    """Each part is shortened, none disappears."""
    client = holder(served, "long")
    parts = ("remaining", "completed", "blockers", "notes")
    use(client, "save_checkpoint", **dict.fromkeys(parts, '"\u6f22"' * 2_000))
    for budget in (1_024, 8_192):
        answer = text(client, "load_checkpoint", budget_bytes=budget)
        assert len(orjson.dumps(answer)) <= budget
        found = orjson.loads(answer)
        assert all(len(found[name]) > 3 for name in parts)
        assert set(found["cut"]) == set(parts)


def test_lessons_are_listed(served: Started) -> None:
    """A failure and its fix, told by a hook's events, come back as a lesson."""
    client = holder(served, "lessons")
    assert use(client, "lessons") == {"lessons": []}
    event = {"host": "codex", "session": "s1", "tool": "Bash", "at": "2026-01-01T00:00:00Z"}
    failed = {**event, "id": "e1", "kind": "tool_failure", "input": '{"command":"pnpm test"}',
              "error": "Error: Cannot find module 'vitest'"}  # fmt: skip
    fixed = {**event, "id": "e2", "kind": "tool_success", "input": '{"command":"pnpm test --run"}',
             "response": "12 passed"}  # fmt: skip
    reply = client.post("/v1/events", {"events": [failed, fixed]})
    assert reply.status == 200, reply
    listed = client.get("/v1/lessons").json["lessons"]
    found = use(client, "lessons")["lessons"]
    assert [one["id"] for one in found] == [one["id"] for one in listed]
    assert "status" in refused(client, "lessons", status="great")["message"]


def test_resources_are_the_same_rules(served: Started) -> None:
    """Hosts that show resources get the rules and the checkpoint."""
    client = holder(served, "resources")
    client.store("Deploy with make ship.", kind="devops")
    listed = result(client, "resources/list")["resources"]
    assert [one["uri"] for one in listed] == ["recalld://rules", "recalld://checkpoint"]
    assert result(client, "resources/templates/list")["resourceTemplates"] == []
    (rules,) = result(client, "resources/read", {"uri": "recalld://rules"})["contents"]
    assert "make ship" in rules["text"]
    (checkpoint,) = result(client, "resources/read", {"uri": "recalld://checkpoint"})["contents"]
    assert orjson.loads(checkpoint["text"]) == {"found": False}
    assert "error" in post(client, "resources/read", {"uri": "recalld://other"}).json


def test_prompts_bring_what_is_remembered(served: Started) -> None:
    """A user picks one and the memory is in the conversation."""
    client = holder(served, "prompts")
    client.store("Deploy with make ship.", kind="devops")
    listed = result(client, "prompts/list")["prompts"]
    assert [one["name"] for one in listed] == ["begin", "recall"]
    begin = result(client, "prompts/get", {"name": "begin"})["messages"][0]["content"]["text"]
    assert "make ship" in begin
    given = {"name": "recall", "arguments": {"topic": "how to deploy"}}
    recall = result(client, "prompts/get", given)["messages"][0]["content"]["text"]
    assert "make ship" in recall
    assert "topic" in post(client, "prompts/get", {"name": "recall"}).json["error"]["message"]
    assert "error" in post(client, "prompts/get", {"name": "sing"}).json
