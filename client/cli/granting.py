"""`recalld grant`: who may reach what. These are the owner's doings, not the checkout's."""

from __future__ import annotations

import argparse
import os
from typing import cast

from ...auth import namespaces, tokens
from ...auth.checkout import Checkout, locate
from ...auth.errors import InvalidRequest, NotFound, StorageTrouble
from ..connection import former_note, grants
from ..connection.channel import Channel
from ..connection.documents import Document, document, maybe_text, rows, text
from ..connection.http1 import segment
from . import options, tables, terminal
from .verb import Context, Verb, common, deed, working_folder

ROLES = ("viewer", "editor", "admin")
"""What a grant can allow in a namespace, from least to most."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    deeds = parser.add_subparsers(dest="deed", metavar="issue|list|revoke|rotate", required=True)
    issue = deed(
        deeds,
        "issue",
        "grant this checkout, or a tool of yours, access",
        "recalld grant issue --namespace org:acme=viewer",
    )
    issue.add_argument(
        "--namespace",
        action="append",
        type=_wish,
        metavar="NS[=ROLE]",
        help=f"more than its own; ROLE is {', '.join(ROLES)} (default: editor)",
    )
    issue.add_argument(
        "--anywhere",
        action="store_true",
        help="not bound to this checkout, covering only what is named; prints the token",
    )
    issue.add_argument("--label", default="", metavar="TEXT", help="what it is for")
    issue.add_argument(
        "--expires",
        type=options.end,
        metavar="TIME",
        help="worth nothing after that (30d, 2027-01-01)",
    )
    deed(deeds, "list", "list all grants", "recalld grant list")
    for name, about in (("revoke", "take a grant back"), ("rotate", "give a grant a new token")):
        one = deed(deeds, name, about, f"recalld grant {name} g_1f2e3d4c5b6a7988")
        one.add_argument("id", metavar="ID", help="the grant's id (recalld grant list)")
    for one in deeds.choices.values():
        common(one, nested=True)


def _wish(value: str) -> tuple[str, str]:
    """`NS` or `NS=ROLE`."""
    name, _, role = value.partition("=")
    if role and role not in ROLES:
        raise argparse.ArgumentTypeError(f"{role!r} is not a role; say {', '.join(ROLES)}")
    return options.namespace(name), role or "editor"


def _grant(context: Context, args: argparse.Namespace) -> int:
    match args.deed:
        case "issue":
            return _anywhere(context, args) if args.anywhere else _here(context, args)
        case "list":
            return _list(context)
        case "revoke":
            return _tell(
                context, context.own("DELETE", f"/v1/grants/{segment(args.id)}"), "Revoked"
            )
        case _:
            return _rotate(context, args)


def _anywhere(context: Context, args: argparse.Namespace) -> int:
    wishes = dict(cast("list[tuple[str, str]]", args.namespace or []))
    if not wishes:
        raise InvalidRequest(
            "A grant for anywhere covers only what is named, and nothing is.",
            hint="Add --namespace NS; `recalld where` shows this checkout's.",
        )
    told = options.present(namespaces=wishes, label=args.label, expires_at=args.expires)
    granted = grants.grant(context.channel, told)
    if not context.json:
        terminal.notice(f"grant {text(granted, 'id')}; its token is shown this once")
    return _show(context, granted)


def _here(context: Context, args: argparse.Namespace) -> int:
    """Replace this checkout's grant by one that covers that, its own, and what is asked for.

    Where that is what it has already nothing is replaced: whoever copied the token goes on.
    """
    checkout = locate(working_folder())
    old = _current(context.channel, checkout)
    had = document((old or {}).get("namespaces"))
    covered: dict[str, object] = {namespaces.USER: "editor", **had, checkout.namespace: "admin"}
    covered |= dict(cast("list[tuple[str, str]]", args.namespace or []))
    if old is not None and covered == had and not (args.label or args.expires):
        former_note.settle(context.layout, checkout.root, covered)
        return _tell_unchanged(context, old)
    wishes = options.present(
        checkout=checkout.root, namespaces=covered, label=args.label, expires_at=args.expires
    )
    granted = grants.grant(context.channel, wishes)
    former_note.keep(context.channel, checkout, tokens.read(checkout.root, context.layout.data))
    path = tokens.write(checkout.root, context.layout.data, text(granted, "token"))
    former_note.settle(context.layout, checkout.root, covered)
    if old is not None:  # only now: a failure before would have left the checkout without any
        context.own("DELETE", f"/v1/grants/{segment(text(old, 'id'))}")
    granted.pop("token", None)
    replaced = None if old is None else text(old, "id")
    _tell(context, {**granted, "token_path": path, "replaced": replaced}, "Granted")
    if old is not None and not context.json:
        terminal.notice(
            f"it replaces {replaced}, whose token ({text(old, 'fingerprint')}…) no longer works;"
            " what runs in this checkout takes the new one by itself, copies of the old one do not"
        )
    return 0


def _tell_unchanged(context: Context, grant: Document) -> int:
    known = text(grant, "id")
    if not context.json:
        terminal.notice(f"nothing was changed; for a new token: recalld grant rotate {known}")
    sentence = f"Already granted: {known} for {_covered(grant)}"
    return context.tell({**grant, "replaced": None}, sentence)


def _current(channel: Channel, checkout: Checkout) -> Document | None:
    """The grant behind the token this checkout has now, unless it has expired."""
    token = tokens.read(checkout.root, channel.layout.data)
    if token is None:
        return None
    mark = tokens.fingerprint(token)
    return next(
        (
            grant
            for grant in _all(channel)
            if text(grant, "fingerprint") == mark
            and text(grant, "checkout") == checkout.root
            and not _expired(grant)
        ),
        None,
    )


def _expired(grant: Document) -> bool:
    from datetime import UTC, datetime  # only where a grant is issued

    end = maybe_text(grant, "expires_at")
    return end is not None and datetime.fromisoformat(end) <= datetime.now(UTC)


def _all(channel: Channel) -> list[Document]:
    answer = channel.call(grants.listing())
    return rows(answer.get("grants"))


def _list(context: Context) -> int:
    found = _all(context.channel)
    if context.json:
        terminal.say(terminal.as_json({"grants": found}))
        return 0
    columns = ("id", "token", "created", "expires", "label", "checkout", "namespaces")
    tables.table(columns, [_row(grant) for grant in found])
    return 0


def _row(grant: Document) -> tuple[str, ...]:
    times = (
        tables.when(text(grant, "created_at")),
        tables.when(maybe_text(grant, "expires_at") or "") or "never",
    )
    place = maybe_text(grant, "checkout") or "anywhere"
    return (
        text(grant, "id"),
        text(grant, "fingerprint"),
        *times,
        text(grant, "label"),
        place,
        _covered(grant),
    )


def _covered(grant: Document) -> str:
    """What a grant opens, as it is typed."""
    return ", ".join(f"{name}={role}" for name, role in document(grant.get("namespaces")).items())


def _rotate(context: Context, args: argparse.Namespace) -> int:
    """A new token; where the grant belongs to a checkout that is here, it is put there."""
    _check_checkout(context.channel, args.id)
    granted = context.own("POST", f"/v1/grants/{segment(args.id)}/rotate")
    root = maybe_text(granted, "checkout")
    if root is None:
        return _show(context, granted)
    try:
        path = tokens.write(root, context.layout.data, text(granted, "token"))
    except StorageTrouble as error:
        # The old token is worth nothing by now: dropping the new one would lock the checkout out.
        terminal.notice(f"{error.message} The new token is shown this once.")
        _show(context, granted)
        return error.exit_code
    granted.pop("token", None)
    return _tell(context, {**granted, "token_path": path}, "Rotated")


def _check_checkout(channel: Channel, grant_id: str) -> None:
    """Refuse to rotate a grant whose checkout is gone: its new token would belong nowhere."""
    for grant in _all(channel):
        root = maybe_text(grant, "checkout")
        if text(grant, "id") == grant_id and root is not None and not os.path.isdir(root):
            raise NotFound(
                f"{root} is gone; its grant was left as it is.",
                hint=f"Run: recalld grant revoke {grant_id}",
            )


def _show(context: Context, granted: Document) -> int:
    """Print a token that is kept nowhere."""
    return context.tell(granted, text(granted, "token"))


def _tell(context: Context, granted: Document, deed: str) -> int:
    names = _covered(granted)
    about = f" for {names} (token in {text(granted, 'token_path')})" if names else ""
    return context.tell(granted, f"{deed} {text(granted, 'id')}{about}")


VERBS = {
    "grant": Verb(
        _arguments,
        _grant,
        "Issue, list, revoke or rotate access to namespaces.",
        "recalld grant issue --namespace org:acme=viewer",
    )
}
