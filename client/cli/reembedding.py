"""`recalld reembed`: make every memory's vector anew, and watch it happen."""

from __future__ import annotations

import argparse
import sys
import time

from ..connection.documents import Document, count, document, maybe_text, text
from . import terminal
from .verb import Context, Verb

_LOOK_SECONDS = 0.5
_BAR = 30


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        action="store_true",
        help="stay until every memory has its vector and show how far it is; notes are read "
        "closely after that, see `recalld status`",
    )


def _reembed(context: Context, args: argparse.Namespace) -> int:
    # The daemon is started if need be: it goes on by itself once it runs.
    context.own("POST", "/v1/jobs/reembed")
    told = _watch(context) if args.wait else _told(context)
    if args.json:
        terminal.say(terminal.as_json(told))
    else:
        terminal.say(_sentence(told))
    return 0


def _told(context: Context) -> Document:
    return document(context.own("GET", "/v1/status").get("embedding"))


def _watch(context: Context) -> Document:
    """Look until every memory has its vector, is refused one, or time is up."""
    told = _told(context)
    while not _is_done(told) and context.deadline.left() > _LOOK_SECONDS:
        _draw(told)
        time.sleep(_LOOK_SECONDS)
        told = _told(context)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    return told


def _is_done(told: Document) -> bool:
    return text(told, "state") in {"ready", "off", "unavailable"}


def _draw(told: Document) -> None:
    """One line on a terminal's stderr, drawn over itself; nothing into a pipe."""
    if not sys.stderr.isatty():
        return
    total, pending = count(told, "total"), count(told, "pending")
    full = round(_BAR * (total - pending) / total) if total else 0
    bar = "#" * full + "." * (_BAR - full)
    trouble = terminal.one_line(maybe_text(told, "last_error") or "")
    sys.stderr.write(f"\r\x1b[K[{bar}] {total - pending} of {total}  {trouble}")
    sys.stderr.flush()


def _sentence(told: Document) -> str:
    total, pending = count(told, "total"), count(told, "pending")
    line = f"{text(told, 'model')}: {total - pending} of {total} memories have their vector"
    refused, trouble = count(told, "refused"), maybe_text(told, "last_error")
    if refused:
        line += f", {refused} were refused one"
    return f"{line} ({text(told, 'state')}). {trouble or ''}".rstrip()


VERBS = {
    "reembed": Verb(
        _arguments,
        _reembed,
        "Make the vectors of all memories anew with the model the settings name; recall goes on "
        "with the old ones meanwhile. A change of model does this by itself.",
        "recalld reembed --wait --timeout 600",
    ),
}
