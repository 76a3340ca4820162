"""A tool call worked: perhaps it is the fix of what failed before.

Cursor takes context after a success and not after a failure; only its hooks ask for an answer.
"""

from __future__ import annotations

import apsw

from ...storage import outcomes
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from ..lessons import pairing, recording
from ..lessons.attempts import attempt
from . import session_start, tool_failure
from .desk import NOTHING, Desk, Seen
from .limits import TOLD_LATE
from .noted import UNSAID, Noted


async def answer(desk: Desk, event: Event) -> Seen:
    """The known fixes of failures that wait and that this very success does not settle, after what
    the session missed at its start.
    """

    def look(connection: apsw.Connection) -> Seen:
        made = attempt(event)
        waiting = outcomes.pending(connection, desk.caller.home, event.session)
        left = [one for one in waiting if not pairing.related(one, made, event.at)]
        items = tool_failure.owed(connection, desk.caller, event, left)
        late = event.host in TOLD_LATE and not event.agent
        start = session_start.missed(connection, desk.caller, event) if late else NOTHING
        return session_start.after(start, Seen(items, tool_failure.HEADING))

    return await desk.read(look)


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Pair it with the failures that wait."""
    recording.succeeded(tx, caller, event)
    return UNSAID
