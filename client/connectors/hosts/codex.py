"""Codex: hooks in hooks.json, MCP servers in config.toml; the person has to trust its hooks."""

from __future__ import annotations

import os

from ...connection.documents import document
from .. import peek
from ..launch import NAME, SECONDS, Launch
from ..target import Finding, Place, Target, Wanted

RULES = "AGENTS.md"

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
)

_SWITCHES = ("hooks", "codex_hooks")  # the second is the older name


def folder(place: Place) -> str:
    """The host's own folder."""
    return place.folder(".codex", "CODEX_HOME")


def targets(place: Place, launch: Launch) -> list[Target]:
    """The files to change, and what has to be in them."""
    command = launch.hook("codex")
    handler = {"type": "command", "command": command, "timeout": SECONDS}
    hooks = {event: {"hooks": [handler]} for event in EVENTS}
    server = Wanted("codex", server=launch.server())
    return [
        Target(os.path.join(folder(place), "hooks.json"), "json", Wanted("codex", hooks)),
        Target(_config(place), "toml", server),
    ]


def _config(place: Place) -> str:
    return os.path.join(folder(place), "config.toml")


def obstacles(place: Place) -> list[Finding]:
    """What the settings of this place say against hooks or servers of ours."""
    found: list[Finding] = []
    for path in map(_config, place.scopes()):
        said = peek.toml_document(path)
        for switch in _SWITCHES:
            if document(said.get("features")).get(switch) is False:
                found.append(Finding(f"{path} sets {switch} = false.", "Remove that line."))
        server = document(document(said.get("mcp_servers")).get(NAME))
        if server.get("enabled") is False:
            fix = f"Set enabled = true in [mcp_servers.{NAME}]."
            found.append(Finding(f"{path} disables our MCP server.", fix))
    return found


def advice(_place: Place) -> str:
    """What the person still has to do."""
    return "Codex runs new hooks only after you trusted them: type /hooks in Codex."
