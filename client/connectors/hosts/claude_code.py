"""Claude Code: hooks in settings.json, MCP servers in ~/.claude.json or a checkout's .mcp.json.

In a checkout the hooks go to settings.local.json: they name a path of this machine, and
settings.json is what a team shares.
"""

from __future__ import annotations

import os

from ...connection.documents import document, items
from .. import peek
from ..launch import NAME, SECONDS, Launch
from ..target import Finding, Place, Target, Wanted

RULES = "CLAUDE.md"

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
)

_HOME = "CLAUDE_CONFIG_DIR"
_MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")


def folder(place: Place) -> str:
    """The host's own folder."""
    return place.folder(".claude", _HOME)


def targets(place: Place, launch: Launch) -> list[Target]:
    """The files to change, and what has to be in them."""
    hooks = {event: group(launch.hook("claude-code")) for event in EVENTS}
    server = {"type": "stdio", **launch.server()}
    settings = "settings.json" if place.scope == "user" else "settings.local.json"
    return [
        Target(os.path.join(folder(place), settings), "json", Wanted("claude-code", hooks)),
        Target(_servers(place), "json", Wanted("claude-code", server=server)),
    ]


def group(command: str) -> dict[str, object]:
    """An element of an event's array: without a matcher, so for every tool and source.

    The time-out also lengthens what SessionEnd hooks have, which is 1.5 s for all of them.
    """
    return {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}


def _servers(place: Place) -> str:
    if place.scope == "project":
        return os.path.join(place.root, ".mcp.json")
    moved = place.environ.get(_HOME, "")
    return os.path.join(moved if os.path.isabs(moved) else place.home, ".claude.json")


def obstacles(place: Place) -> list[Finding]:
    """What the settings of this place say against hooks or servers of ours."""
    found: list[Finding] = []
    for path in _settings(place):
        said = peek.json_document(path)
        if said.get("disableAllHooks") is True:
            found.append(Finding(f"{path} sets disableAllHooks.", "Remove that line."))
        if NAME in items(said.get("disabledMcpjsonServers")):
            fix = f"Remove {NAME} from disabledMcpjsonServers."
            found.append(Finding(f"{path} disables our MCP server.", fix))
        if _plugin(said.get("enabledPlugins")):
            fix = "Run: recalld disconnect claude-code, or disable the plugin."
            found.append(Finding(f"{path} enables our plugin, so events come twice.", fix))
    for managed in _MANAGED:
        path = os.path.join(managed, "managed-settings.json")
        said = peek.json_document(path)
        if said.get("allowManagedHooksOnly") is True or said.get("disableAllHooks") is True:
            found.append(Finding(f"{path} allows no hooks but its own.", "Ask who manages it."))
    return found


def _settings(place: Place) -> list[str]:
    """Every file of a person whose settings count here."""
    user = place._replace(scope="user")
    here = os.path.join(place.root, ".claude")
    paths = [os.path.join(folder(user), "settings.json")]
    paths += [os.path.join(here, name) for name in ("settings.json", "settings.local.json")]
    return list(dict.fromkeys(paths))


def _plugin(enabled: object) -> bool:
    plugins = document(enabled)
    return any(name.partition("@")[0] == NAME and on is True for name, on in plugins.items())


def advice(place: Place) -> str:
    """What the person still has to do."""
    if place.scope == "project":
        return "Claude Code asks once whether the checkout's MCP server may be used: say yes."
    return ""
