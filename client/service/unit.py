"""The service unit as clients meet it: whether one serves this data folder, and starting it.

A client that finds a unit starts the daemon through its supervisor: a daemon of the client's own
would hold the lock, and the supervised one would be restarted against it for ever.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from ...auth.paths import Layout
from ..connection.deadline import Deadline

UNIT = "recalld.service"
"""The systemd user unit."""

LABEL = "dev.recalld"
"""The launchd agent."""

_SHORT = 5.0


class Ran(NamedTuple):
    """How a command of the service manager ended; status is None when it did not run or not end."""

    status: int | None
    output: str

    @property
    def ok(self) -> bool:
        """Whether it ended with 0."""
        return self.status == 0


def unit_path(environ: Mapping[str, str]) -> str:
    """Where this user's unit lies, whether or not it exists."""
    home = environ.get("HOME") or os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "LaunchAgents", f"{LABEL}.plist")
    config = environ.get("XDG_CONFIG_HOME", "")
    folder = config if os.path.isabs(config) else os.path.join(home, ".config")
    return os.path.join(folder, "systemd", "user", UNIT)


def installed(environ: Mapping[str, str]) -> str | None:
    """The text of the installed unit; None when there is none."""
    try:
        with open(unit_path(environ), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def serves(layout: Layout, environ: Mapping[str, str]) -> bool:
    """Whether a unit is installed, and for this data folder rather than another one."""
    text = installed(environ)
    if text is None:
        return False
    mark = (
        f"<string>{escape_xml(layout.data)}</string>"
        if _is_plist(text)
        else (f"Environment={escape_unit('RECALLD_HOME=' + layout.data)}")
    )
    return mark in text


def _is_plist(text: str) -> bool:
    return text.startswith("<?xml")


def start(environ: Mapping[str, str], deadline: Deadline) -> bool:
    """Start the unit and wait until its daemon is ready; False when the manager cannot do it."""
    if sys.platform == "darwin":
        return launchctl(environ, deadline.left(), "kickstart", f"{domain()}/{LABEL}").ok
    return systemctl(environ, deadline.left(), "start", UNIT).ok


def systemctl(environ: Mapping[str, str], seconds: float, *arguments: str) -> Ran:
    """Run `systemctl --user` with these arguments."""
    return _run(["systemctl", "--user", "--no-pager", *arguments], _bus(environ), seconds)


def launchctl(environ: Mapping[str, str], seconds: float, *arguments: str) -> Ran:
    """Run `launchctl` with these arguments."""
    return _run(["launchctl", *arguments], dict(environ), seconds)


def loginctl(environ: Mapping[str, str], *arguments: str) -> Ran:
    """Run `loginctl` with these arguments."""
    return _run(["loginctl", "--no-pager", *arguments], dict(environ), _SHORT)


def reachable(environ: Mapping[str, str]) -> bool:
    """Whether the user's service manager answers (it does not in containers and under cron)."""
    if sys.platform == "darwin":
        return launchctl(environ, _SHORT, "print", domain()).ok
    return systemctl(environ, _SHORT, "show-environment").ok


def domain() -> str:
    """The launchd domain of this user's agents."""
    return f"gui/{os.getuid()}"


def _bus(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the bus's folder in it, which cron and su leave out."""
    found = dict(environ)
    folder = f"/run/user/{os.getuid()}"
    if not found.get("XDG_RUNTIME_DIR") and os.path.isdir(folder):
        found["XDG_RUNTIME_DIR"] = folder
    return found


def _run(command: list[str], environ: dict[str, str], seconds: float) -> Ran:
    import subprocess  # the warm path never comes here

    try:
        done = subprocess.run(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=max(seconds, 0.1),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran(None, str(error))
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace").strip())


def escape_unit(word: str) -> str:
    """One word of a unit file, quoted, with specifiers and variables switched off."""
    safe = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{safe}"'


def escape_xml(text: str) -> str:
    """Text for a plist."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
