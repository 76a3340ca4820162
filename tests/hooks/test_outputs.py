"""Each host gets its own format, for every event and every answer."""

from __future__ import annotations

import json

import pytest
from recalld.client.hooks import hosts
from recalld.client.hooks.event import MOST_CONTEXT, NOTHING, Answer, answer

from tests.hooks.schemas import EVENTS, problems

EVERY_EVENT = [(host, event) for host, events in EVENTS.items() for event in events]
STRANGE = ["SomethingNew", "", "Notification", "stop\nfoo", "\ud83d"]
ALL = Answer("facts \ud83d \u2028 “quoted”", "This repository forbids it.", "captured")
ANSWERS = [NOTHING, Answer(context="facts"), Answer(deny="no"), Answer(notice="kept"), ALL]


@pytest.mark.parametrize(("host", "event"), EVERY_EVENT)
def test_every_answer_is_valid_for_its_host(host: str, event: str) -> None:
    """Whatever the daemon says, what is printed satisfies the schema of that host's event."""
    module = hosts.load(host)
    for said in ANSWERS:
        assert problems(host, event, module.write(event, said)) == []
    assert problems(host, event, module.neutral(event)) == []


@pytest.mark.parametrize("host", hosts.NAMES)
@pytest.mark.parametrize("event", STRANGE)
def test_an_unknown_event_gets_the_neutral_output(host: str, event: str) -> None:
    """Events of the future are answered with nothing, even when the daemon says something."""
    module = hosts.load(host)
    said = module.write(event, Answer(context="facts", deny="no"))
    assert said == module.neutral(event)
    assert said == (b"" if host == "kiro" else b"{}\n")
    assert module.read(event, {}) is None


CONTEXT = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "SubagentStart", "PostToolUseFailure"),
    "codex": ("SessionStart", "UserPromptSubmit", "SubagentStart", "PostToolUse"),
    "gemini": ("SessionStart", "BeforeAgent", "AfterTool"),
    "cursor": ("sessionStart", "postToolUse"),
    "kiro": ("agentSpawn", "userPromptSubmit"),
}


@pytest.mark.parametrize(("host", "event"), EVERY_EVENT)
def test_context_is_said_where_the_model_sees_it_and_nowhere_else(host: str, event: str) -> None:
    """Context reaches the events that carry it; Stop and the like stay silent."""
    said = hosts.load(host).write(event, Answer(context="the pool has 5 connections"))
    assert (b"the pool has 5 connections" in said) == (event in CONTEXT[host])


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_event_name_is_inside_the_specific_output(host: str) -> None:
    """A top-level additionalContext is dropped by the host, so it never is one."""
    said = json.loads(hosts.load(host).write("SubagentStart", Answer(context="facts")))
    assert said == {
        "hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "facts"}
    }


REFUSALS = {
    "claude-code": "PreToolUse",
    "codex": "PreToolUse",
    "gemini": "BeforeTool",
    "cursor": "beforeShellExecution",
}


@pytest.mark.parametrize(("host", "event"), EVERY_EVENT)
def test_only_a_tool_call_can_be_refused(host: str, event: str) -> None:
    """A refusal on any other event would erase a prompt or hide a result."""
    said = hosts.load(host).write(event, Answer(deny="forbidden here"))
    refusable = {REFUSALS.get(host, "")} | (
        {"preToolUse", "beforeMCPExecution"} if host == "cursor" else set[str]()
    )
    assert (b"forbidden here" in said) == (event in refusable)


@pytest.mark.parametrize("host", hosts.NAMES)
def test_what_cannot_be_said_is_not_asked_for(host: str) -> None:
    """A rule that may be shown once must not be used up on an event that shows nothing."""
    module = hosts.load(host)
    for event in EVENTS[host]:
        everything = module.write(event, Answer(context="facts", deny="no"))
        assert module.takes(event) == (everything != module.neutral(event))


@pytest.mark.parametrize(
    "said",
    [
        {"context": "x" * (MOST_CONTEXT + 1)},
        {"context": "\U0001f600" * (MOST_CONTEXT // 2 + 1)},
        {"context": ["x"], "deny": "no", "notice": 3},
        {"context": " \n", "deny": {"rule": 1}, "notice": ""},
        {},
    ],
    ids=["long", "long in UTF-16", "wrong types", "blank", "empty"],
)
def test_an_impossible_answer_says_nothing(said: dict[str, object]) -> None:
    """An overlong block would be filed away by the host, and a wrong type would be rejected."""
    assert answer(said) == NOTHING


def test_a_whole_answer_is_read() -> None:
    """Context up to the limit, the refusal's reason and the notice arrive."""
    context = "x" * MOST_CONTEXT
    said = answer({"context": context, "deny": {"rule": "1", "reason": "no"}, "notice": "kept"})
    assert said == Answer(context, "no", "kept")
