"""`recalld service install|uninstall|status`: the daemon under systemd or launchd."""

from __future__ import annotations

import argparse
import sys

from ...auth.errors import InvalidRequest
from ..service import installation
from ..service import unit as service
from . import terminal
from .verb import Context, Verb, common, deed


def _arguments(parser: argparse.ArgumentParser) -> None:
    deeds = parser.add_subparsers(dest="deed", metavar="install|uninstall|status", required=True)
    for name, about in (
        ("install", "write the unit and start it"),
        ("uninstall", "stop it and remove the unit"),
        ("status", "say whether it is installed, running and up to date"),
    ):
        built = deed(deeds, name, about, f"recalld service {name}")
        if name == "install":
            built.add_argument(
                "--force", action="store_true", help="also with a command that may not last"
            )
        common(built, nested=True)


def _service(context: Context, args: argparse.Namespace) -> int:
    if sys.platform == "win32":
        raise InvalidRequest(
            "There is no service support for Windows yet.",
            hint="Clients start the daemon themselves.",
        )
    if args.deed == "install":
        return _install(context, force=bool(args.force))
    return _uninstall(context) if args.deed == "uninstall" else _status(context)


def _install(context: Context, *, force: bool) -> int:
    done = installation.install(
        context.layout, context.environ, context.deadline, sys.argv[0], temporary=force
    )
    if context.json:
        terminal.say(terminal.as_json(done._asdict()))
        return 0
    state = "started" if done.started else "not started"
    terminal.say(terminal.one_line(f"Installed {done.path} ({state}); it runs {done.launcher}"))
    terminal.notice(done.note)
    return 0


def _uninstall(context: Context) -> int:
    path = service.unit_path(context.environ)
    removed = installation.uninstall(context.environ, context.deadline)
    sentence = f"Removed {path}" if removed else "No service was installed."
    return context.tell({"removed": removed, "path": path}, sentence)


def _status(context: Context) -> int:
    installed = service.installed(context.environ) is not None
    running = installed and _running(context)
    told: dict[str, object] = {
        "installed": installed,
        "path": service.unit_path(context.environ),
        "serves_this_data": service.serves(context.layout, context.environ),
        "running": running,
        "drift": installation.drift(context.layout, context.environ, sys.argv[0]),
    }
    if context.json:
        terminal.say(terminal.as_json(told))
        return 0
    terminal.fields([(name.replace("_", " "), _shown(value)) for name, value in told.items()])
    return 0


def _running(context: Context) -> bool:
    if sys.platform == "darwin":
        target = f"{service.domain()}/{service.LABEL}"
        return service.launchctl(context.environ, 5.0, "print", target).ok
    return service.systemctl(context.environ, 5.0, "is-active", "--quiet", service.UNIT).ok


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) or "none"


VERBS = {
    "service": Verb(
        _arguments,
        _service,
        "Run the daemon under the service manager: install, uninstall, status.",
        "recalld service install",
    )
}
