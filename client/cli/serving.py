"""`recalld serve`: the daemon in the foreground."""

from __future__ import annotations

import argparse
import os
import sys

from .verb import Context, Verb

_FROM_MANAGER = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID")


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


VERBS = {
    "serve": Verb(
        _serve_arguments,
        _serve,
        "Run the daemon in the foreground, until Ctrl-C or SIGTERM.",
        "recalld serve",
    ),
}
