"""No daemon, a stopped one, a silent one: hooks end in time, and no event is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from recalld.auth import record
from recalld.auth.paths import layout
from recalld.client.hooks import starter, wedge
from recalld.client.hooks.alarm import Overrun

from tests.harness import processes
from tests.harness.crowd import released_together
from tests.harness.daemons import Daemon
from tests.harness.fake_daemon import FakeDaemon
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.hooks.payloads import payload


def test_the_first_event_starts_the_daemon(hooks: Hooks, any_daemon: Daemon) -> None:
    """Without a daemon the event is spooled or delivered, and a daemon is up soon after."""
    hooks("claude-code", "UserPromptSubmit")
    assert len(hooks.spooled()) == 1
    eventually(lambda: any_daemon.published, within=20)
    eventually(lambda: _starters(hooks) == [])
    assert len(any_daemon.pids()) == 1


def _starters(hooks: Hooks) -> list[int]:
    """The `recalld start` processes of this test that still run."""
    home = hooks.cli.env["RECALLD_HOME"]
    pids = [int(entry.name) for entry in processes.PROC.iterdir() if entry.name.isdigit()]
    found = [
        pid
        for pid in pids
        if processes.command(pid)[-2:] == ["recalld", "start"]
        and processes.environ(pid).get("RECALLD_HOME") == home
        and processes.exists(pid)
    ]
    # A daemon just forked has its starter's command line until it has its own.
    return [pid for pid in found if processes.parent(pid) not in found]


def test_a_crowd_without_a_daemon_starts_one(hooks: Hooks, any_daemon: Daemon) -> None:
    """Twelve hooks at once start one daemon with one process, and every event is kept."""
    for ran in released_together(hooks.cli, [["hook", "claude-code", "Stop"]] * 12):
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "{}\n", "")
    assert len(_starters(hooks)) <= 1
    eventually(lambda: len(hooks.spooled()) == 12)
    eventually(lambda: any_daemon.published, within=20)
    assert len(any_daemon.pids()) == 1


def test_a_crowd_loses_no_event(hooks: Hooks, fake: FakeDaemon) -> None:
    """Forty hooks at once, more than the machine has time for: each event is somewhere once."""
    crowd = 40
    for ran in released_together(hooks.cli, [["hook", "codex", "Stop"]] * crowd):
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "{}\n", "")

    def kept() -> set[str]:
        return set(fake.ids()) | {str(event["id"]) for event in hooks.spooled()}

    eventually(lambda: len(kept()) == crowd)
    assert len(fake.ids()) == len(set(fake.ids()))


@pytest.fixture
def unstartable(data: Path) -> None:
    """A setting the daemon refuses to start with."""
    data.mkdir(mode=0o700)
    (data / "config.toml").write_text("no_such_setting = 1\n")
    (data / "config.toml").chmod(0o600)


@pytest.mark.usefixtures("unstartable")
def test_a_daemon_that_cannot_start_costs_no_event(hooks: Hooks) -> None:
    """Every event is spooled in order, and only one start is attempted in a while."""
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        hooks("claude-code", event)
    kinds = [event["kind"] for event in hooks.spooled()]
    assert kinds == ["session_start", "prompt", "tool_success", "stop", "session_end"]
    assert (Path(hooks.cli.env["RECALLD_HOME"]) / "run" / "hook-start.lock").stat().st_size == 1
    assert starter.PAUSE >= 2


def test_a_start_that_was_cut_off_counts_as_none(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook whose time ends before the launch leaves the start to the next hook."""
    place = layout(hooks.cli.env)
    os.makedirs(place.run, mode=0o700)
    os.chmod(place.data, 0o700)
    launched: list[int] = []

    def cut_off(_environ: object, _held: int) -> None:
        raise Overrun

    def launch(_environ: object, held: int) -> None:
        launched.append(held)

    monkeypatch.setattr(starter, "_launch", cut_off)
    with pytest.raises(Overrun):
        starter.start(place, hooks.cli.env)
    monkeypatch.setattr(starter, "_launch", launch)
    starter.start(place, hooks.cli.env)
    starter.start(place, hooks.cli.env)  # this one sees that a start was just tried
    assert len(launched) == 1


NO_INTERPRETER = """
import sys
sys.executable = "/no/such/python"
from recalld.client.hooks import run
run.main(["claude-code"])
"""


def test_an_interpreter_that_is_gone_costs_no_event(hooks: Hooks) -> None:
    """Not being able to start any process is the same as a daemon that does not start."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", NO_INTERPRETER],
        input=json.dumps(payload("claude-code", "SessionStart", str(hooks.cwd))).encode(),
        capture_output=True,
        cwd=hooks.cwd,
        env=hooks.cli.env,
        timeout=10,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}\n", b"")
    assert len(hooks.spooled()) == 1


def test_a_stopped_daemon_costs_no_event(hooks: Hooks, daemon: Daemon) -> None:
    """SIGSTOP: the first hook finds out within its budget, the next ones do not even ask."""
    processes.send(daemon.pid, signal.SIGSTOP)
    try:
        first = hooks("claude-code", "UserPromptSubmit")
        second = hooks("claude-code", "PostToolUse")
    finally:
        processes.send(daemon.pid, signal.SIGCONT)
    assert [event["kind"] for event in hooks.spooled()] == ["prompt", "tool_success"]
    assert second.seconds < first.seconds
    assert "silent" in hooks.log()


def test_a_silent_daemon_costs_no_event(hooks: Hooks, fake: FakeDaemon) -> None:
    """A daemon that takes the connection and says nothing is given up on."""
    fake.silent = True
    for host, event in (("gemini", "BeforeAgent"), ("kiro", "agentSpawn"), ("codex", "Stop")):
        hooks(host, event)
    assert [event["kind"] for event in hooks.spooled()] == ["prompt", "session_start", "stop"]


def test_a_backlog_nobody_accepts_from_costs_no_event(hooks: Hooks, fake: FakeDaemon) -> None:
    """A port that only queues connections is a silent daemon too."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = int(listener.getsockname()[1])
        record.publish(fake.layout, fake.record._replace(port=port))
        hooks("claude-code", "SessionStart")
        hooks("claude-code", "SessionEnd")
        record.publish(fake.layout, fake.record)
    assert [event["kind"] for event in hooks.spooled()] == ["session_start", "session_end"]


def test_a_daemon_that_came_back_is_asked_again(hooks: Hooks, fake: FakeDaemon) -> None:
    """What is remembered about a silent daemon ends with its record."""
    wedge.remember(fake.layout)
    hooks("claude-code", "Stop")
    assert fake.events == []
    record.publish(fake.layout, fake.record)
    hooks("claude-code", "Stop")
    assert len(fake.events) == 1


def test_a_stranger_on_the_port_gets_nothing(hooks: Hooks, fake: FakeDaemon) -> None:
    """Whoever cannot prove to be the daemon sees neither token nor event."""
    hooks("claude-code", "Stop")
    fake.events.clear()
    record.publish(fake.layout, fake.record._replace(secret="0" * 64))
    hooks("claude-code", "UserPromptSubmit")
    assert fake.events == []
    assert [event["kind"] for event in hooks.spooled()] == ["prompt"]


def test_an_answer_lost_on_the_way_is_asked_for_again(hooks: Hooks, fake: FakeDaemon) -> None:
    """A connection that breaks once is nothing; the event's id makes the second time harmless."""
    fake.breaks = 1
    hooks("claude-code", "UserPromptSubmit")
    assert len(fake.events) == 1
    assert hooks.spooled() == []
    fake.breaks = 9
    hooks("claude-code", "UserPromptSubmit")
    assert len(hooks.spooled()) == 1


@pytest.mark.parametrize(
    ("status", "code", "spooled"),
    [
        (500, "internal", True),
        (507, "disk_full", True),
        (404, "not_found", True),
        (408, "request_timeout", True),
        (400, "invalid_request", False),
        (413, "payload_too_large", False),
        (401, "unauthenticated", False),
        (403, "forbidden", False),
    ],
)
def test_refusals_are_final_and_troubles_are_not(
    hooks: Hooks, fake: FakeDaemon, status: int, code: str, spooled: bool
) -> None:
    """A revoked grant must not get in by way of the spool; a full disk must not cost the event."""
    fake.status = status
    fake.said = {"error": {"code": code, "message": "the text of the prompt", "hint": ""}}
    hooks("claude-code", "UserPromptSubmit")
    assert len(hooks.spooled()) == spooled
    assert code in hooks.log()
    assert "the text of the prompt" not in hooks.log()


def test_a_spooled_event_is_clean(hooks: Hooks, fake: FakeDaemon) -> None:
    """No secret and no private part reaches the disk of a machine whose daemon is down."""
    fake.silent = True
    prompt = "password=correct-horse-9!battery <private>4711</private> never push to main"
    hooks("claude-code", "UserPromptSubmit", prompt=prompt)
    (event,) = hooks.spooled()
    assert "correct-horse" not in event["text"]
    assert "4711" not in event["text"]
    assert "never push to main" in event["text"]


def test_a_data_folder_others_can_read_is_left_alone(hooks: Hooks, data: Path) -> None:
    """The hook says nothing, writes nothing and still ends with 0."""
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    hooks("claude-code", "SessionStart")
    assert [path.name for path in data.rglob("*")] == []


def test_an_impossible_data_folder_is_survived(hooks: Hooks) -> None:
    """A relative RECALLD_HOME is a mistake that a person hears about elsewhere."""
    stdin = json.dumps(payload("codex", "SessionStart", str(hooks.cwd))).encode()
    assert hooks.raw("codex", stdin, env={"RECALLD_HOME": "not/absolute"}).output == b"{}\n"
