"""A crowd of hooks at the same moment: a machine full of agents."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness.burst import burst
from tests.harness.cli import program
from tests.harness.daemons import Daemon
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.hooks.payloads import payload
from tests.hooks.schemas import problems

CROWD = 200


def test_two_hundred_hooks_at_once_lose_nothing(
    hooks: Hooks, any_daemon: Daemon, tmp_path: Path
) -> None:
    """Without a daemon at first: one is started, every hook ends well, every event counts once."""
    event = payload("claude-code", "UserPromptSubmit", str(hooks.cwd))
    inputs = [
        json.dumps(
            {**event, "session_id": f"s-{n}", "prompt": f"Always use wrench number {n} here."}
        ).encode()
        for n in range(CROWD)
    ]
    folder = tmp_path / "burst"
    folder.mkdir()
    command = [*program(), "hook", "claude-code"]
    for ran in burst(command, inputs, cwd=hooks.cwd, env=hooks.cli.env, folder=folder):
        assert (ran.status, ran.errors) == (0, b""), ran
        assert problems("claude-code", "UserPromptSubmit", ran.output) == [], ran
    eventually(lambda: any_daemon.published and hooks.spooled() == [], within=90)
    assert "lost" not in hooks.log()
    assert "dropped" not in hooks.log()
    kept: list[str] = []
    cursor: list[str] = []
    while not kept or cursor:
        page = hooks.cli.json("list", "--limit", "200", *cursor)
        kept += [item["content"] for item in page["items"] if item["evidence"] == 1]
        cursor = ["--cursor", page["next_cursor"]] if page["next_cursor"] else []
    assert sorted(kept) == sorted(f"Always use wrench number {n} here." for n in range(CROWD))
    assert len(any_daemon.pids()) == 1
