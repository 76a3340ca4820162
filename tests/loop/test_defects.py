"""The thirteen defects seen in claude-recall, and where each is tested: one would fail on it.

 1  a rule loses its negation              what the user says is kept word for word
 2  a lesson is boilerplate                it names what fails and what works, or is none
 3  raw JSON, "[object Object]", "Unknown" every kind is shown as text
 4  all words must occur                   one shared word, or the meaning, is enough
 5  injections of 65-131 kB                at most 10,000 characters, whole items
 6  context where no host reads it         every output satisfies its host's schema
 7  `tool_output`, which no host sends     `tool_response` and `error` are read
 8  limits above five have no effect       they are honoured
 9  memories leak into every project       a project's stay in it unless said otherwise
10  users' settings are replaced           our entries are merged in, and come out again
11  good news and own text are learned     neither is
12  zombie servers, text on stdout         bridges end with their host; stdout is the protocol's
13  one counter for loads and injections   they are counted apart, once a session
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.daemon.started import Started
from tests.loop.agent import Agent, ids
from tests.mcp.toolbox import text, use

FAILURES, CAPTURE, RULES = "loop/test_failures", "loop/test_capture", "loop/test_rules"
HOOKED, HOSTS, BRIDGE = "hooks/test_outputs", "connect/test_hosts", "mcp/test_bridge"
HERE = "loop/test_defects"
TESTED = {
    1: [f"{CAPTURE}.test_a_prompts_rule_is_stored_with_its_negation"],
    2: [
        f"{FAILURES}.test_evidence_adds_up_to_a_rule",
        f"{FAILURES}.test_unrelated_failures_do_not_add_up",
        f"{FAILURES}.test_what_worked_by_itself_teaches_nothing",
    ],
    3: [f"{HERE}.test_nothing_is_shown_as_data_structure"],
    4: [f"{CAPTURE}.test_what_was_captured_is_found_by_other_words"],
    5: [f"{HERE}.test_no_moment_injects_more_than_hosts_take"],
    6: [
        f"{HOOKED}.test_the_event_name_is_inside_the_specific_output",
        f"{HOOKED}.test_every_answer_is_valid_for_its_host",
    ],
    7: [
        "hooks/test_events.test_the_response_is_read_from_its_real_field",
        f"{FAILURES}.test_success_is_read_from_what_hosts_send",
    ],
    8: [f"{CAPTURE}.test_what_was_captured_is_found_by_other_words"],
    9: [
        f"{RULES}.test_another_checkouts_rules_stay_there",
        "mcp/test_tools.test_scope_is_the_project_unless_said_otherwise",
    ],
    10: [
        f"{HOSTS}.test_hooks_of_the_person_stay",
        f"{HOSTS}.test_any_settings_come_back_byte_for_byte",
        "connect/test_json.test_merging_adds_exactly_ours",
    ],
    11: [
        f"{FAILURES}.test_good_news_and_slips_are_no_failures",
        "hooks/test_events.test_mentioning_errors_is_no_failure",
        "loop/test_intake.test_what_we_said_is_not_learned_again",
    ],
    12: [
        f"{BRIDGE}.test_nothing_but_messages_on_stdout",
        f"{BRIDGE}.test_it_ends_with_its_input",
        f"{BRIDGE}.test_it_ends_with_its_parent",
    ],
    13: [
        f"{HERE}.test_loads_injections_and_citations_are_counted_apart",
        "loop/test_upkeep.test_unused_rules_go_only_if_asked_and_only_if_they_were_relevant",
    ],
}


def test_every_defect_has_a_test() -> None:
    """The table above names all thirteen, and every test it names is there."""
    assert list(TESTED) == list(range(1, 14))
    folder = Path(__file__).parent.parent
    for name in (name for names in TESTED.values() for name in names):
        module, _, test = name.partition(".")
        tree = ast.parse((folder / f"{module}.py").read_text(encoding="utf-8"))
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name


def test_nothing_is_shown_as_data_structure(agent: Agent) -> None:
    """Rules, context, lessons and recall show sentences for every kind and for odd tool inputs."""
    kinds = ("correction", "preference", "devops", "failure", "solution")
    said = {kind: f"the {kind} about the flux compensator" for kind in kinds}
    for kind, content in said.items():
        agent.http.store(content, kind=kind)
    agent.start()
    inputs = json.dumps({"pattern": {"a": [1, None]}, "path": "/srv/app"})
    for session in (agent, agent.session()):
        session.tell(
            "tool_failure", tool="Deploy", input=inputs, error="Error: cannot deploy: no quota"
        )
        session.fails("npm test", "npm ERR! missing script: test")
        session.works("pnpm test")
    shown = [
        agent.rules()["text"],
        agent.session().start()["context"],
        agent.session().prompt("What about the flux compensator?")["context"],
        agent.session().fails("npm test", "npm ERR! missing script: test")["context"],
        *(str(lesson["failing"]) + str(lesson["fix"]) for lesson in agent.lessons()),
        *(str(hit["text"]) for hit in use(agent.http, "memory_recall", query="flux")["hits"]),
    ]
    for content in said.values():
        assert content in shown[0]
        assert content in shown[1]
    for one in shown:
        for odd in ('{"', "[object", "Unknown", "None", "undefined"):
            assert odd not in one, one


def test_no_moment_injects_more_than_hosts_take(agent: Agent) -> None:
    """Starts, compactions, sub-agents, prompts and failures stay within 10,000 characters of whole
    items, in a namespace of thousands.
    """
    for batch in range(3):
        items = [
            {"content": f"Rule {batch}-{n}: the importer {'y' * 400}", "kind": kind}
            for n in range(500)
            for kind in ("correction", "failure")
        ]
        assert agent.http.post("/v1/memories/batch", {"items": items}).status == 200
    told = {
        "start": agent.start(),
        "compact": agent.start("compact"),
        "sub-agent": agent.tell("subagent_start", agent="explorer"),
        "prompt": agent.session().prompt("Why does the importer fail? Rule 1-1"),
        "failure": agent.fails("importer run", "Error: the importer is full of yyyy"),
    }
    for moment, answer in told.items():
        context = answer["context"] or ""
        assert len(context) <= 10_000, moment
        assert context.count("| Rule ") == len(ids(context)), moment
        assert context.count("y" * 400) == len(ids(context)), moment
    assert ids(told["start"]["context"])
    assert ids(told["sub-agent"]["context"])
    assert len(text(agent.http, "load_rules").encode()) <= 10_000


def test_loads_injections_and_citations_are_counted_apart(
    start: Callable[..., Started], tmp_path: Path, data: Path
) -> None:
    """However many tool calls, prompts and compactions, each counts once a session by its way."""
    served = start()
    agent = Agent(served.client(tmp_path))
    rule = agent.http.store("Use tabs for indentation", kind="preference")
    note = agent.http.store("The staging database listens on port 6380")
    for session in (agent, agent.session()):
        session.start()
        for _ in range(5):
            session.wants("ls")
            session.works("ls")
            session.prompt("Which port has the staging database? And use tabs for indentation.")
        session.start("compact")
        session.prompt("Which port has the staging database?")
    agent.stops(f"done [recalld:{rule}]")
    agent.stops(f"and again [recalld:{rule}]")
    served.end()
    store = apsw.Connection(str(data / "memory.db"))
    found = store.execute(
        "SELECT m.ulid, c.loaded, c.injected, c.cited FROM counters c JOIN memories m USING (rid)"
    )
    assert {ulid: counts for ulid, *counts in found} == {rule: [2, 0, 1], note: [0, 2, 0]}
    store.close()


@pytest.mark.parametrize("limit", [1, 5, 6, 25])
def test_a_limit_is_honoured(agent: Agent, limit: int) -> None:
    """Defect 8 once more, where agents ask."""
    items = [{"content": f"package note number {n} is about pnpm"} for n in range(30)]
    agent.http.post("/v1/memories/batch", {"items": items})
    assert len(agent.http.recall("package note about pnpm", limit=limit)) == limit
    found = use(agent.http, "memory_search", query="package note about pnpm", limit=limit)
    assert len(found["hits"]) == limit
