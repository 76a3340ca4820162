"""The one way in: own blocks, private parts, secrets, sizes; and each event once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.auth.checkout import locate
from recalld.daemon.intake import gate

from tests.daemon.started import Started
from tests.harness.http import Http
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually
from tests.loop.agent import Agent

SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
PASSWORD = "Tr0ub4dor-and-3"


def everything(data: Path) -> bytes:
    """Every byte of every file of a data folder."""
    return b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())


def test_no_secret_reaches_the_disk(
    start: Callable[..., Started], tmp_path: Path, data: Path
) -> None:
    """Prompts, commands, errors and messages are redacted before anything is written."""
    served = start()
    agent = Agent(served.client(tmp_path))
    agent.prompt(f"Always use the token {SECRET} for the API.")
    agent.fails(
        f"curl -H 'Authorization: Bearer {SECRET}' https://u:{PASSWORD}@h.example/x && npm test",
        f"Error: request with {SECRET} was refused",
    )
    agent.works(f"pnpm test --token={SECRET}")
    agent.stops(f"Next steps: rotate {SECRET} as soon as possible")
    agent.ends()
    (kept,) = agent.contents("preference")
    assert kept == "Always use the token [redacted:github-token] for the API."
    assert agent.outcomes()["totals"]["failures"] == 1
    served.end()
    found = everything(data)
    assert SECRET.encode() not in found
    assert PASSWORD.encode() not in found


def test_private_parts_are_never_kept(agent: Agent) -> None:
    """What the user marks private is gone before anything looks at it."""
    agent.prompt("Always use spaces. <private>Never tell Bob about project Falcon.</private>")
    assert agent.contents("preference") == ["Always use spaces."]
    assert agent.contents("correction") == []
    assert agent.http.post("/v1/search", {"query": "Falcon"}).json["hits"] == []


def test_what_we_said_is_not_learned_again(agent: Agent) -> None:
    """Defect 11: an injected block that comes back in a prompt or message teaches nothing."""
    agent.http.store("Never deploy on Fridays", kind="correction")
    context = agent.start()["context"]
    agent.prompt(f"{context}\nAlways greet in German.")
    agent.prompt(str(context))
    assert agent.contents("correction") == ["Never deploy on Fridays"]
    assert agent.contents("preference") == ["Always greet in German."]
    agent.stops(f"I was told:\n{context}")
    assert [rule["cited"] for rule in agent.rules()["rules"]] == [0, 0]
    agent.prompt(f"{context}\nMake the importer run")
    agent.fails("node import.js", f"{context}\nError: connect ECONNREFUSED 127.0.0.1:5433")
    agent.ends()
    kept = json.dumps([agent.outcomes(), agent.http.get("/v1/checkpoint").json])
    assert "ECONNREFUSED" in kept
    assert "recalld-memories" not in kept
    assert "Fridays" not in kept


def test_explicit_writes_are_kept_as_said_and_flagged(agent: Agent) -> None:
    """Somebody who stores a key means it; the answer says what was seen."""
    body = {"content": f"The deploy key is {SECRET}"}
    reply = agent.http.post("/v1/memories", body)
    assert reply.json["flags"] == ["secret:github-token"]
    assert agent.http.get(f"/v1/memories/{reply.json['id']}").json["content"] == body["content"]
    assert "flags" not in agent.http.post("/v1/memories", {"content": "harmless"}).json
    long = agent.http.post("/v1/memories", {"content": f"{'word ' * 2000}{SECRET}"})
    assert long.json["flags"] == ["secret:github-token"]


@given(st.text(max_size=400), st.integers(10, 200))
def test_what_is_admitted_is_bounded_and_stays_so(text: str, most: int) -> None:
    """Any text comes out storable, within its size, and unchanged by a second pass."""
    once = gate.admit(text, most).text
    assert len(once) <= most
    once.encode("utf-8")
    assert "\0" not in once
    assert gate.admit(once, most).text == once


def test_an_event_has_its_effects_once(agent: Agent) -> None:
    """Sent again with or without the key, in a batch or alone, it is counted and not repeated."""
    event = agent.event("prompt", text="Always use spaces.")
    assert agent.send(event, event).json["taken"] == 2
    assert agent.send(event, reply=False).json["taken"] == 1
    body = {"events": [event], "reply": True}
    assert agent.http.post("/v1/events", body).json["taken"] == 1
    (memory,) = agent.memories("preference")
    assert memory["evidence"] == 1


def test_events_of_one_request_are_taken_in_order(agent: Agent) -> None:
    """A batch is a piece of a session: the fix pairs with the failure before it."""
    failed = agent.event(
        "tool_failure",
        tool="Bash",
        input=json.dumps({"command": "npm test"}),
        error="npm ERR! missing script: test",
    )
    worked = agent.event("tool_success", tool="Bash", input=json.dumps({"command": "pnpm test"}))
    assert agent.send(failed, worked, reply=False).json["taken"] == 2
    assert [lesson["fix"] for lesson in agent.lessons()] == ["pnpm test"]


def test_an_older_success_is_no_fix(agent: Agent) -> None:
    """What worked before it failed did not fix it, whenever it arrives."""
    early = agent.event("tool_success", tool="Bash", input=json.dumps({"command": "pnpm test"}))
    agent.fails("npm test", "npm ERR! missing script: test")
    agent.send(early, reply=False)
    assert agent.lessons() == []


def test_odd_events_do_no_harm(agent: Agent) -> None:
    """Cut inputs, foreign shapes and empty fields are taken; unknown kinds are refused."""
    for raw in ("", "[]", "null", '{"command": ["bash", "-lc", "npm test"]}', '{"command":"npm te'):
        for kind in ("tool_failure", "tool_success", "pre_tool"):
            event = agent.event(
                kind, tool="Bash", input=raw, error="Error: missing script", text=""
            )
            assert agent.send(event).status == 200, raw
    bad = agent.event("something_new")
    assert agent.send(bad).code == "invalid_request"
    assert agent.http.post("/v1/events", {"events": []}).code == "invalid_request"


def spooled(data: Path, name: str, checkout: str, events: list[JsonObject]) -> Path:
    """A file as hooks leave it."""
    folder = data / "spool"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    data.chmod(0o700)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"schema": 1, "checkout": checkout, "events": events}))
    path.chmod(0o600)
    return path


def test_the_spool_is_taken_in_at_the_start(
    start: Callable[..., Started], data: Path, tmp_path: Path
) -> None:
    """Events of a time without a daemon arrive in order, once, where their checkout belongs."""
    offline = Agent(Http(1))
    told = {"tool": "Bash", "input": json.dumps({"command": "npm test"})}
    failed = offline.event("tool_failure", error="npm ERR! missing script: test", **told)
    told = {"tool": "Bash", "input": json.dumps({"command": "pnpm test"})}
    worked = offline.event("tool_success", **told)
    prompt = offline.event("prompt", text="Always use spaces.")
    root = str(tmp_path)
    for number, event in enumerate((failed, worked, prompt, failed)):
        spooled(data, f"0{number}", root, [event])
    served = start()
    eventually(lambda: not list((data / "spool").glob("*.json")))
    agent = Agent(served.client(tmp_path))
    assert agent.contents("preference") == ["Always use spaces."]
    (memory,) = agent.memories("preference")
    assert memory["namespace"] == locate(root).namespace
    (lesson,) = agent.lessons()
    assert (lesson["fix"], lesson["evidence"]) == ("pnpm test", 1)
    agent.send(prompt)
    assert agent.memories("preference")[0]["evidence"] == 1


def test_the_spool_is_taken_in_while_running(
    start: Callable[..., Started], data: Path, tmp_path: Path
) -> None:
    """Every look of the supervisor takes in what lies there; nonsense is set aside, not retried."""
    served = start()
    agent = Agent(served.client(tmp_path))
    spooled(data, "01", str(tmp_path), [agent.event("prompt", text="Always use spaces.")])
    (data / "spool" / "00.json").write_text("half a fi")
    os.chmod(data / "spool" / "00.json", 0o600)
    spooled(data, "03", str(tmp_path), [{"kind": "prompt"}])
    loose = spooled(data, "04", str(tmp_path), [agent.event("prompt", text="Always use a saw.")])
    loose.chmod(0o644)
    eventually(lambda: not list((data / "spool").glob("*.json")))
    assert agent.contents("preference") == ["Always use spaces."]
    assert sorted(path.name for path in (data / "spool").glob("*.refused")) == [
        "00.refused", "03.refused", "04.refused",
    ]  # fmt: skip


def test_an_event_counts_in_every_namespace(
    served: Started, agent: Agent, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Delivered again after its checkout moved to another namespace, it is not taken in twice."""
    event = agent.event("prompt", text="Always use spaces.")
    other = Agent(served.client(tmp_path_factory.mktemp("moved")))
    assert agent.send(event).json["taken"] == 1
    assert other.send(event).json["taken"] == 1
    assert (agent.contents("preference"), other.contents("preference")) == (
        ["Always use spaces."],
        [],
    )


def test_an_id_that_another_project_used_is_no_event_of_theirs(
    served: Started, agent: Agent, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Clients choose their ids: the same one in another session is another event, and is kept."""
    other = Agent(served.client(tmp_path_factory.mktemp("elsewhere")))
    assert agent.send({**agent.event("prompt", text="Always use tabs."), "id": "1"}).status == 200
    assert other.send({**other.event("prompt", text="Always use spaces."), "id": "1"}).status == 200
    assert (agent.contents("preference"), other.contents("preference")) == (
        ["Always use tabs."],
        ["Always use spaces."],
    )
