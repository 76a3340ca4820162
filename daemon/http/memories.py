"""Routes about single memories and pages of them: list, show, edit, forget, history, undo."""

from __future__ import annotations

from ...auth.errors import InvalidRequest, NotFound
from ...storage import edits, history, memories, pages
from ...storage.transaction import Transaction
from ...storage.ulid import is_ulid
from ..intake.text import clean
from . import shapes
from .answers import Answer, reply
from .call import Call
from .schemas import EditRequest, HistoryQuery, PageQuery
from .writing import Outcome, write

_CLEARABLE = frozenset({"detail", "valid_from", "valid_to"})


async def listing(call: Call) -> Answer:
    """One page of memories, newest first."""
    query = call.query(PageQuery)
    scope = call.access.readable(query.namespace)
    wanted = pages.Filter(
        kinds=tuple(query.kind or ()),
        tags=tuple(query.tag or ()),
        status=query.status,
        since=query.since,
        until=query.until,
    )
    page = await call.read(
        lambda reader, _: pages.page(reader.connection, scope, wanted, query.cursor, query.limit)
    )
    return reply(
        {"items": [shapes.memory(one) for one in page.items], "next_cursor": page.next_cursor}
    )


async def show(call: Call) -> Answer:
    """One memory."""
    scope, ulid = call.access.readable(), _id(call)
    found = await call.read(lambda reader, _: memories.get(reader.connection, scope, ulid))
    return reply(shapes.memory(found))


async def edit(call: Call) -> Answer:
    """Change some fields; the memory as it was stays in its history."""
    request = call.body(EditRequest)
    scope, ulid, by = call.access.readable(), _id(call), call.access.by

    def job(tx: Transaction) -> Outcome:
        # Rights first: what is wrong with the request is told to those who may make it.
        own = call.access.check_write(memories.get(tx.connection, scope, ulid).namespace)
        changes, version = _changes(request), request.if_version
        after = edits.update(tx, scope, ulid, changes, by=by, if_version=version, only_own=own)
        return Outcome(200, shapes.memory(after))

    return await write(call, job)


async def forget(call: Call) -> Answer:
    """Remove a memory; undo brings it back."""
    scope, ulid, by = call.access.readable(), _id(call), call.access.by

    def job(tx: Transaction) -> Outcome:
        namespace = memories.get(tx.connection, scope, ulid).namespace
        own = call.access.check_write(namespace)
        edits.forget(tx, scope, ulid, by=by, only_own=own)
        return Outcome(200, {"id": ulid, "result": "forgotten", "namespace": namespace})

    return await write(call, job)


async def past(call: Call) -> Answer:
    """One page of the versions of a memory, oldest first; also of a forgotten one."""
    query = call.query(HistoryQuery)
    scope, ulid = call.access.readable(), _id(call)
    found = await call.read(
        lambda reader, _: history.versions(
            reader.connection, scope, ulid, after=query.cursor, limit=query.limit
        )
    )
    cursor = None if found.after is None else str(found.after)
    shown = [shapes.version(entry) for entry in found.entries]
    return reply({"versions": shown, "next_cursor": cursor})


async def undo(call: Call) -> Answer:
    """Bring back the version before the last change, as a new version."""
    scope, ulid, by = call.access.readable(), _id(call), call.access.by

    def job(tx: Transaction) -> Outcome:
        own = call.access.check_write(history.namespace_of(tx.connection, scope, ulid))
        return Outcome(200, shapes.memory(edits.undo(tx, scope, ulid, by=by, only_own=own)))

    return await write(call, job)


def _id(call: Call) -> str:
    ulid = call.path["id"]
    if not is_ulid(ulid):
        raise NotFound("There is no such memory.")
    return ulid


def _changes(request: EditRequest) -> dict[str, object]:
    """The fields the client sent, as columns. Raises InvalidRequest for a null that cannot be."""
    sent = request.model_fields_set - {"if_version"}
    if not sent:
        raise InvalidRequest("There is nothing to change.")
    changes: dict[str, object] = {name: getattr(request, name) for name in sent}
    for name, value in changes.items():
        if value is None and name not in _CLEARABLE:
            raise InvalidRequest(f"Field {name!r} cannot be emptied.")
    for name in ("content", "detail"):
        text = changes.get(name)
        if isinstance(text, str):
            changes[name] = clean(text, name)
    if request.tags is not None:
        changes["tags"] = tuple(dict.fromkeys(clean(tag, "tags") for tag in request.tags))
    return changes
