"""The agent (or a sub-agent) is done for now: which rules it applied, and how it went."""

from __future__ import annotations

from ...storage import agent_sessions, counters, exposures, memories
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from ..lessons import episodes
from ..lessons.citations import cited
from . import open_ends
from .limits import ENDLESS
from .noted import UNSAID, Noted


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Count what was cited; the main agent's stop also closes the episode, and where the host tells
    no end of the session it counts as one.
    """
    if event.text:
        _count_citations(tx, caller, event)
    if event.kind == "stop":
        close_episode(tx, caller, event)
        if event.host in ENDLESS:
            open_ends.leave(tx, caller, event)
    return UNSAID


def close_episode(tx: Transaction, caller: Caller, event: Event) -> None:
    """Gather what happened since the last stop into an episode."""
    found = agent_sessions.find(tx.connection, caller.home, event.session)
    goal = (found.goal or "") if found else ""
    episodes.close(tx, caller.namespace, event.session, goal)


def _count_citations(tx: Transaction, caller: Caller, event: Event) -> None:
    seen = exposures.seen(tx.connection, caller.home, event.session)
    known = {ulid: _content(tx, caller.scope, ulid) for ulid in seen}
    found = cited(event.text, known)
    fresh = exposures.note(tx, caller.namespace, event.session, found, "cited")
    counters.add(tx, caller.scope, fresh, "cited")


def _content(tx: Transaction, scope: Scope, ulid: str) -> str:
    found = memories.find(tx.connection, scope, ulid)
    return found.content if found else ""
