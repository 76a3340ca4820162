"""Hooks and the real daemon: sessions arrive, and what waited in the spool is taken in."""

from __future__ import annotations

import signal

import pytest
from recalld.client.hooks import hosts

from tests.harness import processes
from tests.harness.crowd import released_together
from tests.harness.daemons import Daemon
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.hooks.schemas import EVENTS


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_session_of_each_host_is_taken(hooks: Hooks, daemon: Daemon, host: str) -> None:
    """The daemon takes every event of every host, and what it says is valid there."""
    assert daemon.published
    for event in EVENTS[host]:
        hooks(host, event)
    eventually(lambda: hooks.spooled() == [])
    assert "refused" not in hooks.log()


def test_what_waited_is_taken_in(hooks: Hooks, daemon: Daemon) -> None:
    """Events of a time when the daemon was stopped arrive by themselves."""
    processes.send(daemon.pid, signal.SIGSTOP)
    try:
        hooks("claude-code", "UserPromptSubmit")
        hooks("claude-code", "PostToolUseFailure")
    finally:
        processes.send(daemon.pid, signal.SIGCONT)
    assert len(hooks.spooled()) == 2
    eventually(lambda: hooks.spooled() == [], within=20)


def test_a_crowd_is_taken(hooks: Hooks, daemon: Daemon) -> None:
    """Forty hooks at once: whatever was not delivered waits, and is taken in soon after."""
    for ran in released_together(hooks.cli, [["hook", "codex", "Stop"]] * 40):
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "{}\n", "")
    eventually(lambda: hooks.spooled() == [], within=30)
    assert len(daemon.pids()) == 1
    assert "lost" not in hooks.log()


MISSING = "npm ERR! missing script: test"


def test_a_known_fix_reaches_agents_that_take_nothing_at_a_failure(
    hooks: Hooks, daemon: Daemon
) -> None:
    """Cursor gets it after the next call that works, Kiro with the next prompt; each once."""
    assert daemon.published
    npm, pnpm, ls = ({"command": f"{words}"} for words in ("npm test", "pnpm test", "ls"))
    hooks("claude-code", "PostToolUseFailure", tool_input=npm, error=f"Exit code 1\n{MISSING}")
    hooks("claude-code", "PostToolUse", tool_input=pnpm)

    hooks("cursor", "postToolUseFailure", tool_input=npm, error_message=MISSING)
    told = hooks("cursor", "postToolUse", tool_input=ls).json
    assert "What worked: `pnpm test`" in told["additional_context"]
    assert hooks("cursor", "postToolUse", tool_input=ls).json == {}

    failed = {"success": False, "result": [{"exit_status": "1", "stdout": "", "stderr": MISSING}]}
    assert hooks("kiro", "postToolUse", tool_input=npm, tool_response=failed).output == b""
    assert b"What worked: `pnpm test`" in hooks("kiro", "userPromptSubmit", prompt="go on").output
    assert b"What worked" not in hooks("kiro", "userPromptSubmit", prompt="go on").output
