"""Cursor: hooks in hooks.json, which has to name its version, and MCP servers in mcp.json.

Of its events for tools only the general ones are used; the particular ones (shell, MCP, file) come
for the same calls again.
"""

from __future__ import annotations

import os

from ...connection.documents import document
from .. import peek
from ..launch import NAME, SECONDS, Launch
from ..target import Finding, Place, Target, Wanted

RULES = "AGENTS.md"

EVENTS = (
    "sessionStart",
    "beforeSubmitPrompt",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "subagentStart",
    "subagentStop",
    "preCompact",
    "afterAgentResponse",  # what the agent said, which `stop` does not tell
    "stop",
    "sessionEnd",
)


def folder(place: Place) -> str:
    """The host's own folder."""
    return place.folder(".cursor")


def targets(place: Place, launch: Launch) -> list[Target]:
    """The files to change, and what has to be in them."""
    hook = {"command": launch.hook("cursor"), "timeout": SECONDS}
    hooks = Wanted("cursor", dict.fromkeys(EVENTS, hook), defaults={"version": 1})
    server = Wanted("cursor", server=launch.server())
    return [
        Target(os.path.join(folder(place), "hooks.json"), "json", hooks),
        Target(_servers(place), "json", server),
    ]


def _servers(place: Place) -> str:
    return os.path.join(folder(place), "mcp.json")


def obstacles(place: Place) -> list[Finding]:
    """What the settings of this place say against hooks or servers of ours."""
    path = _servers(place)
    server = document(document(peek.json_document(path).get("mcpServers")).get(NAME))
    if server.get("disabled") is True:
        return [Finding(f"{path} disables our MCP server.", "Remove that line.")]
    return []


def advice(_place: Place) -> str:
    """What the person still has to do."""
    return ""
