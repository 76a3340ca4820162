"""What connecting means for one agent: which files, and what has to be in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from .launch import Launch

SCOPES = ("user", "project")
"""All of a person's work, or one checkout."""


class Place(NamedTuple):
    """Where a host's settings are looked for. `agent` is the one that gets Kiro's hooks."""

    home: str
    root: str
    scope: str
    environ: Mapping[str, str]
    agent: str = "recalld"

    def scopes(self) -> list[Place]:
        """The places of all scopes; what one of them says counts in this one too."""
        return [self._replace(scope=scope) for scope in SCOPES]

    def folder(self, name: str, variable: str = "") -> str:
        """A host's folder of this scope: `name` in the checkout or at home, or where the variable
        says the one at home is.
        """
        if self.scope == "project":
            return os.path.join(self.root, name)
        moved = self.environ.get(variable, "") if variable else ""
        return moved if os.path.isabs(moved) else os.path.join(self.home, name)


def place(
    environ: Mapping[str, str], root: str, scope: str = "user", agent: str = "recalld"
) -> Place:
    """The settings of this scope; `root` is the checkout."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return Place(home, root, scope, environ, agent)


class Wanted(NamedTuple):
    """What a file of settings has to hold.

    `hooks` has an element for the array of each event; `server` is our MCP server; `defaults` are
    members the host cannot do without; `fresh` those that only a file of our own gets.
    """

    host: str
    hooks: Mapping[str, object] = {}
    server: Mapping[str, object] | None = None
    defaults: Mapping[str, object] = {}
    fresh: Mapping[str, object] = {}


class Target(NamedTuple):
    """One file: its `kind` is json, toml or rules; `body` is the text between rules' markers."""

    path: str
    kind: str
    wanted: Wanted
    body: str = ""


class Finding(NamedTuple):
    """Something the host's settings say that keeps what we wrote from working, and the remedy."""

    seen: str
    fix: str


class Host(Protocol):
    """What the module of each host offers."""

    RULES: str
    """The file in a checkout that the host reads at every start."""

    def folder(self, place: Place) -> str:
        """The host's own folder; it exists where the host is used."""
        ...

    def targets(self, place: Place, launch: Launch) -> list[Target]:
        """The files to change, and what has to be in them."""
        ...

    def obstacles(self, place: Place) -> list[Finding]:
        """What the settings of this place say against hooks or servers of ours."""
        ...

    def advice(self, place: Place) -> str:
        """What the person still has to do; empty where that is nothing."""
        ...
