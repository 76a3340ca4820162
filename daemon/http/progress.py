"""Routes about the checkpoint of a namespace: where work stands, for whoever goes on."""

from __future__ import annotations

from ...auth.errors import NotFound
from ...storage import task_checkpoints
from ...storage.scope import Scope
from ...storage.task_checkpoints import Progress
from ...storage.transaction import Transaction
from ..intake.text import clean
from .answers import Answer, reply
from .call import Call
from .learning_requests import CheckpointQuery, CheckpointRequest
from .writing import Outcome, write


async def load(call: Call) -> Answer:
    """The current checkpoint (null: none), with `history=true` also the ones before it."""
    query = call.query(CheckpointQuery)
    scope = call.access.readable(_wanted(call, query.namespace))
    limit = task_checkpoints.KEPT if query.history else 1
    found = await call.read(
        lambda reader, _: task_checkpoints.history(reader.connection, scope, limit)
    )
    shown = [_shape(one) for one in found]
    return reply({"checkpoint": shown[0] if shown else None, "history": shown[1:]})


async def save(call: Call) -> Answer:
    """Replace the current checkpoint; the last twenty are kept."""
    request = call.body(CheckpointRequest)
    namespace, by = call.access.writable(request.namespace), call.access.by

    def job(tx: Transaction) -> Outcome:
        saved = task_checkpoints.save(
            tx,
            namespace,
            completed=clean(request.completed, "completed"),
            remaining=clean(request.remaining, "remaining"),
            blockers=clean(request.blockers, "blockers"),
            notes=clean(request.notes, "notes"),
            session=request.session,
            by=by,
        )
        return Outcome(200, _shape(saved))

    return await write(call, job)


async def clear(call: Call) -> Answer:
    """Put the checkpoints away: the work is done."""
    namespace = call.access.writable(call.query(CheckpointQuery).namespace)

    def job(tx: Transaction) -> Outcome:
        if not task_checkpoints.clear(tx, namespace):
            raise NotFound("There is no checkpoint.")
        return Outcome(200, {"result": "cleared", "namespace": namespace})

    return await write(call, job)


def _wanted(call: Call, named: str | None) -> list[str] | None:
    """The namespace named, else the grant's own; a grant that only reads has no own one."""
    if named is not None:
        return [named]
    home = call.access.home
    return None if home is None else list(Scope([home]))


def _shape(progress: Progress) -> dict[str, object]:
    return progress._asdict()
