"""Gemini CLI: hooks and MCP servers in one settings.json; it counts time-outs in milliseconds."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...connection.documents import document, items
from .. import peek
from ..launch import NAME, SECONDS, Launch
from ..target import Finding, Place, Target, Wanted

RULES = "GEMINI.md"

EVENTS = (
    "SessionStart",
    "BeforeAgent",
    "BeforeTool",
    "AfterTool",
    "AfterAgent",
    "PreCompress",
    "SessionEnd",
)

_SWITCHES = (("hooksConfig", "enabled"), ("hooks", "enabled"), ("tools", "enableHooks"))
_LISTS = (("hooksConfig", "disabled"), ("hooks", "disabled"))


def folder(place: Place) -> str:
    """The host's own folder."""
    return place.folder(".gemini")


def targets(place: Place, launch: Launch) -> list[Target]:
    """The file to change, and what has to be in it."""
    command, timeout = launch.hook("gemini"), SECONDS * 1000
    handler = {"type": "command", "command": command, "name": NAME, "timeout": timeout}
    hooks = {event: {"hooks": [handler]} for event in EVENTS}
    return [Target(_settings(place), "json", Wanted("gemini", hooks, launch.server()))]


def _settings(place: Place) -> str:
    return os.path.join(folder(place), "settings.json")


def obstacles(place: Place) -> list[Finding]:
    """What the settings of this place say against hooks or servers of ours."""
    return [found for one in place.scopes() for found in _objections(_settings(one))]


def _objections(path: str) -> Iterator[Finding]:
    said = peek.json_document(path)
    for section, name in _SWITCHES:
        if document(said.get(section)).get(name) is False:
            yield Finding(f"{path} sets {section}.{name} to false.", "Remove that line.")
    for section, name in _LISTS:
        if NAME in items(document(said.get(section)).get(name)):
            fix = f"Type in Gemini CLI: /hooks enable {NAME}"
            yield Finding(f"{path} names {NAME} in {section}.{name}.", fix)
    if NAME in items(document(said.get("mcp")).get("excluded")):
        yield Finding(f"{path} excludes our MCP server.", f"Remove {NAME} from mcp.excluded.")


def advice(_place: Place) -> str:
    """What the person still has to do."""
    return ""
