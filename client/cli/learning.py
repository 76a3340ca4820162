"""`recalld lessons` and `outcomes`: what failed, what worked, and what was made of it."""

from __future__ import annotations

import argparse
from typing import cast

from ..connection.documents import Document, count, document, maybe_text, number, rows, text
from ..connection.http1 import encode_query
from . import options, tables, terminal
from .verb import Context, Verb

_STATUSES = ("candidate", "promoted", "rejected", "archived")


def _shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=options.whole(1, 200), default=20, metavar="N", help="default: 20"
    )
    parser.add_argument(
        "--namespace", action="append", type=options.namespace, metavar="NS", help="only from there"
    )


def _lessons_arguments(parser: argparse.ArgumentParser) -> None:
    _shared(parser)
    parser.add_argument("--status", choices=_STATUSES, help="only those")


def _lessons(context: Context, args: argparse.Namespace) -> int:
    answer = _asked(context, "/v1/lessons", args, cast("str | None", args.status))
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    found = rows(answer.get("lessons"))
    if not found:
        terminal.notice("nothing was learned here yet")
        return 0
    columns = ("id", "status", "evidence", "sure", "what fails", "what worked")
    tables.table(columns, [_lesson(one) for one in found])
    return 0


def _outcomes(context: Context, args: argparse.Namespace) -> int:
    answer = _asked(context, "/v1/outcomes", args, None)
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    found = rows(answer.get("outcomes"))
    tables.table(("at", "kind", "attempt", "what came of it"), [_outcome(one) for one in found])
    totals = document(answer.get("totals"))
    told = ", ".join(f"{count(totals, name)} {name.replace('_', ' ')}" for name in totals)
    terminal.notice(told)
    return 0


def _asked(context: Context, target: str, args: argparse.Namespace, status: str | None) -> Document:
    pairs = [("limit", str(args.limit))]
    pairs += [("namespaces", name) for name in cast("list[str] | None", args.namespace) or []]
    pairs += [("status", status)] if status else []
    return context.ask("GET", target + encode_query(pairs))


def _lesson(lesson: Document) -> tuple[str, ...]:
    return (
        text(lesson, "id"),
        text(lesson, "status"),
        str(count(lesson, "evidence")),
        f"{number(lesson, 'confidence'):.2f}",
        f"{text(lesson, 'failing')}: {text(lesson, 'error')}",
        text(lesson, "fix"),
    )


def _outcome(outcome: Document) -> tuple[str, ...]:
    kind, fix = text(outcome, "kind"), maybe_text(outcome, "fix")
    came = text(outcome, "error")
    if fix:
        came = f"{came}; fixed by {fix}"
    elif outcome.get("pending") is True:
        came = f"{came}; still open"
    return (
        tables.when(text(outcome, "at")),
        kind,
        text(outcome, "attempt"),
        came or text(outcome, "test"),
    )


VERBS = {
    "lessons": Verb(
        _lessons_arguments,
        _lessons,
        "List what was learned from failures: what fails, what worked, how sure that is.",
        "recalld lessons --status candidate",
    ),
    "outcomes": Verb(
        _shared,
        _outcomes,
        "List what came of an agent's attempts, the latest first.",
        "recalld outcomes --limit 50",
    ),
}
