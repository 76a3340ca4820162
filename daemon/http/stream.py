"""The change feed as server-sent events, for as long as the token still opens it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import orjson

from ...auth.errors import RecalldError
from ...storage.scope import Scope
from ...storage.transaction import Change
from .access import Need, authenticate
from .answers import Answer
from .call import Call
from .schemas import StreamQuery


async def stream(call: Call) -> Answer:
    """Every change of the readable namespaces from now on, until either side ends it."""
    reach = call.access.readable(call.query(StreamQuery).namespace)
    events = _events(call, reach)
    # The first event opens the subscription: when there is no room for it, the answer can say so.
    return Answer(200, await anext(events), stream=events)


async def _events(call: Call, reach: Scope) -> AsyncGenerator[bytes]:
    """The events; a comment now and then keeps the connection alive and finds the dead ones."""
    gone = asyncio.ensure_future(call.gone())
    heartbeat = call.services.settings.heartbeat_s
    try:
        with call.services.feed.subscribe(reach) as subscription:
            yield b": connected\n\n"
            while True:
                waiting = asyncio.ensure_future(subscription.changes.get())
                await asyncio.wait(
                    (waiting, gone), timeout=heartbeat, return_when=asyncio.FIRST_COMPLETED
                )
                if gone.done() or not _still_granted(call, reach):
                    waiting.cancel()
                    return
                if not waiting.done():
                    waiting.cancel()
                    yield b": still here\n\n"
                    continue
                change = waiting.result()
                if change is None:
                    return
                yield _event(change)
    finally:
        gone.cancel()


def _still_granted(call: Call, reach: Scope) -> bool:
    """Whether the token opens all of this now; revoked, rotated, narrowed or run out it does not.

    Asked before every event and heartbeat, so that nothing is told after the grant's end.
    """
    services = call.services
    try:
        access = authenticate(call.head, Need.GRANT, services.grants, services.identity.secret)
        return access is not None and all(name in access.readable() for name in reach)
    except RecalldError:
        return False


def _event(change: Change) -> bytes:
    data = {
        "id": change.ulid,
        "op": change.op,
        "namespace": change.namespace,
        "version": change.version,
    }
    return b"event: change\ndata: " + orjson.dumps(data) + b"\n\n"
