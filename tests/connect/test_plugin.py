"""The plugin folder for Claude Code: the same hooks and server, in the plugin's own format."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import recalld
from recalld.client.connectors.hosts import claude_code
from recalld.client.connectors.launch import NAME, hook_host
from recalld.client.connectors.settings_json import command_of


@pytest.fixture
def plugin(repository: Path) -> Path:
    """The folder."""
    return repository / "deploy" / "claude-plugin"


def read(path: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_the_manifest_is_valid(plugin: Path) -> None:
    """A kebab-case name, our version, and only fields that plugins have."""
    manifest = read(plugin / ".claude-plugin" / "plugin.json")
    assert manifest["name"] == NAME
    assert re.fullmatch(r"[a-z][a-z0-9-]*", manifest["name"])
    assert manifest["version"] == recalld.__version__
    assert set(manifest) <= {"name", "version", "description", "license", "keywords"}
    assert [path.name for path in (plugin / ".claude-plugin").iterdir()] == ["plugin.json"]


def test_the_hooks_are_those_that_connect_writes(plugin: Path) -> None:
    """Wrapped as plugins need them, for every event, with the same fields."""
    document = read(plugin / "hooks" / "hooks.json")
    assert set(document) == {"description", "hooks"}
    assert tuple(document["hooks"]) == claude_code.EVENTS
    for groups in document["hooks"].values():
        command = command_of(groups[0])
        assert groups == [claude_code.group(command)]
        assert hook_host(command) == "claude-code"


def test_the_server_is_the_bridge(plugin: Path) -> None:
    """The plugin finds the command on PATH: it cannot know where it lies."""
    servers = read(plugin / ".mcp.json")["mcpServers"]
    assert servers == {NAME: {"command": NAME, "args": ["mcp"]}}


def test_without_the_command_the_hooks_are_silent(plugin: Path) -> None:
    """An installed plugin without an installed recalld disturbs nobody."""
    groups = read(plugin / "hooks" / "hooks.json")["hooks"]["Stop"]
    done = subprocess.run(
        ["/bin/sh", "-c", command_of(groups[0])],
        env={"PATH": os.defpath},
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
