"""`recalld where`: which namespace this folder uses, and why. It starts no daemon."""

from __future__ import annotations

import argparse

from ...auth import tokens
from ...auth.checkout import Checkout, locate, pin
from ..connection import former, former_note
from ..connection.access import TOKEN_VARIABLE
from ..connection.channel import Channel
from ..connection.deadline import Deadline
from . import terminal
from .verb import Context, Verb, working_folder

_SECONDS = 1.0
"""How long the daemon is waited for: what it adds here is a hint."""


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
        "fingerprint": tokens.fingerprint(token) if token else None,
        "data": context.layout.data,
    }
    if context.json:
        terminal.say(terminal.as_json(told))
        return 0
    shown = {**told, "fingerprint": _of_token(token)}
    terminal.fields([(name, str(value)) for name, value in shown.items() if value is not None])
    if context.environ.get(TOKEN_VARIABLE):
        terminal.notice(f"{TOKEN_VARIABLE} is set, so its grant is used instead")
    before = _before(context, found, token)
    if before is not None:
        terminal.notice(before.told())
    return 0


def _of_token(token: str | None) -> str:
    if token is None:
        return "none: there is no token yet, the first use here asks for one"
    return f"{tokens.fingerprint(token)} (of the token kept here)"


def _before(context: Context, found: Checkout, token: str | None) -> former.Former | None:
    """Where this checkout seems to have been before, as far as we or a running daemon know."""
    channel = Channel(context.layout, context.environ, Deadline(_SECONDS), start=False)
    try:
        before = former.by_token(channel, found, token)
        before = before or former_note.kept(context.layout, found.root)
        if before is None and terminal.on_terminal():  # a guess, and only people can judge it
            before = former.by_name(channel, found)
        return before
    finally:
        channel.close()


VERBS = {
    "where": Verb(
        _arguments, _where, "Say which namespace a folder uses, and why.", "recalld where"
    )
}
