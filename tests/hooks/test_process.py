"""A hook process: what it sends, what it prints, and that nothing on stdin can upset it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recalld.client.hooks import hosts

from tests.harness.cli import program
from tests.harness.fake_daemon import FakeDaemon
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.hooks.payloads import payload
from tests.hooks.schemas import EVENTS, problems

FACTS = {"taken": 1, "context": "the pool has 5 connections", "deny": None, "notice": None}


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_session_of_each_host_arrives_in_order(hooks: Hooks, fake: FakeDaemon, host: str) -> None:
    """Every event is delivered once, with a valid output, nothing on stderr and no child left."""
    fake.said = dict(FACTS)
    for event in EVENTS[host]:
        hooks(host, event)
    assert [event["host"] for event in fake.events] == [host] * len(EVENTS[host])
    assert [event["kind"] for event in fake.events] == [
        _kind(host, event) for event in EVENTS[host]
    ]
    assert len(set(fake.ids())) == len(fake.events)
    assert {event["session"] for event in fake.events} != {""}
    assert hooks.spooled() == []
    assert hooks.log() == ""


def _kind(host: str, event: str) -> str:
    found = hosts.load(host).read(event, payload(host, event))
    assert found is not None
    return found.kind


def test_context_lands_in_the_output(hooks: Hooks, fake: FakeDaemon) -> None:
    """What the daemon says at a failure stands next to the failure."""
    fake.said = dict(FACTS)
    ran = hooks("claude-code", "PostToolUseFailure")
    assert ran.json["hookSpecificOutput"]["additionalContext"] == FACTS["context"]
    assert hooks("kiro", "agentSpawn").output == b"the pool has 5 connections\n"
    assert fake.replies == [True, True]


def test_a_refusal_carries_its_reason(hooks: Hooks, fake: FakeDaemon) -> None:
    """A rule the person marked as hard denies the call; anything else is left to the host."""
    fake.said = {**FACTS, "context": None, "deny": {"rule": "01", "reason": "never push to main"}}
    said = hooks("claude-code", "PreToolUse").json["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"] == "never push to main"


@pytest.mark.parametrize(
    ("host", "event"),
    [("kiro", "preToolUse"), ("cursor", "beforeSubmitPrompt"), ("claude-code", "Stop")],
)
def test_an_answer_nobody_can_see_is_not_asked_for(
    hooks: Hooks, fake: FakeDaemon, host: str, event: str
) -> None:
    """The daemon is told that this event's output carries nothing."""
    fake.said = {**FACTS, "deny": {"rule": "01", "reason": "no"}}
    hooks(host, event)
    assert fake.replies == [False]


def test_the_event_may_be_named_on_the_command_line(hooks: Hooks, fake: FakeDaemon) -> None:
    """A payload without a name is understood when the settings tell it."""
    ran = hooks.raw("codex", b'{"session_id": "s-2", "last_assistant_message": "x"}', "Stop")
    assert ran.output == b"{}\n"
    assert [event["kind"] for event in fake.events] == ["stop"]


def test_the_switch_turns_hooks_off(hooks: Hooks, fake: FakeDaemon) -> None:
    """An agent that recalld itself runs in the background must not feed it."""
    stdin = json.dumps(payload("claude-code", "SessionStart", str(hooks.cwd))).encode()
    ran = hooks.raw("claude-code", stdin, env={"RECALLD_HOOKS": "off"})
    assert ran.output == b"{}\n"
    assert fake.events == []


def test_an_unknown_host_ends_with_0_and_prints_nothing(hooks: Hooks) -> None:
    """A typing error in somebody's settings must not stop their agent; it is said on stderr."""
    for words in (["nobody"], [], ["--json"]):
        done = subprocess.run(
            [*program(), "hook", *words], input=b"{}", capture_output=True, env=hooks.cli.env
        )
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"claude-code" in done.stderr


def hostile(shared: Path | None = None) -> dict[str, bytes]:
    """Bytes that are no proper event."""
    deep = b'{"hook_event_name": "Stop", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    return {
        "empty": b"",
        "blank": b" \n",
        "half": b'{"session_id":"s-1","cwd":"/home/u/',
        "not JSON": b"this is not JSON",
        "no object": b"[1, 2]",
        "null": b"null",
        "wrong types": b'{"session_id": 7, "cwd": ["/x"], "hook_event_name": null}',
        "unknown event": b'{"hook_event_name": "SomethingNew", "session_id": "s-3"}',
        "unknown event of all": b'{"hook_event_name": "\\ud83d\\n{}", "session_id": "s-3"}',
        "not UTF-8": b'{"hook_event_name": "\xff\xfe"}',
        "NUL": b"\0" * 1000,
        "deep": deep,
        "huge number": b'{"hook_event_name": ' + b"9" * 100_000 + b"}",
        "more than is read": b'{"hook_event_name": "Stop", "x": "' + b"x" * 17_000_000 + b'"}',
    }


@pytest.mark.parametrize("name", list(hostile()))
@pytest.mark.parametrize("host", ["claude-code", "cursor", "kiro"])
def test_no_input_upsets_a_hook(hooks: Hooks, fake: FakeDaemon, host: str, name: str) -> None:
    """Whatever stands on stdin, the output is the host's neutral one."""
    ran = hooks.raw(host, hostile()[name])
    assert ran.output == (b"" if host == "kiro" else b"{}\n")
    assert fake.events == []


@pytest.mark.parametrize("host", hosts.NAMES)
def test_the_shared_payloads_are_answered(
    hooks: Hooks, fake: FakeDaemon, shared: Path, host: str
) -> None:
    """Each of the collected payloads, whosoever it is, gets a valid output from every host."""
    fake.said = dict(FACTS)
    for file in sorted((shared / "cases" / "hooks").iterdir()):
        raw = file.read_bytes()
        ran = hooks.raw(host, raw)
        assert problems(host, _event_name(raw), ran.output) == [], (file.name, ran)


def _event_name(raw: bytes) -> str:
    try:
        found: JsonObject = json.loads(raw)
    except ValueError:
        return ""
    return str(found.get("hook_event_name"))


def test_a_lone_surrogate_is_delivered(hooks: Hooks, fake: FakeDaemon) -> None:
    """Half a character in a prompt costs that character and nothing else."""
    hooks("claude-code", "UserPromptSubmit", prompt="How big is the pool? \ud83d")
    assert [event["text"] for event in fake.events] == ["How big is the pool? \ufffd"]


def test_ten_megabytes_are_cut_and_delivered(hooks: Hooks, fake: FakeDaemon) -> None:
    """A tool that printed ten megabytes is an event like any other."""
    response = {"stdout": "start " + "x" * 10_000_000 + " end", "stderr": ""}
    hooks("claude-code", "PostToolUse", tool_response=response)
    (event,) = [*fake.events, *hooks.spooled()]
    assert len(event["response"]) <= 8_000


def test_a_host_that_leaves_stdin_open_is_answered(hooks: Hooks, fake: FakeDaemon) -> None:
    """A whole object counts, whether or not the pipe is closed behind it."""
    sent = json.dumps(payload("claude-code", "Stop", str(hooks.cwd))).encode()
    with _started(hooks) as process:
        assert process.stdin is not None
        process.stdin.write(sent)
        process.stdin.flush()
        assert process.wait(timeout=10) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b"{}\n"
    assert len(fake.events) == 1


def test_a_host_that_never_writes_is_not_waited_for(hooks: Hooks) -> None:
    """An open pipe with nothing in it ends within the budget."""
    with _started(hooks) as process:
        assert process.wait(timeout=10) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b"{}\n"


def _started(hooks: Hooks) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*program(), "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=hooks.cwd,
        env=hooks.cli.env,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_survived(hooks: Hooks, fake: FakeDaemon, closed: str) -> None:
    """A hook without stdin, stdout or stderr ends with 0, and its output is never misdirected."""
    sent = hooks.cwd / "event.json"
    sent.write_text(json.dumps(payload("claude-code", "SessionStart", str(hooks.cwd))))
    script = f'exec "$@" {closed}' if "<" in closed else f'exec "$@" <event.json {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *program(), "hook", "claude-code"],
        cwd=hooks.cwd,
        env=hooks.cli.env,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=10,
    )
    assert done.returncode == 0
    assert done.stdout == (b"" if ">&-" in closed.replace("2>&-", "") else b"{}\n")
    assert len(fake.events) == ("<&-" not in closed)


def test_a_host_that_does_not_read_is_not_waited_for(hooks: Hooks, fake: FakeDaemon) -> None:
    """A full pipe nobody empties ends the hook by its timer."""
    fake.said = {**FACTS, "context": "y" * 9_000}
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b" " * 65_536):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)
    sent = json.dumps(payload("claude-code", "SessionStart", str(hooks.cwd))).encode()
    done = subprocess.run(
        [*program(), "hook", "claude-code"],
        input=sent,
        stdout=writer,
        stderr=subprocess.PIPE,
        cwd=hooks.cwd,
        env=hooks.cli.env,
        timeout=10,
    )
    os.close(reader)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


STRAY = """
import sys
import time
from recalld.client.hooks import delivery, run
class Chatty(delivery.Delivery):
    def send(self, event, **rest):
        print("migrating...")
        sys.stdout.flush()
        print("warning", file=sys.stderr)
        {end}
run.Delivery = Chatty
run.main(["claude-code"])
"""


SLOW_DISK = """
import os, time
fsync = os.fsync
os.fsync = lambda fd: (time.sleep(2.5), fsync(fd))
from recalld.client.hooks import delivery, run
def send(self, event, **rest):
    raise delivery.Unreached("nobody there")
delivery.Delivery.send = send
run.main(["claude-code"])
"""


def test_a_slow_disk_delays_the_spool_and_not_the_agent(hooks: Hooks) -> None:
    """The host has its process back in time; a child of it finishes the file."""
    sent = json.dumps(payload("claude-code", "Stop", str(hooks.cwd))).encode()
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-c", SLOW_DISK],
        input=sent,
        capture_output=True,
        cwd=hooks.cwd,
        env=hooks.cli.env,
        timeout=20,
    )
    assert time.monotonic() - began < 2.5
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")
    assert len(eventually(hooks.spooled)) == 1


@pytest.mark.parametrize(
    "end",
    [
        "return super().send(event, **rest)",
        "raise ZeroDivisionError('a mistake')",
        "raise KeyboardInterrupt",
        "sys.exit(3)",
        "import time; time.sleep(30)",
        "import os; os.kill(os.getpid(), 2); return super().send(event, **rest)",
    ],
)
def test_nothing_inside_can_reach_the_output(hooks: Hooks, fake: FakeDaemon, end: str) -> None:
    """Prints, mistakes, exits and hangs in our own code leave valid output and status 0."""
    sent = json.dumps(payload("claude-code", "Stop", str(hooks.cwd))).encode()
    done = subprocess.run(
        [sys.executable, "-P", "-c", STRAY.format(end=end)],
        input=sent,
        capture_output=True,
        cwd=hooks.cwd,
        env=hooks.cli.env,
        timeout=10,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")
    eventually(lambda: len(hooks.spooled()) == ("super" not in end))
    assert len(fake.events) == ("super" in end)
