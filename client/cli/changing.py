"""`recalld edit`, `forget` and `undo`: each change is a version, so each can be taken back."""

from __future__ import annotations

import argparse

from ...auth.errors import InvalidRequest
from ..connection.documents import Document, count, strings, text
from . import options, stdin
from .reading import ask
from .turns import said
from .verb import Context, Verb

_SHOWN = 200
"""Characters of a changed memory that are shown; what was changed is known to who changed it."""


def _edit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory's id")
    parser.add_argument("--content", metavar="TEXT", help="the new text; - reads it from stdin")
    parser.add_argument("--detail", metavar="TEXT", help="the new detail")
    parser.add_argument("--tag", action="append", metavar="TAG", help="the new tags, all of them")
    parser.add_argument("--no-tags", action="store_true", help="remove every tag")
    parser.add_argument("--kind", choices=options.KINDS, metavar="KIND", help="the new kind")
    parser.add_argument("--importance", type=options.importance, metavar="X", help="0 to 1")
    parser.add_argument("--status", choices=("active", "archived"), help="put away, or bring back")
    parser.add_argument(
        "--valid-from", type=options.moment, metavar="TIME", help="true from then on"
    )
    parser.add_argument("--valid-to", type=options.moment, metavar="TIME", help="true until then")
    parser.add_argument(
        "--if-version",
        type=options.whole(1, 2**31),
        metavar="N",
        help="only if nobody changed it since this version",
    )


def _edit(context: Context, args: argparse.Namespace) -> int:
    changes = options.present(
        content=_content(args.content),
        detail=args.detail,
        tags=args.tag,
        kind=args.kind,
        importance=args.importance,
        status=args.status,
        valid_from=args.valid_from,
        valid_to=args.valid_to,
    )
    if args.no_tags:
        changes["tags"] = []
    if not changes:
        raise InvalidRequest("There is nothing to change.", hint="Run: recalld edit --help")
    if args.if_version is not None:
        changes["if_version"] = args.if_version
    return _tell(context, "Edited", ask(context, "PATCH", str(args.id), body=changes))


def _content(given: str | None) -> str | None:
    """The new text, if there is to be one; never the blank that a failed pipe would leave."""
    if given != "-":
        return given
    content = stdin.read()
    if not content.strip():
        raise InvalidRequest(
            "There is nothing to change: stdin is empty.", hint="To remove it: recalld forget ID"
        )
    return content


def _one_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory's id")


def _forget(context: Context, args: argparse.Namespace) -> int:
    answer = ask(context, "DELETE", str(args.id))
    known = text(answer, "id")
    return context.tell(answer, f"Forgot {known}; to bring it back: recalld undo {known}")


def _undo(context: Context, args: argparse.Namespace) -> int:
    return _tell(context, "Undone", ask(context, "POST", str(args.id), "/undo"))


def _tell(context: Context, deed: str, memory: Document) -> int:
    """What was done, and the memory in a line as it is now; all of it is what `show` is for."""
    version, kind = count(memory, "version"), text(memory, "kind")
    tags = "".join(f" #{tag}" for tag in strings(memory.get("tags")))
    content = said(memory)
    shown = content if len(content) <= _SHOWN else f"{content[:_SHOWN]}…"
    head = f"{deed} {text(memory, 'id')} (version {version}, {kind}, {text(memory, 'status')})"
    return context.tell(memory, f"{head}:{tags} {shown}")


VERBS = {
    "edit": Verb(
        _edit_arguments,
        _edit,
        "Change a memory; what is not named stays as it is.",
        "recalld edit 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q --content 'Redis listens on 6381 now'",
    ),
    "forget": Verb(
        _one_argument,
        _forget,
        "Forget a memory; its history stays, so it can be undone.",
        "recalld forget 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q",
    ),
    "undo": Verb(
        _one_argument,
        _undo,
        "Take back the last change of a memory, forgetting included.",
        "recalld undo 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q",
    ),
}
