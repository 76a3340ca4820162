"""`recalld rules`: what a session is given, and what becomes or stops being a rule."""

from __future__ import annotations

import argparse
from typing import cast

from ..connection.documents import Document, count, document, rows, text
from ..connection.http1 import encode_query, segment
from . import options, tables, terminal
from .verb import Context, Verb, common, deed

_ID = "the rule's id; to promote also a lesson's (recalld lessons)"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--budget", type=options.whole(100, 20_000), metavar="TOKENS", help="default: 2000"
    )
    parser.add_argument(
        "--namespace", action="append", type=options.namespace, metavar="NS", help="only from there"
    )
    deeds = parser.add_subparsers(dest="deed", metavar="promote|demote|harden|soften")
    for name, about in (
        ("promote", "make a lesson a rule, or bring a rule back"),
        ("demote", "put a rule away; promote brings it back"),
        ("soften", "let a hard rule forbid nothing any more"),
    ):
        one = deed(deeds, name, about, f"recalld rules {name} 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q")
        one.add_argument("id", metavar="ID", help=_ID)
        common(one, nested=True)
    harden = deed(
        deeds,
        "harden",
        "let a rule forbid tool calls that fit a pattern, once in a session",
        "recalld rules harden 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q --pattern 'git push *--force*'",
    )
    harden.add_argument("id", metavar="ID", help=_ID)
    harden.add_argument(
        "--pattern",
        required=True,
        metavar="GLOB",
        help="the command or path it forbids; * is anything: 'git push *--force*'",
    )
    harden.add_argument(
        "--tool", metavar="NAME", help="only this tool (shell: any that runs commands)"
    )
    common(harden, nested=True)


def _run(context: Context, args: argparse.Namespace) -> int:
    chosen = cast("str | None", args.deed)
    if chosen is None:
        return _list(context, args)
    path = f"/v1/rules/{segment(args.id)}"
    match chosen:
        case "harden":
            body = options.present(tool=args.tool, pattern=args.pattern)
            answer, done = context.ask("POST", f"{path}/hard", body, write=True), "Hardened"
        case "soften":
            answer, done = context.ask("DELETE", f"{path}/hard", write=True), "Softened"
        case _:
            answer = context.ask("POST", f"{path}/{chosen}", write=True)
            done = "Promoted" if chosen == "promote" else "Demoted"
    return context.tell(answer, f"{done} {text(answer, 'id')}")


def _list(context: Context, args: argparse.Namespace) -> int:
    pairs = [] if args.budget is None else [("budget", str(args.budget))]
    pairs += [("namespaces", name) for name in cast("list[str] | None", args.namespace) or []]
    answer = context.ask("GET", "/v1/rules" + encode_query(pairs))
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    _show(rows(answer.get("rules")), rows(answer.get("hard_unshown")))
    dropped = count(document(answer.get("counts")), "dropped")
    if dropped:
        terminal.notice(f"{dropped} more did not fit; recalld search finds them")
    return 0


def _show(found: list[Document], unshown: list[Document]) -> None:
    if not found and not unshown:
        terminal.notice("there are no rules here yet")
    tables.table(("id", "kind", "cited", "created", "content"), [_row(rule) for rule in found])
    for mark in unshown:
        terminal.notice(f"not in the list, but {_forbids(mark)}: recalld show {text(mark, 'id')}")


def _row(rule: Document) -> tuple[str, ...]:
    mark = document(rule.get("hard"))
    return (
        text(rule, "id"),
        text(rule, "kind"),
        str(count(rule, "cited")),
        tables.when(text(rule, "created_at")),
        f"{text(rule, 'content')} [{_forbids(mark)}]" if mark else text(rule, "content"),
    )


def _forbids(mark: Document) -> str:
    """What a hard rule does, in words."""
    tool = text(mark, "tool")
    calls = "any tool call that fits" if tool == "*" else f"{tool} calls that fit"
    return f"hard: forbids {calls} '{text(mark, 'pattern')}'"


VERBS = {
    "rules": Verb(
        _arguments,
        _run,
        "Print the rules a session is given at its start, or change one.",
        "recalld rules",
    )
}
