"""What a session leaves to do becomes a checkpoint for whoever goes on.

Where it was shown one and left no open ends, that one is done with. A checkpoint saved by hand in
the same session is never replaced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...storage import agent_sessions, exposures, outcomes, task_checkpoints
from ...storage.agent_sessions import Session
from ...storage.outcomes import Outcome
from ...storage.task_checkpoints import Progress
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from .limits import ENDLESS
from .session_start import CHECKPOINT

LEAST_REMAINING = 10
"""Characters: anything shorter says nothing to whoever resumes."""
MOST_LINES = 8
_LONGEST = 1_500

_AHEAD = re.compile(
    r"(?i)^\W{0,6}(?:next steps?|remaining|still (?:to do|open|missing|needed)|to.?dos?|"
    r"not (?:yet )?done|left to do|what(?:'s| is) left|open (?:points|issues|questions)|"
    r"follow.?ups?)\b[^\n]{0,60}$"
)
_POINT = re.compile(r"^\s{0,6}(?:[-*•]|\d{1,2}[.)]|\[ \])\s+\S")
_IN_LINE = re.compile(r"(?i)\b(?:next steps?|remaining|to.?do|still to do)\s*:\s*\S")


def leave(tx: Transaction, caller: Caller, event: Event) -> None:
    """Keep the open ends of the event's session, or put a checkpoint away that is done with."""
    session = agent_sessions.find(tx.connection, caller.home, event.session)
    if session is not None:
        waiting = outcomes.pending(tx.connection, caller.home, event.session)
        _save(tx, caller, session, waiting)


def _save(tx: Transaction, caller: Caller, session: Session, waiting: Sequence[Outcome]) -> None:
    open_ends = [f"`{one.attempt}` still fails: {one.error}" for one in waiting]
    remaining = "\n".join([*ahead(session.said or ""), *open_ends])[:_LONGEST]
    standing = task_checkpoints.current(tx.connection, caller.home)
    if len(remaining) < LEAST_REMAINING:
        if standing is not None and _is_done(tx, caller, session, standing):
            task_checkpoints.clear(tx, caller.namespace)
        return
    by_hand = standing is not None and not standing.automatic
    if standing is not None and by_hand and standing.updated_at >= session.started_at:
        return
    task_checkpoints.save(
        tx,
        caller.namespace,
        completed=f"Worked on: {session.goal}" if session.goal else "",
        remaining=remaining,
        blockers="",
        session=session.session,
        automatic=True,
        by=caller.by,
    )


def _is_done(tx: Transaction, caller: Caller, session: Session, standing: Progress) -> bool:
    """Whether the session was shown this checkpoint or left it itself, worked, and left nothing.

    One saved by hand is only ever put away by hand, one saved since by a parallel session stays.
    """
    if not (standing.automatic and session.said):
        return False
    own = standing.session == session.session
    if session.host in ENDLESS:  # a stop need not be the end of the work that was shown
        return own and standing.updated_at >= session.refreshed_at
    if own:  # resumed
        return True
    if standing.updated_at > session.started_at:
        return False
    return CHECKPOINT in exposures.seen(tx.connection, caller.home, session.session)


def ahead(said: str) -> list[str]:
    """The lines of the agent's last message that say what is still to be done."""
    found: list[str] = []
    listing = False
    for line in said.splitlines():
        if (listing and _POINT.match(line)) or _IN_LINE.search(line):
            found.append(line.strip())
        elif _AHEAD.match(line):
            listing = True
        elif line.strip():
            listing = False
    return found[:MOST_LINES]
