"""`recalld hook HOST [EVENT]`: what agents run at each of their events.

The command itself goes past this module straight to `client/hooks/run.py`: argparse would cost each
event more than the daemon does. Here is its help.
"""

from __future__ import annotations

import argparse

from ..hooks import hosts, run
from .verb import Context, Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(hosts.NAMES)
    parser.add_argument("host", metavar="HOST", choices=hosts.NAMES, help=f"one of {names}")
    parser.add_argument("event", nargs="?", metavar="EVENT", help="for payloads without a name")


def _hook(_context: Context, args: argparse.Namespace) -> int:
    run.main([args.host, *([args.event] if args.event else [])])


VERBS = {
    "hook": Verb(
        _arguments,
        _hook,
        "Take one event of an agent from stdin and answer in that agent's own format.",
        "recalld hook claude-code <event.json",
    )
}
