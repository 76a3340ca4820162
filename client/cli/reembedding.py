"""`recalld reembed`: make every memory's vector anew, and watch it happen."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from ...auth.errors import DeadlineExceeded, Unavailable
from ..connection.deadline import Deadline
from ..connection.documents import Document, count, document, maybe_text, text
from ..service import vectors
from . import terminal
from .verb import Context, Verb

_LOOK_SECONDS = 0.5
_FIRST_LOOK_SECONDS = 0.1
_BEGIN_SECONDS = 7.0
"""How long it may take until the first vector is made or that has failed: a provider that is asked
for the first time has five."""
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
    if args.wait:
        told = _watch(context, _is_done, context.deadline, _LOOK_SECONDS)
    else:
        begin = Deadline(context.deadline.within(_BEGIN_SECONDS))
        told = _watch(context, _has_begun, begin, _FIRST_LOOK_SECONDS)
    _judge(context, told, waited=bool(args.wait))
    return context.tell(told, _sentence(told))


def _judge(context: Context, told: Document, *, waited: bool) -> None:
    """Raise Unavailable where no vectors are made, and where they were waited for in vain."""
    trouble = text(told, "last_error")
    if vectors.is_failing(told) or (trouble and not _has_begun(told)):
        raise Unavailable(
            f"{vectors.name(told)} gives no vectors: {trouble} {vectors.progress(told)}.",
            hint=vectors.remedy(told, context.layout.config),
        )
    if waited and not _is_done(told):
        raise DeadlineExceeded(
            f"It is not done yet: {vectors.progress(told)}.",
            hint="It goes on by itself, see recalld status; wait longer with --timeout.",
        )


def _watch(
    context: Context, holds: Callable[[Document], bool], deadline: Deadline, pause: float
) -> Document:
    """Look until it holds or time is up."""
    told = _told(context)
    while not holds(told) and deadline.left() > pause:
        _draw(told)
        time.sleep(pause)
        told = _told(context)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    return told


def _told(context: Context) -> Document:
    return document(context.own("GET", "/v1/status").get("embedding"))


def _is_done(told: Document) -> bool:
    """Whether every memory has its vector or is refused one."""
    return text(told, "state") == "ready"


def _has_begun(told: Document) -> bool:
    """Whether it is known that vectors are made, or that they are not."""
    if text(told, "state") != "working":
        return text(told, "state") != "loading"
    return count(told, "pending") < count(told, "total") or not count(told, "total")


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
    line = f"{text(told, 'model')}: {vectors.progress(told)}"
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
