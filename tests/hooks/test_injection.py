"""Hostile memories on every way to an agent: starts, prompts, failures, tools, the rules verb."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.harness.checkouts import Checkouts
from tests.harness.daemons import Daemon
from tests.hooks.conftest import Hooks
from tests.hooks.scripted import Scripted
from tests.mcp.test_injection import blocks
from tests.mcp.toolbox import use

CASES = [f"i{number:02d}" for number in range(1, 15)]
HIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls and what reorders text; a terminal shows the rest as somebody wrote it."""
MOST = 60_000
"""Characters of a payload that the store takes."""


@pytest.fixture
def payloads(shared: Path) -> dict[str, str]:
    """The shared payloads by their ids."""
    cases = json.loads((shared / "cases" / "injection.json").read_text(encoding="utf-8"))
    return {case["id"]: (case["text"] or "x" * 200_000)[:MOST] for case in cases}


def test_every_payload_is_tried(payloads: dict[str, str]) -> None:
    """No case of the collection is left out below."""
    assert list(payloads) == CASES


@pytest.mark.parametrize(("host", "step"), [("claude-code", 1), ("kiro", 5)])
def test_hostile_memories_stay_data_wherever_they_are_shown(
    hooks: Hooks,
    daemon: Daemon,
    checkout: Checkouts,
    payloads: dict[str, str],
    host: str,
    step: int,
) -> None:
    """Each payload as rule, note and failure: at most one block each time, and nothing outside.

    Kiro, which reads plain text instead of JSON, gets some of them.
    """
    for name, payload in list(payloads.items())[::step]:
        hooks.cwd = hooks.cli.cwd = checkout(f"case-{name}")
        store(hooks, "--kind", "correction", content=f"About flux: {payload}")
        store(hooks, content=f"The flux compensator listens on port 88. {payload}")
        session = Scripted(hooks, host)
        shown = {
            "start": session.start(),
            "prompt": session.prompt("Which port has the flux compensator?"),
            **failing(session, payload),
            "verb": str(hooks.cli.json("rules")["text"]),
        }
        whole = len(payload) < MOST  # a longer one is over every budget, and left out
        lines = hooks.cli.ok("rules").split("\n")[:-1]
        assert len(lines) == whole, name
        assert not HIDDEN.search("".join(lines)), name
        said = {way: text for way, text in shown.items() if text.strip()}
        assert {way: blocks(text) for way, text in said.items()} == dict.fromkeys(said, 1), name
        assert (set(said) >= {"start", "verb", "failure"}) == whole, name
        assert all(len(text) <= 10_000 for text in said.values()), name
        client = daemon.http((hooks.cwd / ".recalld" / "token").read_text().strip())
        assert blocks(use(client, "load_rules")["rules"]) == whole, name
        assert blocks(str(use(client, "memory_recall", query="flux"))) == 0, name
        assert blocks(str(use(client, "lessons"))) == 0, name


def store(hooks: Hooks, *options: str, content: str) -> None:
    """Store what arguments could not hold."""
    hooks.cli.ok("store", "-", *options, stdin=content)


def failing(session: Scripted, payload: str) -> dict[str, str]:
    """A failure full of the payload, its fix, and what the next such failure is told."""
    error = f"Error: flux is full: {payload[:2_000]}"
    session.fails("flux up", error)
    session.works("flux up --drain")
    another = session.another()
    another.start()
    told = another.fails("flux up", error)
    return {"failure": told or another.prompt("go on")}
