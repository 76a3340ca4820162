"""Rules: which a session is given, what is counted, promoted, demoted, and forbidden."""

from __future__ import annotations

import json

import pytest

from tests.daemon.started import Started
from tests.harness.http import Http
from tests.loop.agent import Agent, ids

NO_SUCH_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def test_rules_are_filled_by_kind_and_whole(agent: Agent) -> None:
    """Corrections first, then solutions, preferences, devops, failures (three at most)."""
    for number in range(5):
        agent.http.store(f"failure number {number}", kind="failure")
    for kind in ("devops", "preference", "solution", "correction", "note"):
        agent.http.store(f"one {kind}", kind=kind)
    told = agent.rules()
    kinds = [rule["kind"] for rule in told["rules"]]
    assert kinds == ["correction", "solution", "preference", "devops", *["failure"] * 3]
    assert told["counts"] == {
        "corrections": 1, "solutions": 1, "preferences": 1, "devops": 1, "failures": 3,
        "total": 7, "dropped": 2,
    }  # fmt: skip
    assert told["more"] == 2
    assert "2 more via recalld search" in told["text"]


def test_a_budget_is_kept_with_whole_items(agent: Agent) -> None:
    """What does not fit is left out whole, a smaller one behind it is not (defect 5)."""
    agent.http.store("the long one " + "x" * 3000, kind="correction")
    agent.http.store("the short one", kind="correction")
    told = agent.rules(budget=300)
    assert [rule["content"] for rule in told["rules"]] == ["the short one"]
    assert len(told["text"]) <= 300 * 4
    assert told["counts"]["dropped"] == 1
    assert "the long one" in agent.rules(budget=2000)["text"]


def test_thousands_of_rules_stay_within_ten_thousand_characters(agent: Agent) -> None:
    """However large the namespace and the budget, no injection is larger than hosts take."""
    for _ in range(5):
        items = [{"content": f"Rule {n}: {'y' * 90}", "kind": "correction"} for n in range(1000)]
        items = [item | {"detail": str(_)} for item in items]
        agent.http.post("/v1/memories/batch", {"items": items})
    for text in (agent.rules(20_000)["text"], agent.start()["context"]):
        assert 0 < len(text) <= 10_000
        assert text.endswith("</recalld-memories>")
    assert agent.rules(20_000)["counts"]["dropped"] > 4900


def test_cited_rules_come_first(agent: Agent) -> None:
    """Citations outrank freshness, and are found in the agent's text by id and in words."""
    first = agent.http.store("Run the linter before every commit", kind="preference")
    second = agent.http.store("Keep functions below thirty lines", kind="preference")
    newest = agent.http.store("Write the changelog by hand", kind="preference")
    agent.start()
    agent.stops(f"I ran it, see [recalld:{first}]. (applied from memory: functions thirty lines)")
    order = [rule["id"] for rule in agent.rules()["rules"]]
    assert order == [second, first, newest] or order == [first, second, newest]
    assert [rule["cited"] for rule in agent.rules()["rules"]] == [1, 1, 0]


def test_a_rule_is_counted_once_a_session(agent: Agent) -> None:
    """Defect 13: neither tool calls nor prompts nor compactions add to what was loaded."""
    rule = agent.http.store("Use tabs for indentation", kind="preference")
    agent.start()
    for _ in range(3):
        agent.wants("ls")
        agent.prompt("Use tabs for indentation of this file")
    agent.start("compact")
    agent.stops(f"done [recalld:{rule}] and again [recalld:{rule}]")
    agent.stops(f"still [recalld:{rule}]")
    assert agent.rules()["rules"][0]["cited"] == 1


def test_another_checkouts_rules_stay_there(
    served: Started, agent: Agent, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Defect 9: a rule belongs to its project unless it is stored for the user explicitly."""
    other = Agent(served.client(tmp_path_factory.mktemp("other")))
    agent.http.store("Only for this project", kind="correction")
    shared = agent.http.store("For all my projects", kind="correction", namespace="user:local")
    assert [rule["content"] for rule in other.rules()["rules"]] == ["For all my projects"]
    assert agent.rules()["counts"]["corrections"] == 2
    agent.http.call("DELETE", f"/v1/memories/{shared}")


def test_a_rule_is_put_away_and_brought_back(agent: Agent) -> None:
    """Demoting archives, promoting restores; what is no rule is refused with a remedy."""
    rule = agent.http.store("Use tabs", kind="preference")
    note = agent.http.store("a mere note")
    assert agent.http.call("POST", f"/v1/rules/{rule}/demote").json["status"] == "archived"
    assert agent.rules()["rules"] == []
    assert agent.http.call("POST", f"/v1/rules/{rule}/promote").json["status"] == "active"
    assert len(agent.rules()["rules"]) == 1
    for deed in ("promote", "demote"):
        assert agent.http.call("POST", f"/v1/rules/{note}/{deed}").code == "conflict"
        assert agent.http.call("POST", f"/v1/rules/{NO_SUCH_ID}/{deed}").code == "not_found"


def test_a_lesson_is_promoted_by_hand(agent: Agent) -> None:
    """The user need not wait for a second time; put away, it does not come back by itself."""
    agent.fails("npm test", "npm ERR! missing script: test")
    agent.works("pnpm test")
    (lesson,) = agent.lessons()
    rule = agent.http.call("POST", f"/v1/rules/{lesson['id']}/promote").json
    assert rule["kind"] == "failure"
    assert agent.lessons()[0]["rule"] == rule["id"]
    agent.http.call("POST", f"/v1/rules/{rule['id']}/demote")
    assert agent.lessons()[0]["status"] == "archived"
    again = agent.session()
    again.fails("npm test", "npm ERR! missing script: test")
    again.works("pnpm test")
    assert agent.contents("failure") == []


def test_an_explicit_store_overrides_and_says_what_to_ignore(agent: Agent) -> None:
    """A stored preference retires the one it contradicts, reversibly."""
    old = agent.http.store("use pnpm not npm in this repo", kind="preference")
    reply = agent.http.post(
        "/v1/memories", {"content": "Use yarn instead of pnpm", "kind": "preference"}
    )
    assert reply.json["result"] == "superseded"
    assert reply.json["ignore"] == [{"id": old, "content": "use pnpm not npm in this repo"}]
    undone = agent.http.call("POST", f"/v1/rules/{old}/promote")
    assert undone.json["status"] == "active"
    assert agent.contents("preference") == ["use pnpm not npm in this repo"]


def test_only_what_is_hard_forbids_and_only_once(agent: Agent) -> None:
    """A marked rule denies a fitting call with its reason, once a session; nothing else gates."""
    rule = agent.http.store("Never force-push to main", kind="correction")
    assert agent.wants("git push --force origin main")["deny"] is None
    mark = {"tool": "Bash", "pattern": "git push *--force*"}
    assert agent.http.post(f"/v1/rules/{rule}/hard", mark).json == {"id": rule, **mark}
    assert agent.wants("git push origin main")["deny"] is None
    deny = agent.wants("cd /srv && git push --force origin main")["deny"]
    assert deny["rule"] == rule
    assert "Never force-push to main" in deny["reason"]
    assert agent.wants("git push --force origin main")["deny"] is None
    other = agent.session()
    assert other.wants("git push --force", tool="Write")["deny"] is None
    assert other.wants("git push origin main --force-with-lease")["deny"] is not None
    assert agent.http.call("DELETE", f"/v1/rules/{rule}/hard").json["result"] == "softened"
    assert agent.session().wants("git push --force origin main")["deny"] is None


def test_a_refusal_nobody_can_pass_on_is_not_used_up(agent: Agent) -> None:
    """A hook of a host that cannot refuse asks for no reply; the next one still can."""
    rule = agent.http.store("Never drop tables", kind="correction")
    agent.http.post(f"/v1/rules/{rule}/hard", {"pattern": "*drop table*"})
    event = agent.event(
        "pre_tool", tool="Bash", input=json.dumps({"command": "psql -c 'drop table x'"})
    )
    assert agent.send(event, reply=False).json["deny"] is None
    assert agent.wants("psql -c 'drop table x'")["deny"]["rule"] == rule


def test_a_pattern_that_forbids_everything_is_refused(agent: Agent) -> None:
    """A hard rule must say what it is about."""
    rule = agent.http.store("Never do anything", kind="correction")
    for pattern in ("**", "*?*", "   *"):
        reply = agent.http.post(f"/v1/rules/{rule}/hard", {"pattern": pattern})
        assert reply.status == 400, pattern


def test_a_grant_that_only_reads_changes_no_rule(served: Started, agent: Agent) -> None:
    """Viewers see rules; they neither promote, demote, harden nor tell events."""
    rule = agent.http.store("Use tabs", kind="preference")
    namespace = agent.memories("preference")[0]["namespace"]
    token = served.grant(namespaces={namespace: "viewer"})["token"]
    viewer = Http(served.port, token=token)
    assert len(viewer.get("/v1/rules").json["rules"]) == 1
    for method, path, body in [
        ("POST", f"/v1/rules/{rule}/demote", None),
        ("POST", f"/v1/rules/{rule}/promote", None),
        ("POST", f"/v1/rules/{rule}/hard", {"pattern": "rm *"}),
        ("DELETE", f"/v1/rules/{rule}/hard", None),
        ("PUT", "/v1/checkpoint", {"remaining": "everything"}),
        ("DELETE", "/v1/checkpoint", None),
        ("POST", "/v1/events", {"events": [agent.event("stop")]}),
    ]:
        assert viewer.call(method, path, body).code == "forbidden", (method, path)


def test_foreign_rules_and_lessons_do_not_exist(
    served: Started, agent: Agent, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The answer for another project's rule is the one for none."""
    rule = agent.http.store("Use tabs", kind="preference")
    agent.fails("npm test", "npm ERR! missing script: test")
    agent.works("pnpm test")
    other = served.client(tmp_path_factory.mktemp("foreign"))
    for ulid in (rule, agent.lessons()[0]["id"]):
        for deed in ("promote", "demote"):
            assert other.call("POST", f"/v1/rules/{ulid}/{deed}").code == "not_found"
        assert other.post(f"/v1/rules/{ulid}/hard", {"pattern": "rm *"}).code == "not_found"
    assert other.get("/v1/lessons").json["lessons"] == []
    assert other.get("/v1/outcomes").json["outcomes"] == []


def test_sub_agents_get_the_rules(agent: Agent) -> None:
    """Defect 6 is about where hosts read it; that there is something to read is ours."""
    rule = agent.http.store("Use tabs", kind="preference")
    assert ids(agent.tell("subagent_start", agent="explorer")["context"]) == [rule]
