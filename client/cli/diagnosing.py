"""`recalld doctor`: check everything, mend nothing, say what to run."""

from __future__ import annotations

import argparse
import sys

from ...auth.checkout import locate
from ...auth.errors import InvalidRequest, UnsafePermissions
from ..connectors import health
from ..service import former_place, pinning
from ..service.examination import Check, examine
from . import tables, terminal
from .verb import Context, Verb, working_folder


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but the common options."""


def _doctor(context: Context, _args: argparse.Namespace) -> int:
    found = list(examine(context.layout, context.environ, context.deadline, sys.argv[0]))
    found += pinning.examine(context.layout, context.environ, context.deadline, _root())
    found += former_place.examine(context.layout, context.environ, context.deadline, _root())
    found += health.examine(context.layout, context.environ, sys.argv[0], _root())
    failed = any(check.state == "failure" for check in found)
    if context.json:
        told = {"ok": not failed, "checks": [check._asdict() for check in found]}
        terminal.say(terminal.as_json(told))
    else:
        tables.table(("check", "state", "seen and remedy"), [_row(check) for check in found])
    return UnsafePermissions.exit_code if failed else 0


def _root() -> str:
    """The checkout here; the root folder, which is none, where the folder was removed under us."""
    try:
        return locate(working_folder()).root
    except InvalidRequest:
        return "/"


def _row(check: Check) -> tuple[str, str, str]:
    return check.name, check.state, f"{check.seen} {check.fix}".strip()


VERBS = {
    "doctor": Verb(
        _no_arguments,
        _doctor,
        "Check folders, daemon, versions, service and space; exits 78 when something is broken.",
        "recalld doctor",
    )
}
