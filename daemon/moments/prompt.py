"""The user speaks: what is remembered about it is shown, what shall hold from now on is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from ...storage import exposures, outcomes
from ...storage.drafts import Draft
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
from . import relevance, session_start, shown, tool_failure
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
    """What is remembered about the prompt and not in the session's context already, after what the
    session should have been told before and was not.
    """
    found = await _remembered(desk, event)
    if not event.by_user:
        return found
    return await desk.read(lambda connection: _caught_up(connection, desk.caller, event, found))


async def _remembered(desk: Desk, event: Event) -> Seen:
    question = event.text[: relevance.LONGEST]
    if not any(map(str.isalnum, question)):
        return NOTHING
    request = RecallRequest(question, limit=LOOKED_AT, kinds=KINDS)

    def judge(connection: apsw.Connection, pipeline: Recall, hits: list[Hit]) -> Seen:
        fitting = relevance.relevant(pipeline, question, hits)
        present = exposures.present(connection, desk.caller.home, event.session)
        return _seen(fitting, present)

    return await desk.recall(request, judge) or NOTHING


def _caught_up(connection: apsw.Connection, caller: Caller, event: Event, found: Seen) -> Seen:
    """With the rules of a start that was missed, and fixes that could not be told when it failed.

    A host may have no place for them then, or the daemon was not there.
    """
    start = session_start.missed(connection, caller, event)
    waiting = outcomes.pending(connection, caller.home, event.session)
    fixes = tool_failure.owed(connection, caller, event, waiting)
    return session_start.after(start, found._replace(items=(*fixes, *found.items)))


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


def _seen(fitting: Sequence[Hit], present: frozenset[str]) -> Seen:
    found = [hit.memory for hit in fitting]
    fresh = [memory for memory in found if memory.ulid not in present][:MOST_SHOWN]
    known = [memory.ulid for memory in found if memory.ulid in present]
    return Seen(tuple(map(shown.show, fresh)), HEADING, relevant=tuple(known))


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
    stored, old = preferences.told(tx, draft, by=caller.by, only_own=caller.only_own)
    if stored.result in {"duplicate", "merged"}:
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
