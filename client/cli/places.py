"""`recalld where`: which namespace this folder uses, and why. It asks no daemon."""

from __future__ import annotations

import argparse

from ...auth import tokens
from ...auth.checkout import locate, pin
from ..connection.access import TOKEN_VARIABLE
from . import terminal
from .verb import Context, Verb, working_folder


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="default: the current one")


def _where(context: Context, args: argparse.Namespace) -> int:
    found = locate(args.folder or working_folder())
    token = tokens.read(found.root, context.layout.data)
    pinned = pin(found.root)
    told: dict[str, object] = {
        "namespace": found.namespace,
        "reason": found.reason,
        "root": found.root,
        "identity": found.identity,
        "pinned": pinned,
        "token": tokens.fingerprint(token) if token else None,
        "data": context.layout.data,
    }
    if context.json:
        terminal.say(terminal.as_json(told))
        return 0
    shown = {**told, "token": told["token"] or "none yet; the first use here asks for one"}
    terminal.fields([(name, str(value)) for name, value in shown.items() if value is not None])
    if context.environ.get(TOKEN_VARIABLE):
        terminal.notice(f"{TOKEN_VARIABLE} is set, so its grant is used instead")
    return 0


VERBS = {
    "where": Verb(
        _arguments, _where, "Say which namespace a folder uses, and why.", "recalld where"
    )
}
