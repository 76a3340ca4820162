"""What doctor finds in agents' settings, and what it says to run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from recalld.client.connectors import health, hosts
from recalld.client.service import installation
from recalld.client.service.examination import Check

from tests.connect.wired import Wired, write
from tests.harness.cli import Cli


def lasting(_path: str, _environ: Mapping[str, str]) -> bool:
    """Stands in for `ephemeral`, which tests are wherever they run: no place vanishes by itself."""
    return False


def passing(_path: str, _environ: Mapping[str, str]) -> bool:
    """The other way round: every place does."""
    return True


@pytest.fixture
def examined(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> Wired:
    """A command that lasts, and no data folder in the environment: commands compare equal."""
    monkeypatch.setattr(installation, "ephemeral", lasting)
    wired.environ = {name: one for name, one in wired.environ.items() if name != "RECALLD_HOME"}
    return wired


def found(wired: Wired) -> list[Check]:
    """Doctor's lines about agents."""
    command = wired.launch.launcher
    return list(health.examine(wired.layout, wired.environ, command, str(wired.root)))


def only(wired: Wired) -> Check:
    """Its one line."""
    checks = found(wired)
    assert len(checks) == 1, checks
    return checks[0]


def test_nothing_is_said_about_agents_that_are_not_here(examined: Wired) -> None:
    """A home without agents has no lines."""
    assert found(examined) == []


def test_an_agent_that_is_here_is_offered(examined: Wired) -> None:
    """Its folder exists, so doctor says how to connect it."""
    (examined.home / ".codex").mkdir()
    check = only(examined)
    assert (check.name, check.state, check.fix) == ("codex", "note", "Run: recalld connect codex")


def test_what_is_suggested_is_not_refused(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a place where connecting wants --force, the command in the line has it."""
    monkeypatch.setattr(installation, "ephemeral", passing)
    (wired.home / ".codex").mkdir()
    assert only(wired).fix == "Run: recalld connect codex --force"


@pytest.mark.parametrize("host", hosts.NAMES)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_a_connected_agent_is_fine(examined: Wired, host: str, scope: str) -> None:
    """Everything is in place, in either scope."""
    if host == "kiro":
        write(examined.home / ".kiro/settings/cli.json", b'{"chat.defaultAgent": "recalld"}')
    examined.connect(host, scope)
    states = {check.name: check.state for check in found(examined)}
    assert states[host if scope == "user" else f"{host} here"] == "ok"


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_command_that_is_gone_is_a_failure(examined: Wired, host: str) -> None:
    """An upgrade that removed the launcher is named, with what mends it."""
    examined.connect(host)
    Path(examined.launch.launcher).unlink()
    failures = [check for check in found(examined) if check.state == "failure"]
    assert {check.fix for check in failures} == {f"Run: recalld connect {host}"}
    assert all("is gone" in check.seen for check in failures)


def test_missing_entries_are_named(examined: Wired) -> None:
    """A removed event and a removed server are both told, each with its file."""
    examined.connect("gemini", "project")
    path = examined.paths("gemini", "project")[0]
    read = json.loads(path.read_text())
    del read["hooks"]["AfterTool"], read["mcpServers"]
    path.write_text(json.dumps(read))
    check = next(check for check in found(examined) if check.name == "gemini here")
    assert check.state == "warning"
    assert "AfterTool, our MCP server" in check.seen
    assert check.fix == "Run: recalld connect gemini --scope project"
    examined.connect("gemini", "project")
    assert {check.state for check in found(examined)} == {"ok"}


def test_a_removed_file_is_drift(examined: Wired) -> None:
    """The receipt remembers that there was one."""
    examined.connect("cursor")
    for path in examined.paths("cursor"):
        path.unlink()
    assert {check.state for check in found(examined)} == {"warning"}


def test_another_command_is_noted(examined: Wired, tmp_path: Path) -> None:
    """Two installations are no fault, but worth a line."""
    examined.connect("cursor")
    other = tmp_path / "other" / "recalld"
    write(other, b"#!/bin/sh\n")
    other.chmod(0o755)
    examined.launch = examined.launch._replace(launcher=str(other))
    assert {check.state for check in found(examined)} == {"note"}


def test_a_broken_file_is_told(examined: Wired) -> None:
    """Doctor reads on when one file is broken."""
    examined.connect("gemini")
    examined.paths("gemini")[0].write_text("{")
    check = only(examined)
    assert check.state == "warning"
    assert "is broken: line 1" in check.seen


@pytest.mark.parametrize(
    ("host", "file", "said", "seen"),
    [
        ("claude-code", ".claude/settings.json", {"disableAllHooks": True}, "disableAllHooks"),
        ("claude-code", ".claude/settings.json", {"enabledPlugins": {"recalld@x": True}}, "plugin"),
        (
            "claude-code",
            ".claude/settings.json",
            {"disabledMcpjsonServers": ["recalld"]},
            "disables our MCP",
        ),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}, "hooksConfig"),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"disabled": ["recalld"]}}, "names"),
        ("gemini", ".gemini/settings.json", {"mcp": {"excluded": ["recalld"]}}, "excludes"),
        ("kiro", ".kiro/settings/cli.json", {"chat.defaultAgent": "x"}, "another agent"),
    ],
)
def test_switched_off_hooks_are_told(
    examined: Wired, host: str, file: str, said: dict[str, object], seen: str
) -> None:
    """Entries that are right but do nothing are as bad as none."""
    write(examined.home / file, json.dumps(said).encode())
    examined.connect(host)
    check = only(examined)
    assert check.state == "warning"
    assert seen in check.seen
    assert check.fix


@pytest.mark.parametrize("switch", ["hooks", "codex_hooks"])
def test_codex_switches_are_told(examined: Wired, switch: str) -> None:
    """Under its name of today and under the older one."""
    write(examined.home / ".codex/config.toml", f"[features]\n{switch} = false\n".encode())
    examined.connect("codex")
    assert f"{switch} = false" in only(examined).seen


@pytest.mark.parametrize("host", ["cursor", "kiro"])
def test_disabled_servers_are_told(examined: Wired, host: str) -> None:
    """A server that the person switched off in the agent's own window."""
    examined.connect(host)
    path = examined.paths(host)[1]
    path.write_text(path.read_text().replace('"args"', '"disabled": true, "args"'))
    assert any("disables our MCP server" in check.seen for check in found(examined))


def test_doctor_shows_it(recalld: Cli) -> None:
    """The verb has the lines, and stays at exit code 0 when an agent is merely not connected."""
    (Path(recalld.env["HOME"]) / ".claude").mkdir()
    shown = recalld.ok("doctor")
    assert "Run: recalld connect claude-code" in shown
