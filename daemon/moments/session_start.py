"""A session begins, goes on, or has lost its context: it gets the rules and where work stands."""

from __future__ import annotations

import apsw

from ...storage import agent_sessions, exposures, task_checkpoints
from ...storage.task_checkpoints import Progress
from ...storage.transaction import Transaction
from ..caller import Caller
from ..injection.block import Item
from ..intake.event import Event
from ..rules import selection
from .desk import NOTHING, Desk, Seen
from .limits import ENDLESS
from .noted import UNSAID, Noted

EMPTIED = frozenset({"compact", "clear"})
"""Sources of a start before which the context was emptied."""
CHECKPOINT = "checkpoint"
"""The id a checkpoint has in a block, and among what a session was shown."""
STARTED = "started"
"""How a session has to do with its own start: it was given what there was to give."""
LONGEST_HINT = 700
"""Characters of a checkpoint shown; the whole of it is a command away."""


async def answer(desk: Desk, event: Event) -> Seen:
    """The rules of every namespace the session may read, after the checkpoint of its own."""
    return await desk.read(lambda connection: _look(connection, desk.caller))


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """After the context was emptied, everything may be shown again."""
    if event.source in EMPTIED or event.host in ENDLESS:
        agent_sessions.refresh(tx, caller.namespace, event.session)
    return UNSAID


def missed(connection: apsw.Connection, caller: Caller, event: Event) -> Seen:
    """What the session was not given at its start or after a compaction, if that is so: the daemon
    was starting itself, or the host has no such event.
    """
    given = exposures.present(connection, caller.home, event.session, (STARTED,))
    return NOTHING if given else _look(connection, caller)


def note_given(tx: Transaction, caller: Caller, event: Event) -> None:
    """Note that the session has what a start gives."""
    exposures.note(tx, caller.namespace, event.session, [STARTED], STARTED)


def after(start: Seen, seen: Seen) -> Seen:
    """What was seen, behind what the session missed at its start."""
    items = {item.id: item for item in (*start.items, *seen.items)}
    return seen._replace(
        items=tuple(items.values()),
        heading=start.heading if start.items else seen.heading,
        loaded=frozenset(item.id for item in start.items),
        unshown=start.unshown,
        begun=start.begun,
    )


def _look(connection: apsw.Connection, caller: Caller) -> Seen:
    standing = task_checkpoints.current(connection, caller.home)
    before = () if standing is None else (_hint(standing),)
    chosen = selection.select(connection, caller.scope, before=before)
    return Seen(
        items=(*before, *map(selection.item, chosen.rules)),
        heading=selection.HEADING,
        how="loaded",
        unshown=chosen.counts["dropped"],
        begun=True,
    )


def _hint(progress: Progress) -> Item:
    """Where work stands, in short."""
    parts = [("Remaining", progress.remaining), ("Blockers", progress.blockers)]
    parts.append(("Completed", progress.completed))
    text = "\n".join(f"{name}: {value}" for name, value in parts if value.strip())
    if len(text) > LONGEST_HINT:
        text = f"{text[:LONGEST_HINT]}…"
    text += "\nAll of it: `recalld checkpoint load`"
    source = "recalld, at the end of a session" if progress.automatic else "this project"
    return Item(CHECKPOINT, "checkpoint", text, progress.updated_at, source, progress.namespace)
