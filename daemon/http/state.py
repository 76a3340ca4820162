"""Routes that say what there is: status of the daemon, and what each namespace holds."""

from __future__ import annotations

import os
import time
from typing import cast

from ...auth.record import API
from ...storage import namespaces, pages, scope
from ...storage.reader import Reader
from .access import Access
from .answers import Answer, reply
from .call import Call

_OWNERS = frozenset({"queue", "recalls", "connections", "wal_bytes"})
_OWNERS_OF_EMBEDDING = frozenset({"pending", "total", "refused", "reading"})


async def status(call: Call) -> Answer:
    """The daemon, and how much it holds of what the caller may see; the owner sees all.

    What counts the work of everyone together is null for a grant: it would tell one project how
    much is stored in another.
    """
    services = call.services
    memories, aside, spaces = await call.read(lambda reader, _: _held(reader, call.access))
    identity, embedding = services.identity, services.retrieval.state()
    told: dict[str, object] = {
        "pid": os.getpid(),
        "port": identity.port,
        "version": identity.version,
        "api": API,
        "instance": identity.instance,
        "phase": services.lifecycle.phase,
        "started_at": identity.started_at,
        "uptime_s": round(time.monotonic() - services.lifecycle.started, 3),
        "managed_by": identity.managed_by,
        "memories": memories,
        "quarantined": aside,
        "namespaces": spaces,
        "queue": services.store.writer.queue_length(),
        "recalls": services.workers.admitted,
        "connections": services.connections.open,
        "streams": services.feed.streams,
        "wal_bytes": services.store.wal_bytes(),
        "vectors": services.store.has_vectors,
        "words": services.retrieval.words(),
        "ranking": services.retrieval.ranking(),
        "embedding": embedding,
        "llm": services.classifier.state() if services.classifier else None,
        "last_error": services.last_error or _trouble(embedding),
        "stale_code": services.stale_code,
    }
    return reply(told if call.access.grant is None else _for_a_grant(told, embedding))


async def stats(call: Call) -> Answer:
    """What each readable namespace holds, by kind and by status."""
    reach = call.access.readable()
    found = await call.read(lambda reader, _: pages.counts(reader.connection, reach))
    return reply(
        {
            "namespaces": [
                {
                    "namespace": one.namespace,
                    "memories": one.memories,
                    "kinds": one.kinds,
                    "statuses": one.statuses,
                    "first_at": one.first_at,
                    "last_at": one.last_at,
                }
                for one in found
            ]
        }
    )


def _for_a_grant(told: dict[str, object], embedding: dict[str, object]) -> dict[str, object]:
    """The same without what others' rows can be counted by."""
    seen = embedding | dict.fromkeys(_OWNERS_OF_EMBEDDING)
    if seen["state"] == "working":
        seen["state"] = "ready"  # questions are answered all the while
    last_error = told["last_error"]
    if last_error == _trouble(embedding):
        last_error = _trouble(seen)
    return told | dict.fromkeys(_OWNERS) | {"embedding": seen, "last_error": last_error}


def _trouble(embedding: dict[str, object]) -> object:
    """What keeps memories or questions from their vectors, or from better ones."""
    reading = cast("dict[str, object]", embedding.get("reading") or {})
    return embedding.get("last_error") or reading.get("last_error")


def _held(reader: Reader, access: Access) -> tuple[int, int, int]:
    """Memories, those of them set aside, and namespaces that exist, in the caller's view."""
    sizes = namespaces.sizes(reader.connection)
    aside = namespaces.set_aside(reader.connection)
    if access.grant is not None:
        mine = scope.identify(reader.connection, access.readable())
        sizes = {ns: rows for ns, rows in sizes.items() if ns in mine}
    return sum(sizes.values()), sum(aside.get(ns, 0) for ns in sizes), len(sizes)
