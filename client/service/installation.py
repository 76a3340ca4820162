"""Putting the service unit in place, taking it away, and comparing it with what it should be."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ...auth.errors import InvalidRequest, StorageTrouble
from ...auth.paths import Layout
from ..connection.deadline import Deadline
from . import unit as service
from .unit import escape_unit, escape_xml, launchctl, systemctl

_SECONDS = 10.0
_CACHES = re.compile(
    r"/\.cache/|/Library/Caches/"
    r"|/(archive|environments|builds)-v\d+/"  # uv and uvx, wherever UV_CACHE_DIR lies
    r"|/pip-(build-env|install|req-build|unpack)-"
)


class Installed(NamedTuple):
    """What `install` did: where the unit lies, what it starts, and whether the manager runs it."""

    path: str
    launcher: str
    changed: bool
    started: bool
    note: str


_FOR_GOOD = "Install it for good, from its clone: uv tool install PATH, or pipx install PATH."


def launcher(argv0: str, environ: Mapping[str, str], *, temporary: bool = False) -> str:
    """The absolute path of the `recalld` command that a unit can rely on; raises InvalidRequest.

    Links are kept as they are: pipx and uv tool put a stable link in front of a folder that every
    upgrade replaces. Environments that vanish by themselves are refused, unless `temporary`.
    """
    found = _candidate(argv0, environ)
    if found is None or not os.access(found, os.X_OK):
        raise InvalidRequest(
            "There is no recalld command that a service could start.",
            hint=_FOR_GOOD,
        )
    for path in () if temporary else (found, os.path.realpath(found), sys.prefix):
        if ephemeral(path, environ):
            raise InvalidRequest(
                f"{path} is a temporary place; what starts recalld from there would stop working.",
                hint=f"{_FOR_GOOD} To use it all the same, add --force.",
            )
    return found


def insistence(argv0: str, environ: Mapping[str, str]) -> str:
    """What a command that writes the launcher down has to end with, so that it is not refused."""
    return "" if _is_had(argv0, environ, False) or not _is_had(argv0, environ, True) else " --force"


def _is_had(argv0: str, environ: Mapping[str, str], temporary: bool) -> bool:
    try:
        return bool(launcher(argv0, environ, temporary=temporary))
    except InvalidRequest:
        return False


def _candidate(argv0: str, environ: Mapping[str, str]) -> str | None:
    name = os.path.basename(argv0)
    if name != "recalld":  # python -m recalld
        beside = os.path.join(os.path.dirname(sys.executable), "recalld")
        return os.path.abspath(beside) if os.path.exists(beside) else None
    if os.sep in argv0:
        return os.path.abspath(argv0)
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.access(path, os.X_OK):
            return path
    return None


def ephemeral(path: str, environ: Mapping[str, str]) -> bool:
    """Whether this path is one that disappears by itself: temporary folders and tool caches.

    A home folder may itself lie in a temporary place (CI, containers). What is in it then lasts as
    long as everything else of that user, so only the caches in it are refused.
    """
    home = _home_of(path, environ)
    if _CACHES.search(path[len(home) :]) or _within(path, environ.get("XDG_CACHE_HOME", "")):
        return True
    roots = {tempfile.gettempdir(), environ.get("TMPDIR", "")}
    roots |= {"/tmp", "/var/tmp", "/dev/shm", "/run", "/private/tmp"}  # noqa: S108 - named to refuse
    return any(_within(path, root) and not _within(f"{home}/", root) for root in roots)


def _home_of(path: str, environ: Mapping[str, str]) -> str:
    """The home folder this path lies in, as it is called or as it really is; "" for elsewhere."""
    home = environ.get("HOME", "").rstrip("/")
    homes = (home, os.path.realpath(home)) if os.path.isabs(home) else ()
    return next((one for one in homes if _within(path, one)), "")


def _within(path: str, folder: str) -> bool:
    return bool(folder) and path.startswith(folder.rstrip("/") + "/")


def render(layout: Layout, command: str) -> str:
    """The unit (systemd) or agent (launchd) for this data folder and this command."""
    plist = sys.platform == "darwin"
    name = f"{service.LABEL}.plist" if plist else service.UNIT
    # realpath: in a checkout this file is reached through a link, beside which there is no deploy/.
    here = os.path.dirname(os.path.realpath(__file__))
    with open(os.path.join(here, "..", "..", "deploy", name), encoding="utf-8") as file:
        text = file.read()
    if plist:
        values = {"LAUNCHER": command, "DATA": layout.data, "LOG": layout.log}
        return _filled(text, {name: escape_xml(value) for name, value in values.items()})
    if any(char in command for char in "\"'\\"):
        raise InvalidRequest(
            f"systemd cannot start {command}: quotes and backslashes are not allowed there.",
            hint="Install recalld in another folder.",
        )
    start = escape_unit(command)
    home = escape_unit(f"RECALLD_HOME={layout.data}")
    return _filled(text, {"LAUNCHER": start, "ENVIRONMENT": home, "DATA": layout.data})


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        if "\n" in value:
            raise InvalidRequest("A path with a line end cannot be written into a unit.")
        text = text.replace(f"@{name}@", value)
    return text


def install(
    layout: Layout,
    environ: Mapping[str, str],
    deadline: Deadline,
    argv0: str,
    *,
    temporary: bool = False,
) -> Installed:
    """Write the unit and have the manager run it, taking over from a daemon a client started.

    `temporary` also takes a launcher that may not last.
    """
    command = launcher(argv0, environ, temporary=temporary)
    path, text = service.unit_path(environ), render(layout, command)
    changed = service.installed(environ) != text
    if changed:
        _write(path, text)
    if not service.reachable(environ):
        _link(path)
        note = "The service manager does not answer here; the unit takes effect at the next login."
        return Installed(path, command, changed, False, note)
    # A unit that runs already is restarted by its manager; anything else is asked to leave first.
    from ..connection.stopping import stop

    stop(layout, deadline, "the service takes over")
    failure = _activate(environ, path, deadline)
    return Installed(path, command, changed, not failure, failure or linger_note(environ))


def _activate(environ: Mapping[str, str], path: str, deadline: Deadline) -> str:
    """Make the manager load, enable and start the unit; what went wrong, or nothing."""
    if sys.platform == "darwin":
        launchctl(environ, _SECONDS, "bootout", f"{service.domain()}/{service.LABEL}")
        steps = [launchctl(environ, deadline.left(), "bootstrap", service.domain(), path)]
    else:
        steps = [
            systemctl(environ, _SECONDS, "daemon-reload"),
            systemctl(environ, _SECONDS, "enable", service.UNIT),
            systemctl(environ, deadline.left(), "restart", service.UNIT),
        ]
    return next((f"The service did not start: {ran.output}" for ran in steps if not ran.ok), "")


def uninstall(environ: Mapping[str, str], deadline: Deadline) -> bool:
    """Stop the service and remove its unit; whether there was one."""
    path = service.unit_path(environ)
    if not os.path.lexists(path):
        return False
    if sys.platform == "darwin":
        launchctl(environ, deadline.left(), "bootout", f"{service.domain()}/{service.LABEL}")
    else:
        systemctl(environ, deadline.left(), "disable", "--now", service.UNIT)
    os.unlink(path)
    with suppress(FileNotFoundError):
        os.unlink(_wanted(path))
    if sys.platform != "darwin":
        systemctl(environ, _SECONDS, "daemon-reload")
    return True


def _wanted(path: str) -> str:
    """Where systemd looks for what to start at login."""
    return os.path.join(os.path.dirname(path), "default.target.wants", service.UNIT)


def _link(path: str) -> None:
    """What `systemctl enable` would do, for when there is no manager to ask."""
    if sys.platform == "darwin":
        return  # launchd starts whatever lies in the folder
    wanted = _wanted(path)
    os.makedirs(os.path.dirname(wanted), exist_ok=True)
    with suppress(FileExistsError):
        os.symlink(os.path.join("..", service.UNIT), wanted)


def drift(layout: Layout, environ: Mapping[str, str], argv0: str) -> str:
    """How the unit differs from what `install` would write now; nothing if it does not."""
    text = service.installed(environ)
    if text is None:
        return ""
    command = started_by(text)
    if command and not os.access(command, os.X_OK):
        return f"its launcher {command} is gone"
    try:
        wanted = render(layout, launcher(argv0, environ))
    except InvalidRequest:
        wanted = render(layout, command or "")
    if text != wanted:
        return "the unit differs from what this recalld would install"
    reload = systemctl(environ, _SECONDS, "show", service.UNIT, "--property=NeedDaemonReload")
    return "the manager still runs an older unit" if reload.output.endswith("=yes") else ""


def started_by(text: str) -> str | None:
    """The launcher that a unit names; None when it cannot be read."""
    for line in text.splitlines():
        if line.startswith('ExecStart="'):
            word = line.removeprefix('ExecStart="').partition('" ')[0]
            return word.replace("%%", "%")
    return None


def linger_note(environ: Mapping[str, str]) -> str:
    """What happens at logout and boot, and the command that changes it (systemd only)."""
    if sys.platform == "darwin":
        return ""
    shown = service.loginctl(environ, "show-user", str(os.getuid()), "--property=Linger")
    if shown.output == "Linger=yes":
        return "It also runs while you are logged out (linger is on)."
    return "It stops when you log out; to keep it running: loginctl enable-linger"


def _write(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise StorageTrouble(f"{path} could not be written: {error.strerror}.") from error
