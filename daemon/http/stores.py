"""Routes that store: one memory, many, and the turns of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ...auth.errors import RecalldError
from ...storage import turns
from ...storage.drafts import Draft
from ...storage.faults import FullDisk, StorageFault
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from ..intake.drafts import from_request, from_turns
from ..intake.flags import flags_of
from ..rules import preferences
from ..rules.preferences import Kept
from . import shapes
from .access import Access
from .answers import Answer
from .bodies import validate
from .call import Call
from .schemas import BatchRequest, ConversationRequest, StoreRequest
from .translation import translate
from .writing import Outcome, write

FLAGGED_AT_ONCE = 2_000
"""Characters looked through for secrets on the spot (0.5 ms); longer texts go to a worker."""


class Insert(Protocol):
    """How a draft gets into the store."""

    def __call__(self, tx: Transaction, draft: Draft, *, by: str, only_own: bool) -> Kept:
        """Store it, or count it on what is there."""
        ...


async def store(call: Call) -> Answer:
    """Store one memory: 201 when it is new, 200 when the same text was there already."""
    return await keep(call, preferences.insert)


async def keep(call: Call, insert: Insert) -> Answer:
    """Store one memory in this way."""
    request = call.body(StoreRequest)
    draft = from_request(request, call.access.writable(request.namespace))
    flags = await _flags(call, draft)
    by, own = call.access.by, call.access.check_write(draft.namespace)

    def job(tx: Transaction) -> Outcome:
        kept = insert(tx, draft, by=by, only_own=own)
        shape = shapes.stored(kept.stored, flags=flags, retired=kept.retired)
        known = kept.stored.result in {"duplicate", "merged"}
        return Outcome(200 if known else 201, shape)

    return await write(call, job)


async def batch(call: Call) -> Answer:
    """Store many memories in one transaction, each accepted or refused for itself."""
    prepared = [_draft(call, item) for item in call.body(BatchRequest).items]
    return await write(call, lambda tx: Outcome(200, {"results": _insert_each(tx, prepared, call)}))


async def conversation(call: Call) -> Answer:
    """Store the turns of a session word for word, after those already there."""
    request = call.body(ConversationRequest)
    namespace = call.access.writable(request.namespace)

    def job(tx: Transaction) -> Outcome:
        first = turns.next_turn(tx.connection, Scope([namespace]), request.session)
        drafted = from_turns(request, namespace, first=first)
        return Outcome(200, {"results": _insert_each(tx, drafted, call)})

    return await write(call, job)


async def _flags(call: Call, draft: Draft) -> list[str]:
    """What the writer should know about the text; it is stored as it is said all the same."""
    if len(draft.content) + len(draft.detail or "") <= FLAGGED_AT_ONCE:
        return flags_of(draft)
    return await call.read(lambda reader, _: flags_of(draft))


def _draft(call: Call, item: object) -> Draft | RecalldError:
    """The item as a draft, or what is wrong with it."""
    try:
        request = validate(StoreRequest, item)
        return from_request(request, call.access.writable(request.namespace))
    except RecalldError as error:
        return error


def _insert_each(
    tx: Transaction, prepared: Iterable[Draft | RecalldError], call: Call
) -> list[dict[str, object]]:
    return [_insert(tx, one, call.access) for one in prepared]


def _insert(tx: Transaction, draft: Draft | RecalldError, access: Access) -> dict[str, object]:
    """Store one item, or tell why not; a full disk ends the whole batch.

    A refusal comes before anything of the item was written. Should one not, the batch fails.
    """
    if isinstance(draft, RecalldError):
        return shapes.wrong(draft)
    before = tx.connection.total_changes()
    try:
        own = access.check_write(draft.namespace)
        kept = preferences.insert(tx, draft, by=access.by, only_own=own)
        return shapes.stored(kept.stored, retired=kept.retired)
    except StorageFault as fault:
        if isinstance(fault, FullDisk) or tx.connection.total_changes() != before:
            raise
        return shapes.wrong(translate(fault))
