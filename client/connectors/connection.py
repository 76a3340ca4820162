"""Connecting a host and disconnecting it: every file is judged before the first is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...auth.errors import Conflict
from ...auth.paths import Layout
from ..connection.deadline import Deadline
from ..connection.lock import held
from . import change, hosts, receipts
from .change import Change
from .launch import Launch
from .settings_file import Moved
from .target import Place, Target, Wanted

_ATTEMPTS = 5
"""Times a file may change under us before we give up; agents write theirs now and then."""


class Done(NamedTuple):
    """One file: what happened to it (see Change.deed), and where its backup lies.

    `kind` and `root` are as in Where; `diff` is what would change, for runs that only ask.
    """

    path: str
    kind: str
    root: str
    deed: str
    changed: bool
    diff: str = ""
    backup: str = ""


class Where(NamedTuple):
    """A file that may hold something of ours; `root` is the checkout it must not lead out of."""

    path: str
    kind: str
    root: str


class _Step(NamedTuple):
    """What is to become of the file there."""

    where: Where
    change: Change


class Order(NamedTuple):
    """What is asked for. `rules` is the text of the rules block, None when none was asked for."""

    host: str
    place: Place
    launch: Launch
    rules: str | None = None


def connect(layout: Layout, order: Order, deadline: Deadline, *, dry: bool) -> list[Done]:
    """Put our entries in the host's files, or only say what would change (`dry`).

    Raises InvalidSettings, InvalidRequest or StorageTrouble with nothing written, Conflict when
    another program keeps writing to a file.
    """
    return _all(layout, lambda: list(_connecting(layout, order)), deadline, dry=dry)


def _connecting(layout: Layout, order: Order) -> Iterator[_Step]:
    host, root, scope = order.host, order.place.root, order.place.scope
    module = hosts.load(host)
    for target in module.targets(order.place, order.launch):
        where = Where(target.path, target.kind, root if scope == "project" else "")
        yield _Step(where, change.connecting(layout, target, host, scope, root))
    if order.rules is not None:
        where = Where(os.path.join(root, module.RULES), "rules", root)
        if order.rules.strip():
            target = Target(where.path, "rules", Wanted(host), order.rules)
            yield _Step(where, change.connecting(layout, target, host, scope, root))
        else:  # nothing to say: then no block either
            yield _Step(where, _disconnecting(layout, host, where))


def disconnect(
    layout: Layout, order: Order, scopes: Sequence[str], deadline: Deadline, *, dry: bool
) -> list[Done]:
    """Take our entries out of the host's files of these scopes. Raises as `connect` does.

    All scopes together mean everything we ever wrote for this host, in other checkouts too.
    """
    plan = _places(layout, order, scopes)

    def steps() -> list[_Step]:
        return [_Step(where, _disconnecting(layout, order.host, where)) for where in plan]

    return _all(layout, steps, deadline, dry=dry)


def _places(layout: Layout, order: Order, scopes: Sequence[str]) -> list[Where]:
    """Where our entries go by default, and where the receipts say that they went."""
    place, module = order.place, hosts.load(order.host)
    found: list[Where] = []
    for scope in scopes:
        here = place._replace(scope=scope)
        root = place.root if scope == "project" else ""
        found += [Where(t.path, t.kind, root) for t in module.targets(here, order.launch)]
    if "project" in scopes:
        found.append(Where(os.path.join(place.root, module.RULES), "rules", place.root))
    known = {os.path.realpath(where.path) for where in found}
    for receipt in receipts.every(layout):
        mine = order.host in receipt.hosts and receipt.scope in scopes
        elsewhere = len(scopes) == 1 and receipt.root not in ("", place.root)
        if mine and not elsewhere and receipt.path not in known:
            found.append(Where(receipt.path, receipt.kind, receipt.root))
    return found


def _disconnecting(layout: Layout, host: str, where: Where) -> Change:
    return change.disconnecting(layout, where.path, where.kind, host, where.root)


def _all(
    layout: Layout, plan: Callable[[], list[_Step]], deadline: Deadline, *, dry: bool
) -> list[Done]:
    if dry:
        return [_done(one)._replace(diff=one.change.diff()) for one in plan()]
    done: dict[str, Done] = {}
    moved = ""
    with held(os.path.join(layout.run, "connect.lock"), deadline):
        for _ in range(_ATTEMPTS):
            try:
                for one in plan():
                    _carry_out(layout, one, done)
            except Moved as error:
                moved = str(error)
            else:
                return list(done.values())
    raise Conflict(
        f"{moved} is being changed by another program.",
        hint="Nothing of its changes was lost; run this again.",
    )


def _carry_out(layout: Layout, one: _Step, done: dict[str, Done]) -> None:
    """Write one file; what an earlier attempt did to it stays told."""
    backup = change.carry_out(layout, one.change)
    path = one.change.content.path
    if one.change.changes or path not in done:
        done[path] = _done(one)._replace(backup=backup)


def _done(one: _Step) -> Done:
    where, planned = one
    return Done(planned.content.path, where.kind, where.root, planned.deed, changed=planned.changes)
