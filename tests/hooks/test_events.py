"""Every host's events become the same neutral ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recalld.client.hooks import hosts
from recalld.client.hooks.event import Event
from recalld.client.hooks.failures import failure
from recalld.client.hooks.packing import packed

from tests.harness.jsontypes import JsonObject
from tests.hooks.payloads import payload
from tests.hooks.schemas import EVENTS


def event_of(host: str, name: str, **fields: object) -> Event:
    """The event that this host's payload becomes; it must be one we know."""
    found = hosts.load(host).read(name, {**payload(host, name), **fields})
    assert found is not None
    return found


KINDS = {
    "claude-code": {
        "SessionStart": "session_start",
        "UserPromptSubmit": "prompt",
        "PreToolUse": "pre_tool",
        "PostToolUse": "tool_success",
        "PostToolUseFailure": "tool_failure",
        "SubagentStart": "subagent_start",
        "SubagentStop": "subagent_stop",
        "Stop": "stop",
        "SessionEnd": "session_end",
        "PreCompact": "pre_compact",
        "PostCompact": "post_compact",
    },
    "gemini": {"BeforeAgent": "prompt", "AfterAgent": "stop", "PreCompress": "pre_compact"},
    "cursor": {"sessionStart": "session_start", "postToolUseFailure": "tool_failure"},
    "kiro": {"agentSpawn": "session_start", "userPromptSubmit": "prompt"},
}


@pytest.mark.parametrize(
    ("host", "name", "kind"),
    [(host, name, kind) for host, kinds in KINDS.items() for name, kind in kinds.items()],
)
def test_events_have_their_neutral_kind(host: str, name: str, kind: str) -> None:
    """What hosts call differently is the same moment."""
    assert event_of(host, name).kind == kind


@pytest.mark.parametrize("host", hosts.NAMES)
def test_every_event_has_a_session_and_a_folder(host: str) -> None:
    """Kiro tells no session, so one is made of the terminal; the folder always arrives."""
    for name in EVENTS[host]:
        found = event_of(host, name)
        assert found.session
        assert found.session == event_of(host, name).session
        assert found.cwd == "/work"


def test_the_prompt_arrives_word_for_word() -> None:
    """The sentence keeps its negation."""
    sentence = "Never start the tests without docker compose up first."
    assert event_of("claude-code", "UserPromptSubmit").text == sentence


def test_the_response_is_read_from_its_real_field() -> None:
    """`tool_response` is the field there is; `tool_output` never existed in Claude Code."""
    sent = packed(event_of("claude-code", "PostToolUse"), "claude-code")
    assert "1 passed" in str(sent["response"])
    assert sent["input"] == '{"command":"pytest -q"}'


def test_a_failure_carries_its_error() -> None:
    """The error is what the known fix is looked up by."""
    assert event_of("claude-code", "PostToolUseFailure").error.startswith("Exit code 1")
    assert event_of("cursor", "postToolUseFailure").error == "no such file"


def test_an_interrupted_call_says_so() -> None:
    """A call the person interrupted is no lesson."""
    found = event_of("claude-code", "PostToolUseFailure", is_interrupt=True)
    assert found.reason == "interrupt"


def test_what_the_agent_said_last_arrives() -> None:
    """Citations are looked for in it."""
    assert event_of("claude-code", "Stop").text == "It works now."
    assert event_of("gemini", "AfterAgent").text == "Fixed."
    assert event_of("cursor", "afterAgentResponse").text == "Done."
    assert event_of("kiro", "stop").text == "Done."


def test_a_sub_agents_events_are_told_from_the_sessions_own() -> None:
    """Only inside a sub-agent there is an id; a session started as some agent is the person's."""
    assert event_of("claude-code", "SubagentStart").agent == "Explore"
    assert event_of("claude-code", "PostToolUse", agent_id="a-1", agent_type="Plan").agent == "Plan"
    assert event_of("claude-code", "UserPromptSubmit", agent_type="Plan").agent == ""


def test_a_persons_address_is_left_behind() -> None:
    """Cursor sends an e-mail address with every event; nothing of it is passed on."""
    for name in EVENTS["cursor"]:
        assert "person@example.com" not in str(packed(event_of("cursor", name), "cursor"))


FAILED: list[object] = [
    {"exit_code": 1, "stderr": "no such file"},
    {"success": False, "result": "denied"},
    {"success": True, "result": [{"exit_status": "2", "stdout": "", "stderr": "bad"}]},
    {"isError": True, "content": [{"type": "text", "text": "bad"}]},
    {"llmContent": "Stdout: x\nExit Code: 1\nSignal: 0", "returnDisplay": "x"},
    {"llmContent": "x", "error": {"message": "bad", "type": "shell"}},
    "Process exited with code 127\nOutput:\nzsh: command not found: foo",
    "Exit code: 2",
    "Wall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nexit code: 0\n",
    "all went well, exit code: 0 everywhere\nExit code: 2",
    {"metadata": {"exit_code": 2}, "output": "bad"},
]

WORKED: list[object] = [
    None,
    "",
    "0 errors found",
    "The failed test was removed: no error left",
    {"exit_code": 0, "output": "error: 0"},
    {"success": True, "result": ["exit code is documented in README"]},
    {"llmContent": "Error: (none)\nExit Code: 0", "error": None},
    {"stdout": "a log that says error", "stderr": "", "interrupted": False},
    "x" * 400 + "\nExit code: 1\n" + "x" * 400,
    [[[[[[{"exit_code": 1}]]]]]],
    {"output": "error: previous build failed\nexit code: 2\nrecovered", "exit_code": 0},
    {"output": "exit code: 2", "metadata": {"exit_code": 0, "duration_seconds": 0.1}},
    {"success": True, "result": ["exit code: 2"]},
    {"success": True, "result": [{"exit_status": "0", "stdout": "exit code: 2", "stderr": ""}]},
    {"stdout": "exit status 1", "exitCode": 0},
    "Exit code: 0\nhello\nexit code: 2 was seen",
    "Chunk ID: 7\nProcess exited with code 0\nOutput:\nexit code: 2\n",
    {"llmContent": "Output: x\nexit code: 2\nrecovered\nExit Code: 0\nSignal: (none)"},
    {"exit_code": True},
    {"exit_code": "none"},
    7,
]


@pytest.mark.parametrize("response", FAILED)
def test_a_stated_failure_is_one(response: object) -> None:
    """Flags, error fields and exit statuses count, also where a host nests them."""
    assert failure(response)


@pytest.mark.parametrize(
    "response",
    [
        {"success": False, "result": [{"exit_status": "1", "stdout": "", "stderr": "bad"}]},
        {"success": True, "result": [{"exit_status": "1", "stdout": "bad", "stderr": ""}]},
        {"isError": True, "content": [{"type": "text", "text": "bad"}]},
        {"success": False, "output": {"stderr": " ", "stdout": "bad"}},
        {"exit_code": 1, "output": "bad"},
    ],
)
def test_the_error_is_the_tools_own_text(response: object) -> None:
    """However deep it lies; the whole response as JSON would look different every time."""
    assert failure(response) == "bad"


@pytest.mark.parametrize("response", WORKED)
def test_mentioning_errors_is_no_failure(response: object) -> None:
    """Text about errors, and statuses inside a tool's own output, are no failures."""
    assert failure(response) is None


@pytest.mark.parametrize(
    ("host", "name", "field"),
    [
        ("codex", "PostToolUse", "tool_response"),
        ("gemini", "AfterTool", "tool_response"),
        ("kiro", "postToolUse", "tool_response"),
    ],
)
def test_hosts_with_one_event_for_both_endings(host: str, name: str, field: str) -> None:
    """A failed response turns the event into a failure with its error."""
    found = event_of(host, name, **{field: {"exit_code": 3, "stderr": "no such table"}})
    assert (found.kind, found.error) == ("tool_failure", "no such table")


def test_cursors_output_is_json_in_a_string() -> None:
    """The exit status inside the string counts."""
    found = event_of("cursor", "postToolUse", tool_output='{"exitCode": 1, "stderr": "bad"}')
    assert (found.kind, found.error) == ("tool_failure", "bad")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=12,
)
FIELDS = st.sampled_from(sorted({key for host in hosts.NAMES for key in payload(host, "stop")}))


@given(st.sampled_from(hosts.NAMES), st.data(), st.dictionaries(FIELDS, JSON, max_size=5))
def test_no_payload_is_too_strange(host: str, data: st.DataObject, odd: JsonObject) -> None:
    """Wrong types, missing fields and lone surrogates are read as far as they make sense."""
    name = data.draw(st.sampled_from(EVENTS[host]))
    whole = {**payload(host, name), **odd}
    listed: JsonObject = {key: [value] for key, value in whole.items()}
    for given_payload in (odd, whole, listed):
        found = hosts.load(host).read(name, given_payload)
        assert found is not None
        assert packed(found, host)["session"]
