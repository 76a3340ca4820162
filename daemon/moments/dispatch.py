"""From events to what is kept and what is answered: one table, one transaction.

What the last event is answered is looked up first (reading only), then everything is written at
once: the claimed ids, the effects, and the account of what the answer shows. An event that was
taken in before has no effects again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

import apsw

from ...storage import agent_sessions, counters, exposures, hard_rules, outcomes, taken_events
from ...storage.transaction import Transaction
from ..caller import Caller
from ..injection import block
from ..injection.block import Block
from ..intake.event import Event
from ..lessons import recording
from ..rules import hard
from . import (
    compaction,
    pre_tool,
    prompt,
    session_end,
    session_start,
    stop,
    subagent_start,
    tool_failure,
    tool_success,
)
from .desk import NOTHING, Desk, Seen
from .noted import UNSAID, Noted

GOAL = 300
"""Characters of a prompt kept as what the session is about."""
SAID = 4_000
"""Characters of the agent's last message kept, from its end, where it says what is left."""


class Moment(NamedTuple):
    """What is looked up to answer an event, and what is kept of it; either may be nothing."""

    answer: Callable[[Desk, Event], Awaitable[Seen]] | None = None
    record: Callable[[Transaction, Caller, Event], Noted] | None = None


MOMENTS: Final[dict[str, Moment]] = {
    "session_start": Moment(session_start.answer, session_start.record),
    "prompt": Moment(prompt.answer, prompt.record),
    "pre_tool": Moment(pre_tool.answer),
    "tool_success": Moment(tool_success.answer, tool_success.record),
    "tool_failure": Moment(tool_failure.answer, tool_failure.record),
    "subagent_start": Moment(subagent_start.answer),
    "stop": Moment(record=stop.record),
    "subagent_stop": Moment(record=stop.record),
    "session_end": Moment(record=session_end.record),
    "pre_compact": Moment(record=compaction.record),
    "post_compact": Moment(record=compaction.record),
}


class Told(NamedTuple):
    """What goes back to the hook: a block for the agent, a refusal, a line for the person.

    `fresh` are the events that had not been taken in before.
    """

    context: str | None = None
    deny: tuple[str, str] | None = None
    notice: str | None = None
    fresh: tuple[Event, ...] = ()


SILENCE: Final = Told()


async def look(desk: Desk, event: Event) -> Seen:
    """What there is to say about an event; nothing is written yet."""
    moment = MOMENTS[event.kind]
    return NOTHING if moment.answer is None else await moment.answer(desk, event)


def is_idle(connection: apsw.Connection, caller: Caller, event: Event) -> bool:
    """Whether taking in a single event would change nothing: then it costs no write at all.

    Most tool calls are such; agents make hundreds an hour.
    """
    if event.kind == "pre_tool":
        return True
    if event.kind != "tool_success":
        return False
    waiting = bool(outcomes.pending(connection, caller.home, event.session))
    return not recording.matters(event, waiting)


def take(
    tx: Transaction, caller: Caller, events: Sequence[Event], seen: Seen | None = None
) -> Told:
    """Keep the events that are new, and make the answer to the last one from what was seen.

    Without `seen` nobody is told anything, and nothing is used up.
    """
    noted = UNSAID
    fresh: list[Event] = []
    for event in events:
        noted = UNSAID
        if taken_events.claim(tx, *event.identity):
            fresh.append(event)
            noted = _record(tx, caller, event)
    told = SILENCE if seen is None else _told(tx, caller, events[-1], seen, noted)
    return told._replace(fresh=tuple(fresh))


def _record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    record = MOMENTS[event.kind].record
    agent_sessions.touch(
        tx,
        caller.namespace,
        event.session,
        event.host,
        goal=event.text[:GOAL] if event.by_user else None,
        said=event.text[-SAID:] if event.kind == "stop" and event.text else None,
    )
    return UNSAID if record is None else record(tx, caller, event)


def _told(tx: Transaction, caller: Caller, event: Event, seen: Seen, noted: Noted) -> Told:
    # What was seen was read before the event retired anything.
    standing = [item for item in seen.items if item.id not in noted.retired]
    shown = block.render(
        [*noted.items, *standing],
        heading=seen.heading or prompt.HEADING,
        unshown=seen.unshown,
    )
    _account(tx, caller, event, seen, shown)
    return Told(shown.text or None, _refusal(tx, caller, event, seen), noted.notice)


def _account(tx: Transaction, caller: Caller, event: Event, seen: Seen, shown: Block) -> None:
    """Each memory counts once a session, by how it came there."""
    loaded = [ulid for ulid in shown.ids if seen.how == "loaded" or ulid in seen.loaded]
    injected = [ulid for ulid in shown.ids if ulid not in loaded]
    fresh = exposures.note(tx, caller.namespace, event.session, loaded, "loaded")
    counters.add(tx, caller.scope, fresh, "loaded")
    fresh = exposures.note(tx, caller.namespace, event.session, injected, "injected")
    counters.add(tx, caller.scope, fresh, "injected")
    exposures.note(tx, caller.namespace, event.session, seen.relevant, "relevant")
    if seen.begun:
        session_start.note_given(tx, caller, event)


def _refusal(tx: Transaction, caller: Caller, event: Event, seen: Seen) -> tuple[str, str] | None:
    for rule in seen.marks:
        if hard_rules.deny(tx, caller.namespace, event.session, rule.ulid):
            return rule.ulid, hard.reason(rule)
    return None
