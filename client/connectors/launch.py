"""How agents start recalld, and how a line in their settings is told to be ours."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from ...auth.errors import InvalidRequest
from ...auth.paths import quote
from ..connection.documents import document, items, text
from ..service.installation import launcher

NAME = "recalld"
"""Our key among an agent's MCP servers, and the name of the command."""

SECONDS = 5
"""When an agent gives up on a hook; ours end themselves after 1.5 s, whatever happens."""

_HOME = "RECALLD_HOME"
_PLUGIN = "command -v recalld >/dev/null 2>&1 || exit 0; exec "
"""How the plugin's hooks begin, which must be silent where recalld is not installed."""


class Launch(NamedTuple):
    """The absolute path of the command, and the data folder it must use ("" for the usual one)."""

    launcher: str
    home: str

    def hook(self, host: str) -> str:
        """The shell command of a hook."""
        prefix = f"{_HOME}={quote(self.home)} " if self.home else ""
        return f"{prefix}{quote(self.launcher)} hook {host}"

    def server(self) -> dict[str, object]:
        """The MCP server: a bridge on stdin and stdout."""
        found: dict[str, object] = {"command": self.launcher, "args": ["mcp"]}
        return {**found, "env": {_HOME: self.home}} if self.home else found


def launch(argv0: str, environ: Mapping[str, str], *, temporary: bool = False) -> Launch:
    """How agents are to start this recalld; raises InvalidRequest when the command will not last.

    The data folder is written down only where the environment names one: agents started from a
    desktop do not inherit what a shell exports.
    """
    found = Launch(launcher(argv0, environ, temporary=temporary), environ.get(_HOME, ""))
    for value in found:
        if any(ord(char) < 0x20 or 0xD800 <= ord(char) <= 0xDFFF for char in value):
            raise InvalidRequest(f"{value!r} cannot be written into settings.")
    return found


def hook_host(command: object) -> str:
    """The host of a command that does nothing but run our hook, wherever recalld lies.

    Empty for every other one, our hook among other things included: that is somebody's own script.
    """
    words = _words(command.removeprefix(_PLUGIN)) if isinstance(command, str) else []
    plain = len(words) == 3 and os.path.basename(words[0]) == NAME and words[1] == "hook"
    return words[2] if plain else ""


def is_written(command: str) -> bool:
    """Whether connecting wrote this hook of ours: it names the whole path, as people seldom do."""
    return os.path.isabs(next(iter(_words(command)), ""))


def _words(command: str) -> list[str]:
    """The command without our variable before it; operators of the shell are words of their own."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " ", True, ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    return words[1:] if words and words[0].startswith(f"{_HOME}=") else words


def is_server(value: object) -> bool:
    """Whether this MCP server is our bridge, wherever its command lies."""
    found = document(value)
    command = os.path.basename(text(found, "command"))
    return command == NAME and items(found.get("args"))[:1] == ["mcp"]


def is_written_server(value: object) -> bool:
    """Whether connecting wrote this server: as with hooks, the whole path, and nothing added."""
    found = document(value)
    plain = items(found.get("args")) == ["mcp"]
    return is_server(value) and plain and os.path.isabs(text(found, "command"))


def program(command: str) -> str:
    """The command's program, past the variables set before it; empty when it cannot be read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return next((word for word in words if "=" not in word), "")
