"""`recalld serve` and `recalld logs`: the daemon in the foreground, and what it wrote."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator

from ...auth.errors import NotFound
from . import options, terminal
from .verb import Context, Verb

_FROM_MANAGER = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID")
_POLL = 0.25


def _serve_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--managed-by", choices=("foreground", "systemd", "launchd"), default="foreground"
    )
    parser.add_argument(
        "--takeover", action="store_true", help="ask a daemon that a client started to leave first"
    )


def _serve(context: Context, args: argparse.Namespace) -> int:
    from ..connection.spawn import daemon_environment

    command = [sys.executable, "-P", "-m", "recalld.daemon", "--managed-by", args.managed_by]
    # A moment's patience: `recalld stop` looks at the lock by taking it.
    command += ["--wait-lock", "15" if args.takeover else "1"]
    if args.takeover:
        command.append("--takeover")
    environ = daemon_environment(context.environ)
    environ |= {name: context.environ[name] for name in _FROM_MANAGER if name in context.environ}
    sys.stdout.flush()
    # The same process goes on as the daemon: the manager's notifications and signals name its pid.
    os.chdir("/")
    os.execve(command[0], command, environ)  # noqa: S606 - our own interpreter, no shell


def _logs_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lines", type=options.whole(0, 100_000), default=50, metavar="N", help="default: 50"
    )
    parser.add_argument("--follow", action="store_true", help="keep printing what is added")


def _logs(context: Context, args: argparse.Namespace) -> int:
    path = context.layout.log
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below; followed over rotations
    except FileNotFoundError:
        raise NotFound(f"There is no log at {path} yet.", hint="Run: recalld start") from None
    with file:
        lines = file.read().decode("utf-8", "replace").splitlines()
        for line in lines[len(lines) - min(args.lines, len(lines)) :]:
            terminal.say(terminal.one_line(line))
        if args.follow:
            sys.stdout.flush()
            for line in _following(path, file.tell()):
                terminal.say(terminal.one_line(line))
                sys.stdout.flush()
    return 0


def _following(path: str, position: int) -> Iterator[str]:
    """Lines as they are added, for ever; a rotated log is read from its start."""
    rest = b""
    while True:
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size < position:
                    position = 0
                file.seek(position)
                rest += file.read()
                position = file.tell()
        except FileNotFoundError:
            position = 0
        *whole, rest = rest.split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)
        time.sleep(_POLL)


VERBS = {
    "serve": Verb(
        _serve_arguments,
        _serve,
        "Run the daemon in the foreground, until Ctrl-C or SIGTERM.",
        "recalld serve",
    ),
    "logs": Verb(
        _logs_arguments, _logs, "Print the end of the daemon's log.", "recalld logs --follow"
    ),
}
