"""`recalld connect HOST` and `recalld disconnect HOST`: our entries in an agent's settings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ...auth.checkout import locate
from ...auth.errors import InvalidRequest
from ..connection.documents import items, text
from ..connectors import again, connection, hosts
from ..connectors.connection import Done, Order
from ..connectors.launch import Launch, launch
from ..connectors.target import SCOPES, Place, place
from ..service.installation import insistence
from . import terminal
from .verb import Context, Verb, working_folder

_DEEDS = {
    "connected": "wrote",
    "unchanged": "left as it is",
    "restored": "restored",
    "cleaned": "took our entries out of",
    "removed": "removed",
    "kept": "left for another agent",
}


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", metavar="HOST", choices=hosts.NAMES, help=", ".join(hosts.NAMES))
    parser.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")
    parser.add_argument(
        "--agent", default="recalld", type=_agent, metavar="NAME", help="Kiro's custom agent to use"
    )


def _agent(value: str) -> str:
    if not value.replace("-", "").replace("_", "").isalnum():
        raise argparse.ArgumentTypeError(f"{value!r} is not the name of an agent")
    return value


def _connect_arguments(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    parser.add_argument(
        "--scope",
        choices=SCOPES,
        default="user",
        help="everywhere (default) or in this checkout",
    )
    parser.add_argument(
        "--rules-file",
        action="store_true",
        help="also write this checkout's rules into CLAUDE.md, AGENTS.md or GEMINI.md",
    )
    parser.add_argument(
        "--force", action="store_true", help="also with a command that may not last"
    )


def _disconnect_arguments(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    parser.add_argument("--scope", choices=SCOPES, help="default: everything connect ever wrote")


def _connect(context: Context, args: argparse.Namespace) -> int:
    where = _place(context, args, str(args.scope))
    started = launch(sys.argv[0], context.environ, temporary=bool(args.force))
    rules = _rules(context) if args.rules_file else None
    order = Order(str(args.host), where, started, rules)
    done = connection.connect(context.layout, order, context.deadline, dry=bool(args.dry_run))
    notes = _notes(where, order, rules)
    told: dict[str, object] = {"scope": where.scope, "launcher": started.launcher}
    only = " --scope project" if where.scope == "project" else ""
    _tell(context, args, done, told, notes, [f"recalld disconnect {order.host}{only}"])
    return 0


def _disconnect(context: Context, args: argparse.Namespace) -> int:
    scopes = (str(args.scope),) if args.scope else SCOPES
    order = Order(str(args.host), _place(context, args, scopes[0]), Launch("recalld", ""))
    done = connection.disconnect(
        context.layout, order, scopes, context.deadline, dry=bool(args.dry_run)
    )
    forced = insistence(sys.argv[0], context.environ)
    undo = again.commands(order.host, order.place, done, forced)
    _tell(context, args, done, {"scope": args.scope}, [], undo)
    return 0


def _place(context: Context, args: argparse.Namespace, scope: str) -> Place:
    root = locate(working_folder()).root
    if args.agent != "recalld" and args.host != "kiro":
        raise InvalidRequest("--agent is for kiro.", hint="Leave it out.")
    return place(context.environ, root, scope, str(args.agent))


def _rules(context: Context) -> str:
    """The rules of this checkout as the daemon would show them to an agent."""
    told = context.ask("GET", "/v1/rules")
    return text(told, "text") if items(told.get("rules")) else ""


def _notes(where: Place, order: Order, rules: str | None) -> list[str]:
    found = [hosts.load(order.host).advice(where)]
    if where.scope == "project":
        found.append("These files name a path of this machine; do not commit them.")
    if rules is not None and not rules.strip():
        found.append("There are no rules yet, so no rules file was written.")
    return [note for note in found if note]


def _tell(
    context: Context,
    args: argparse.Namespace,
    done: Sequence[Done],
    told: dict[str, object],
    notes: Sequence[str],
    undo: Sequence[str],
) -> None:
    changed, dry = any(one.changed for one in done), bool(args.dry_run)
    if context.json:
        told = {"host": args.host, **told, "changed": changed, "dry_run": dry, "notes": notes}
        files = [one._asdict() for one in done]
        terminal.say(terminal.as_json({**told, "files": files, "undo": " && ".join(undo)}))
        return
    for one in done:
        _show(one, dry=dry)
    if all(one.deed == "absent" for one in done):
        terminal.say(f"There is nothing of ours in the settings of {args.host}.")
    for note in notes:
        terminal.notice(note)
    if changed and dry:
        terminal.notice("Nothing was written.")
    for command in undo if changed and not dry else ():
        terminal.notice(f"to undo: {command}")


def _show(one: Done, *, dry: bool) -> None:
    if dry and one.diff:
        terminal.say(terminal.block(one.diff.rstrip("\n")))
        return
    if one.deed == "absent":
        return
    backup = f" (before: {one.backup})" if one.backup else ""
    terminal.say(terminal.one_line(f"{_DEEDS[one.deed]}: {one.path}{backup}"))


VERBS = {
    "connect": Verb(
        _connect_arguments,
        _connect,
        "Put our hooks and our MCP server into an agent's settings, and nothing else.",
        "recalld connect claude-code",
    ),
    "disconnect": Verb(
        _disconnect_arguments,
        _disconnect,
        "Take our entries out of an agent's settings; untouched files are restored byte for byte.",
        "recalld disconnect claude-code",
    ),
}
