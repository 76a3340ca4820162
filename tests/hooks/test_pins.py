"""A namespace that a checkout pins holds for verbs, hooks, the spool and the bridge alike."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import processes
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject, decode
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.mcp.bridged import Bridged

TEAM = "org:team"


@pytest.fixture
def bridge(hooks: Hooks, daemon: Daemon) -> Iterator[Bridged]:
    """A bridge in the hooks' checkout."""
    assert daemon.published
    begun = Bridged(hooks.cli.env, hooks.cwd)
    yield begun
    begun.end()


def pin(hooks: Hooks, content: str) -> None:
    """Put a setting into the checkout, as a cloned repository brings it along."""
    folder = hooks.cwd / ".recalld"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "config.toml").write_text(content)


def spool(hooks: Hooks, daemon: Daemon, prompt: str) -> Path:
    """Have the daemon miss a prompt; the folder of what waits."""
    processes.send(daemon.pid, signal.SIGSTOP)
    try:
        hooks("claude-code", "UserPromptSubmit", prompt=prompt)
    finally:
        processes.send(daemon.pid, signal.SIGCONT)
    return Path(hooks.cli.env["RECALLD_HOME"]) / "spool"


def places(hooks: Hooks) -> dict[str, str]:
    """The namespace of every memory by its text."""
    rows = hooks.cli.json("list")["items"]
    return {row["content"]: row["namespace"] for row in rows}


def doctored(hooks: Hooks) -> JsonObject:
    """What doctor says of the pin."""
    checks = decode(hooks.cli("doctor", "--json").stdout)["checks"]
    (found,) = [check for check in checks if check["name"] == "pin"]
    return decode(json.dumps(found))


def test_a_confirmed_pin_holds_everywhere(hooks: Hooks, daemon: Daemon, bridge: Bridged) -> None:
    """What a verb, a hook, the spool and an agent keep lies in one place."""
    hooks.cli.ok("grant", "issue", "--namespace", TEAM)
    pin(hooks, f'namespace = "{TEAM}"\n')
    hooks.cli.ok("store", "Told by a verb.")
    hooks("claude-code", "UserPromptSubmit", prompt="Always use hooks in this repo.")
    folder = spool(hooks, daemon, "Always use spools in this repo.")
    bridge.use(1, "memory_store", content="Told by an agent.")
    bridge.use(2, "save_checkpoint", remaining="the tests")
    found = bridge.collect(2)
    assert [one["result"]["isError"] for one in found] == [False, False]
    eventually(lambda: not list(folder.glob("*.json")), within=20)
    assert doctored(hooks)["state"] == "ok"
    kept = places(hooks)
    assert len(kept) == 4
    assert set(kept.values()) == {TEAM}
    bridge.use(3, "load_checkpoint")
    text = str(bridge.collect(3)[-1]["result"]["content"][0]["text"])
    assert json.loads(text)["namespace"] == TEAM


def test_reading_verbs_look_where_storing_ones_keep(hooks: Hooks, daemon: Daemon) -> None:
    """Rules, lessons, recall and the checkpoint of a pinned checkout are those of its pin."""
    assert daemon.published
    hooks.cli.ok("checkpoint", "save", "--remaining", "of the project alone")
    hooks.cli.ok("grant", "issue", "--namespace", TEAM)
    pin(hooks, f'namespace = "{TEAM}"\n')
    assert hooks.cli.json("checkpoint", "load")["checkpoint"] is None
    hooks.cli.ok("checkpoint", "save", "--remaining", "of the team")
    hooks.cli.ok("store", "Never push to main", "--kind", "correction")
    hooks("claude-code", "PostToolUseFailure", error="Exit code 1\nError: no route to db:5432")
    hooks("claude-code", "PostToolUse", tool_input={"command": "pytest -q --db"})
    loaded = hooks.cli.json("checkpoint", "load")["checkpoint"]
    assert (loaded["remaining"], loaded["namespace"]) == ("of the team", TEAM)
    assert [rule["namespace"] for rule in hooks.cli.json("rules")["rules"]] == [TEAM]
    assert [hit["namespace"] for hit in hooks.cli.json("recall", "push main")["hits"]] == [TEAM]
    assert len(hooks.cli.json("lessons", "--namespace", TEAM)["lessons"]) == 1
    assert hooks.cli.json("lessons")["lessons"]
    assert TEAM in hooks.cli.ok("checkpoint", "clear")
    (hooks.cwd / ".recalld" / "config.toml").unlink()
    assert hooks.cli.json("checkpoint", "load")["checkpoint"]["remaining"] == "of the project alone"


@pytest.mark.parametrize("namespace", [TEAM, "user:local"])
def test_an_unconfirmed_pin_captures_nothing(
    hooks: Hooks, daemon: Daemon, bridge: Bridged, namespace: str
) -> None:
    """A cloned repository decides neither where things go nor that they go elsewhere."""
    hooks("claude-code", "SessionStart")
    pin(hooks, f'namespace = "{namespace}"\n')
    hooks("claude-code", "UserPromptSubmit", prompt="Always use hooks in this repo.")
    assert "refused: pin_unconfirmed" in hooks.log()
    folder = spool(hooks, daemon, "Always use spools in this repo.")
    eventually(lambda: not list(folder.glob("*.json")), within=20)
    bridge.use(1, "memory_store", content="Told by an agent.")
    assert namespace in str(bridge.collect(1))
    assert doctored(hooks)["state"] == "warning"
    (hooks.cwd / ".recalld" / "config.toml").unlink()
    assert places(hooks) == {}
