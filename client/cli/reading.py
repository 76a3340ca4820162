"""`recalld list`, `show`, `history` and `stats`: memories as they are."""

from __future__ import annotations

import argparse
from typing import cast

from ...auth.errors import NotFound
from ..connection.documents import (
    Document,
    count,
    document,
    maybe_text,
    number,
    rows,
    strings,
    text,
)
from ..connection.http1 import encode_query, segment
from . import options, tables, terminal
from .turns import said
from .verb import Context, Verb

_SHOWN = (
    "id",
    "namespace",
    "kind",
    "status",
    "created_at",
    "updated_at",
    "observed_at",
    "speaker",
    "role",
    "session",
    "valid_from",
    "valid_to",
    "supersedes",
    "superseded_by",
)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    options.filters(parser)
    parser.add_argument(
        "--status",
        choices=("active", "superseded", "quarantined", "archived"),
        help="only with this status",
    )
    parser.add_argument(
        "--limit", type=options.whole(1, 200), default=50, metavar="N", help="default: 50"
    )
    parser.add_argument("--cursor", metavar="CURSOR", help="go on where the last page ended")


def _list(context: Context, args: argparse.Namespace) -> int:
    pairs = [("limit", str(args.limit))]
    for name in ("namespace", "kind", "tag"):
        wanted = cast("list[str] | None", getattr(args, name))
        pairs += [(name, value) for value in wanted or []]
    for name in ("status", "since", "until", "cursor"):
        value = cast("str | None", getattr(args, name))
        pairs += [(name, value)] if value is not None else []
    answer = context.ask("GET", "/v1/memories" + encode_query(pairs))
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    found = rows(answer.get("items"))
    if not found and len(pairs) > 1:
        terminal.notice("no memory fits that")
        return 0
    if not found:
        terminal.notice("there are no memories here yet")
        return 0
    columns = ("id", "created", "namespace", "kind", "content")
    tables.table(columns, [_row(memory) for memory in found], once="namespace")
    cursor = maybe_text(answer, "next_cursor")
    if cursor:
        terminal.notice(f"there are more: add --cursor {cursor}")
    return 0


def _row(memory: Document) -> tuple[str, ...]:
    created = tables.when(text(memory, "created_at"))
    names = text(memory, "namespace"), text(memory, "kind")
    return text(memory, "id"), created, *names, said(memory)


def _one_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory's id")


def _show(context: Context, args: argparse.Namespace) -> int:
    return tell_memory(context, ask(context, "GET", str(args.id)))


def ask(
    context: Context, method: str, memory: str, rest: str = "", body: object = None
) -> Document:
    """What the daemon answers about one memory; where there is none, what to do is said."""
    target = f"/v1/memories/{segment(memory)}{rest}"
    try:
        return context.ask(method, target, body, write=method != "GET")
    except NotFound as error:
        error.hint = error.hint or "Run: recalld list (a forgotten one: recalld undo ID)"
        raise


def tell_memory(context: Context, memory: Document) -> int:
    """One memory as JSON, or for people: named values, then its text."""
    if context.json:
        terminal.say(terminal.as_json(memory))
    else:
        _print(memory)
    return 0


def _print(memory: Document) -> None:
    pairs = [(name, text(memory, name)) for name in _SHOWN if text(memory, name)]
    pairs += [
        ("version", str(count(memory, "version"))),
        ("importance", f"{number(memory, 'importance'):g}"),
    ]
    tags = strings(memory.get("tags"))
    pairs += [("tags", ", ".join(tags))] if tags else []
    source = document(memory.get("source"))
    pairs += [(f"source {name}", str(value)) for name, value in source.items() if value]
    terminal.fields(pairs)
    terminal.say()
    terminal.say(terminal.block(text(memory, "content")))
    if text(memory, "detail"):
        terminal.say()
        terminal.say(terminal.block(text(memory, "detail")))


def _history(context: Context, args: argparse.Namespace) -> int:
    versions = _versions(context, str(args.id))
    if context.json:
        terminal.say(terminal.as_json({"versions": versions}))
        return 0
    columns = ("version", "at", "op", "by", "content")
    tables.table(columns, [_version(version) for version in versions])
    return 0


def _versions(context: Context, memory: str) -> list[Document]:
    """All of them, page by page."""
    answer = ask(context, "GET", memory, "/history")
    found = rows(answer.get("versions"))
    while cursor := maybe_text(answer, "next_cursor"):
        answer = ask(context, "GET", memory, "/history" + encode_query([("cursor", cursor)]))
        found += rows(answer.get("versions"))
    return found


def _version(version: Document) -> tuple[str, ...]:
    at = tables.when(text(version, "at"))
    named = str(count(version, "version")), at, text(version, "op"), text(version, "by")
    return *named, said(version)


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but the common options."""


def _stats(context: Context, _args: argparse.Namespace) -> int:
    answer = context.ask("GET", "/v1/stats")
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    columns = ("namespace", "memories", "first", "last", "kinds")
    tables.table(columns, [_stat(entry) for entry in rows(answer.get("namespaces"))])
    return 0


def _stat(entry: Document) -> tuple[str, ...]:
    kinds = document(entry.get("kinds"))
    times = tables.when(text(entry, "first_at")), tables.when(text(entry, "last_at"))
    told = ", ".join(f"{name} {amount}" for name, amount in kinds.items())
    return text(entry, "namespace"), str(count(entry, "memories")), *times, told


VERBS = {
    "list": Verb(
        _list_arguments,
        _list,
        "List memories, newest first.",
        "recalld list --kind note --since 7d",
    ),
    "show": Verb(
        _one_argument,
        _show,
        "Show one memory with everything about it.",
        "recalld show 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q",
    ),
    "history": Verb(
        _one_argument,
        _history,
        "List the versions of a memory, forgotten ones included.",
        "recalld history 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q",
    ),
    "stats": Verb(
        _no_arguments, _stats, "Count memories by namespace and kind.", "recalld stats --json"
    ),
}
