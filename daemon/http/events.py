"""POST /v1/events: what happens in an agent's session, as hooks tell it."""

from __future__ import annotations

import logging

import apsw

from ...auth.errors import RecalldError
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake import gate
from ..intake.event import Event
from ..moments import dispatch
from ..moments.desk import NOTHING, Desk, Seen
from ..moments.dispatch import Told
from .answers import Answer, reply
from .call import Call
from .learning_requests import EventsRequest
from .writing import Outcome, write

log = logging.getLogger("recalld.events")


async def events(call: Call) -> Answer:
    """Take events in, each once, in order; with `reply` the last one is answered."""
    request = call.body(EventsRequest)
    home, access = call.access.writable(), call.access
    caller = Caller(home, access.readable(), access.by, only_own=access.check_write(home))
    admitted = await call.read(lambda reader, _: [gate.event(one) for one in request.events])
    desk = Desk(caller, call.read, call.services.retrieval)
    seen = await _seen(desk, admitted[-1]) if request.reply else None

    def idle(connection: apsw.Connection) -> bool:
        return len(admitted) == 1 and dispatch.is_idle(connection, caller, admitted[0])

    if not _says(seen) and await desk.read(idle):
        return reply(_shape(len(admitted), dispatch.SILENCE))

    fresh: list[Event] = []

    def job(tx: Transaction) -> Outcome:
        told = dispatch.take(tx, caller, admitted, seen)
        fresh[:] = told.fresh
        return Outcome(200, _shape(len(admitted), told))

    answer = await write(call, job)
    if call.services.classifier is not None:
        for event in fresh:
            call.services.classifier.offer(caller, event)
    return answer


async def _seen(desk: Desk, event: Event) -> Seen:
    """What there is to say. An event is kept also when nothing can be looked up for it."""
    try:
        return await dispatch.look(desk, event)
    except RecalldError as error:
        log.warning("nothing was said to an event", extra={"code": error.code})
    except Exception:  # a mistake in looking must not lose what the user said
        log.exception("nothing could be said to an event")
    return NOTHING


def _says(seen: Seen | None) -> bool:
    return seen is not None and seen != NOTHING._replace(heading=seen.heading)


def _shape(taken: int, told: Told) -> dict[str, object]:
    deny = None if told.deny is None else {"rule": told.deny[0], "reason": told.deny[1]}
    return {"taken": taken, "context": told.context, "deny": deny, "notice": told.notice}
