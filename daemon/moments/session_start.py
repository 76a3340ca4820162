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
from .noted import UNSAID, Noted

EMPTIED = frozenset({"compact", "clear"})
"""Sources of a start before which the context was emptied."""
CHECKPOINT = "checkpoint"
"""The id a checkpoint has in a block, and among what a session was shown."""
LONGEST_HINT = 700
"""Characters of a checkpoint shown; the whole of it is a command away."""


async def answer(desk: Desk, event: Event) -> Seen:
    """The rules of every namespace the session may read, after the checkpoint of its own."""
    return await desk.read(lambda connection: _look(connection, desk.caller))


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """After the context was emptied, everything may be shown again."""
    if event.source in EMPTIED:
        agent_sessions.refresh(tx, caller.namespace, event.session)
    return UNSAID


def missed(connection: apsw.Connection, caller: Caller, event: Event) -> Seen:
    """What the session was not given at its start, for its first prompt: the daemon was starting
    itself, or the host has no such event.
    """
    known = agent_sessions.find(connection, caller.home, event.session)
    if known is not None and known.prompts:
        return NOTHING
    if exposures.present(connection, caller.home, event.session, ("loaded",)):
        return NOTHING
    return _look(connection, caller)


def _look(connection: apsw.Connection, caller: Caller) -> Seen:
    standing = task_checkpoints.current(connection, caller.home)
    before = () if standing is None else (_hint(standing),)
    chosen = selection.select(connection, caller.scope, before=before)
    return Seen(
        items=(*before, *map(selection.item, chosen.rules)),
        heading=selection.HEADING,
        how="loaded",
        unshown=chosen.counts["dropped"],
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
