"""Kiro CLI: hooks belong to a custom agent's file, MCP servers to settings/mcp.json.

Its built-in agent has no file, so the hooks go to an agent of ours that is otherwise like it, or to
the one the person names; Kiro has to be told to use it.
"""

from __future__ import annotations

import os

from ...connection.documents import document
from .. import peek
from ..launch import NAME, SECONDS, Launch
from ..target import Finding, Place, Target, Wanted

RULES = "AGENTS.md"

EVENTS = ("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")


def folder(place: Place) -> str:
    """The host's own folder."""
    return place.folder(".kiro")


def targets(place: Place, launch: Launch) -> list[Target]:
    """The files to change, and what has to be in them."""
    hook = {"command": launch.hook("kiro"), "timeout_ms": SECONDS * 1000}
    hooks = Wanted("kiro", dict.fromkeys(EVENTS, hook), fresh=_agent(place.agent))
    return [
        Target(os.path.join(folder(place), "agents", f"{place.agent}.json"), "json", hooks),
        Target(_servers(place), "json", Wanted("kiro", server=launch.server())),
    ]


def agent(path: str) -> str:
    """The agent whose file this is; empty for another file."""
    folder, name = os.path.split(path)
    return name.removesuffix(".json") if os.path.basename(folder) == "agents" else ""


def _agent(name: str) -> dict[str, object]:
    """An agent with every tool, and with the context the built-in one reads."""
    return {
        "name": name,
        "description": "The usual agent, with recalld's memory.",
        "tools": ["*"],
        "includeMcpJson": True,
        "resources": ["file://AGENTS.md", "file://README.md", "file://.kiro/steering/**/*.md"],
    }


def _servers(place: Place) -> str:
    return os.path.join(folder(place), "settings", "mcp.json")


def obstacles(place: Place) -> list[Finding]:
    """What the settings of this place say against hooks or servers of ours."""
    found: list[Finding] = []
    path = _servers(place)
    server = document(document(peek.json_document(path).get("mcpServers")).get(NAME))
    if server.get("disabled") is True:
        found.append(Finding(f"{path} disables our MCP server.", "Remove that line."))
    path = os.path.join(folder(place._replace(scope="user")), "settings", "cli.json")
    if peek.json_document(path).get("chat.defaultAgent") != place.agent:
        seen = f"Kiro starts with another agent than {place.agent}, so without our hooks."
        found.append(Finding(seen, f"Run: kiro-cli settings chat.defaultAgent {place.agent}"))
    return found


def advice(place: Place) -> str:
    """What the person still has to do."""
    return (
        f"Kiro runs hooks only with the agent {place.agent}: kiro-cli chat --agent {place.agent}, "
        f"or for good: kiro-cli settings chat.defaultAgent {place.agent}"
    )
