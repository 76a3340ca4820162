"""Memories, versions and stored results in the form they have on the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...auth.errors import RecalldError
from ...storage.drafts import Stored
from ...storage.history import Version
from ...storage.memories import Memory, spoken

_RENAMED = {"ulid": "id", "actor": "speaker"}


def memory(found: Memory) -> dict[str, object]:
    """A whole memory."""
    return {
        "id": found.ulid,
        "namespace": found.namespace,
        "kind": found.kind,
        "content": found.content,
        "detail": found.detail,
        "tags": list(found.tags),
        "importance": found.importance,
        "evidence": found.evidence,
        "source": dict(found.source),
        "status": found.status,
        "version": found.version,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
        "observed_at": found.observed_at,
        **spoken(found),
        "valid_from": found.valid_from,
        "valid_to": found.valid_to,
        "supersedes": found.supersedes,
        "superseded_by": found.superseded_by,
    }


def hit(found: Memory, score: float, why: Mapping[str, float] | None = None) -> dict[str, object]:
    """A memory as a search finds it: what an agent reads, no more, and nothing that is null."""
    shape: dict[str, object] = {
        "id": found.ulid,
        "namespace": found.namespace,
        "kind": found.kind,
        "content": found.content,
        "tags": list(found.tags),
        "score": round(score, 4),
        "created_at": found.created_at,
    }
    told = {"observed_at": found.observed_at, **spoken(found)}
    shape |= {name: value for name, value in told.items() if value is not None}
    if why is not None:
        shape["why"] = {name: round(value, 4) for name, value in why.items()}
    return shape


def version(entry: Version) -> dict[str, object]:
    """One version: what happened, and the memory as it was then."""
    state = {_RENAMED.get(name, name): value for name, value in entry.memory.items()}
    told: dict[str, object] = {
        **state,
        "version": entry.version,
        "op": entry.op,
        "at": entry.at,
        "by": entry.by,
    }
    if entry.restores is not None:
        told["restores"] = entry.restores
    return told


def stored(
    result: Stored, *, flags: Sequence[str] = (), retired: Memory | None = None
) -> dict[str, object]:
    """What became of a draft; `flags` and what to ignore from now on only if there are any."""
    shape: dict[str, object] = {
        "id": result.ulid,
        "result": result.result,
        "namespace": result.namespace,
        "version": result.version,
    }
    if flags:
        shape["flags"] = list(flags)
    if retired is not None:
        shape["ignore"] = [{"id": retired.ulid, "content": retired.content}]
    return shape


def wrong(error: RecalldError) -> dict[str, object]:
    """An item's error within a batch."""
    return dict(error.to_wire())
