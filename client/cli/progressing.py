"""`recalld checkpoint`: where work stands, for whoever goes on."""

from __future__ import annotations

import argparse
from typing import cast

from ..connection.documents import Document, document, text
from ..connection.http1 import encode_query
from . import options, tables, terminal
from .verb import Context, Verb, common, deed

_PARTS = ("completed", "remaining", "blockers", "notes")


def _arguments(parser: argparse.ArgumentParser) -> None:
    deeds = parser.add_subparsers(dest="deed", metavar="save|load|clear", required=True)
    save = deed(
        deeds,
        "save",
        "say where work stands; it replaces what was said before",
        "recalld checkpoint save --completed 'parser' --remaining 'tests for the parser'",
    )
    save.add_argument("--completed", metavar="TEXT", help="what is done")
    save.add_argument("--remaining", metavar="TEXT", required=True, help="what is left to do")
    save.add_argument("--blockers", metavar="TEXT", help="what is in the way")
    save.add_argument("--notes", metavar="TEXT", help="anything else to know")
    deed(deeds, "load", "print where work stands", "recalld checkpoint load")
    deed(deeds, "clear", "put the checkpoint away: the work is done", "recalld checkpoint clear")
    for one in deeds.choices.values():
        one.add_argument(
            "--namespace", type=options.namespace, metavar="NS", help="of this namespace"
        )
        common(one, nested=True)


def _run(context: Context, args: argparse.Namespace) -> int:
    namespace = cast("str | None", args.namespace)

    def ask(method: str) -> Document:
        return context.at_home(
            namespace,
            lambda name: context.ask(
                method,
                "/v1/checkpoint" + encode_query([("namespace", name)] if name else []),
                write=method == "DELETE",
            ),
        )

    match args.deed:
        case "save":
            return _save(context, args)
        case "load":
            return _load(context, ask("GET"))
        case _:
            answer = ask("DELETE")
            return context.tell(answer, f"Cleared the checkpoint of {text(answer, 'namespace')}")


def _save(context: Context, args: argparse.Namespace) -> int:
    body = options.present(
        **{name: cast("str | None", getattr(args, name)) for name in (*_PARTS, "namespace")}
    )
    answer = context.write("PUT", "/v1/checkpoint", body)
    return context.tell(answer, f"Saved the checkpoint of {text(answer, 'namespace')}")


def _load(context: Context, answer: Document) -> int:
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    found = document(answer.get("checkpoint"))
    if not found:
        terminal.notice("there is no checkpoint here")
        return 0
    terminal.fields(
        [
            ("saved", tables.when(text(found, "updated_at"))),
            ("in", text(found, "namespace")),
        ]
    )
    for name in _PARTS:
        if text(found, name):
            terminal.say(f"{name}:")
            terminal.say(terminal.block(text(found, name)))
    return 0


VERBS = {
    "checkpoint": Verb(
        _arguments,
        _run,
        "Save, load or clear where work stands; the next session is told of it.",
        "recalld checkpoint save --completed 'parser' --remaining 'tests for the parser'",
    )
}
