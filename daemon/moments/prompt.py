"""The user speaks: what is remembered about it is shown, what shall hold from now on is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from ...storage import exposures, outcomes
from ...storage.drafts import Draft
from ...storage.memories import Memory
from ...storage.transaction import Transaction
from ..caller import Caller
from ..injection.block import Item
from ..injection.visible import one_line
from ..intake.capture import Captured, capture
from ..intake.event import Event
from ..intake.reask import asks_again
from ..lessons import recording
from ..recall.request import Hit, RecallRequest
from ..rules import preferences
from . import relevance
from .desk import NOTHING, Desk, Seen
from .noted import UNSAID, Noted

if TYPE_CHECKING:
    from ..recall.pipeline import Recall  # numpy: 165 ms the first answer need not wait for

MOST_SHOWN = 5
LOOKED_AT = 8
KINDS = (
    "preference", "correction", "failure", "devops", "project-knowledge", "solution", "note",
)  # fmt: skip
"""All but verbatim turns, which would repeat what the agent said itself."""
HEADING = "Remembered about this"


async def answer(desk: Desk, event: Event) -> Seen:
    """What is remembered about the prompt and not in the session's context already."""
    question = event.text[: relevance.LONGEST]
    if not any(map(str.isalnum, question)):
        return NOTHING
    request = RecallRequest(question, limit=LOOKED_AT, kinds=KINDS)

    def judge(connection: apsw.Connection, pipeline: Recall, hits: list[Hit]) -> Seen:
        fitting = relevance.relevant(pipeline, question, hits)
        present = exposures.present(connection, desk.caller.home, event.session)
        return _seen(fitting, present)

    return await desk.recall(request, judge) or NOTHING


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Keep that the user came back, and the sentences that shall hold from now on."""
    if not event.by_user:
        return UNSAID
    if asks_again(event.text):
        recording.asked_again(tx, caller, event)
    outcomes.spoken(tx, caller.namespace, event.session, event.at)
    kept = [keep(tx, caller, event, one) for one in capture(event.text)]
    told = [noted for noted in kept if noted.notice]
    if not told:
        return UNSAID
    items = tuple(item for noted in told for item in noted.items)
    retired = tuple(ulid for noted in told for ulid in noted.retired)
    return Noted(items, "; ".join(noted.notice or "" for noted in told), retired)


def show(memory: Memory) -> Item:
    """The memory as an item of a block."""
    agent = memory.source.get("agent")
    source = agent if isinstance(agent, str) else "an earlier session"
    return Item(
        memory.ulid, memory.kind, memory.content, memory.created_at, source, memory.namespace
    )


def _seen(fitting: Sequence[Hit], present: frozenset[str]) -> Seen:
    found = [hit.memory for hit in fitting]
    fresh = [memory for memory in found if memory.ulid not in present][:MOST_SHOWN]
    known = [memory.ulid for memory in found if memory.ulid in present]
    return Seen(tuple(map(show, fresh)), HEADING, relevant=tuple(known))


def keep(
    tx: Transaction, caller: Caller, event: Event, captured: Captured, *, by: str | None = None
) -> Noted:
    """Store one sentence word for word; a choice retires the one it replaces.

    `by` names the language model that pointed at it, if one did.
    """
    source: dict[str, object] = {"agent": event.host, "session": event.session}
    draft = Draft(
        caller.namespace,
        captured.sentence,
        kind=captured.kind,
        importance=0.7,
        source=source if by is None else source | {"tool": by},
        observed_at=event.at,
        session=event.session,
    )
    stored, old = preferences.insert(tx, draft, by=caller.by, only_own=caller.only_own)
    if stored.result == "duplicate":
        return UNSAID
    said = one_line(captured.sentence, 120)
    if old is None:
        return Noted((), f"recalld keeps: {said}")
    shown = Item(
        stored.ulid,
        captured.kind,
        f"{captured.sentence}\nReplaces [recalld:{old.ulid}], which no longer holds: {old.content}",
        tx.now,
        event.host,
        caller.namespace,
    )
    notice = f"recalld keeps: {said} (instead of: {one_line(old.content, 120)})"
    return Noted((shown,), notice, (old.ulid,))
