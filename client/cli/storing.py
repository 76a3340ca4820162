"""`recalld store`: one memory from the command line or from stdin."""

from __future__ import annotations

import argparse
from typing import cast

from ...auth.errors import InvalidRequest
from ..connection.documents import Document, strings, text
from . import options, stdin, terminal
from .verb import Context, Verb

_SECRET = "secret:"  # noqa: S105 - how the daemon's flags begin
_SAID = {
    "stored": "Stored",
    "duplicate": "Already known as",
    "superseded": "Stored, replacing the older one:",
    "merged": "Merged into",
    "quarantined": "Set aside for review:",
}


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.words(parser, "text", "what to remember; - reads it from stdin")
    parser.add_argument("--kind", choices=options.KINDS, metavar="KIND", help="default: note")
    parser.add_argument("--tag", action="append", metavar="TAG", help="may be given more than once")
    parser.add_argument("--importance", type=options.importance, metavar="X", help="0 to 1")
    parser.add_argument("--detail", metavar="TEXT", help="longer text kept beside it")
    parser.add_argument(
        "--namespace", type=options.namespace, metavar="NS", help="where to keep it"
    )
    parser.add_argument(
        "--supersedes",
        type=options.identity,
        metavar="ID",
        help="the memory this one replaces",
    )
    parser.add_argument("--observed-at", type=options.moment, metavar="TIME", help="when it was so")


def _run(context: Context, args: argparse.Namespace) -> int:
    body = options.present(
        content=_content(cast("list[str]", args.text)),
        kind=args.kind,
        tags=args.tag,
        importance=args.importance,
        detail=args.detail,
        namespace=args.namespace,
        supersedes=args.supersedes,
        observed_at=args.observed_at,
    )
    answer = context.write("POST", "/v1/memories", body)
    said = _SAID.get(text(answer, "result"), text(answer, "result"))
    _warn_of_secrets(context, answer)
    return context.tell(answer, f"{said} {text(answer, 'id')} in {text(answer, 'namespace')}")


def _warn_of_secrets(context: Context, answer: Document) -> None:
    """One line for people when what was kept looks like a secret; machines have the flags."""
    flags = strings(answer.get("flags"))
    kinds = [flag.removeprefix(_SECRET) for flag in flags if flag.startswith(_SECRET)]
    if kinds and not context.json:
        known = text(answer, "id")
        terminal.notice(
            f"this carries a secret ({', '.join(kinds)}); if it should not be kept:"
            f" recalld forget {known}"
        )


def _content(words: list[str]) -> str:
    if words == ["-"]:
        content, given, example = stdin.read(), "stdin", "git log -5 | recalld store -"
    else:
        content, given = " ".join(words), "the text"
        example = "recalld store 'Tests need redis on port 6380'"
    if not content.strip():
        raise InvalidRequest(
            f"There is nothing to store: {given} is empty.", hint=f"For example: {example}"
        )
    return content


VERBS = {
    "store": Verb(
        _arguments,
        _run,
        "Store a memory in this project's namespace.",
        "recalld store 'Tests need a running redis on port 6380' --kind devops --tag tests",
    )
}
