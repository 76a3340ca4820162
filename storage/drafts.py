"""Storing a new memory: row, full text, history and change note in one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from . import history, namespaces, rows
from .faults import ForeignRow, Invalid
from .memories import CONVERSATION, Memory, get
from .scope import Scope
from .transaction import Change, Transaction

# Tags a row may gather by being stored again; those beyond are not taken over.
MOST_TAGS: Final = 32


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller wants remembered; limits and defaults are the intake's business.

    `context` is the text of the previous turn: it is indexed with the row, never stored with it.
    Conversation turns number themselves with `turn` within `session`.
    """

    namespace: str
    content: str
    kind: str = "note"
    detail: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    evidence: int = 1
    source: Mapping[str, object] = field(default_factory=dict[str, object])
    observed_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    supersedes: str | None = None
    session: str | None = None
    turn: int | None = None
    actor: str | None = None
    role: str | None = None
    context: str | None = None
    status: str = "active"


class Stored(NamedTuple):
    """What became of a draft: `result` is stored, duplicate, superseded (it replaced another),
    quarantined (set aside) or merged (counted on a memory that says the same).
    """

    ulid: str
    result: str
    version: int
    namespace: str


def insert(tx: Transaction, draft: Draft, *, by: str, only_own: bool = False) -> Stored:
    """Store the draft under the grant `by`, unless the same text is already there.

    A duplicate (same namespace, kind, content and detail, active) gains evidence and the draft's
    tags; its importance stays. It is none when it does not hold now or for the time the draft
    names: then the draft supersedes it. A draft that supersedes another memory of its namespace
    retires that one in the same transaction. One that is quarantined replaces nothing.
    Raises Invalid for empty content, MissingRow when there is nothing to supersede, ForeignRow
    (`only_own`: what is superseded must have been written under `by`), ValueError or
    TypeError for what cannot be written (half a surrogate pair, an endless number). Every refusal
    comes before the first write, so a batch may go on with its next draft without a savepoint;
    one around each draft would make it several times as slow.
    """
    old = _replaced(tx, draft, by if only_own else None)
    digest = rows.content_hash(draft.content, draft.detail)
    ns = namespaces.obtain(tx, draft.namespace)
    alike = [] if draft.kind == CONVERSATION else _alike(tx, ns, draft, digest)
    known = next((one for one in alike if _holds(one, draft, tx.now)), None)
    if known is not None:
        ulid, version = _strengthen(tx, ns, known, draft, by, only_own)
    else:
        if old is None and draft.status == "active":
            old = _outdated(tx, draft, alike, by if only_own else None)
            draft = draft if old is None else replace(draft, supersedes=old.ulid)
        ulid, version = _add(tx, ns, draft, by), 1
    if old is not None and old.ulid != ulid:
        changes = {"status": "superseded", "superseded_by": ulid}
        rows.rewrite(tx, ns, old, changes, "supersede", by=by)
        return Stored(ulid, "superseded", version, draft.namespace)
    if known is not None:
        return Stored(ulid, "duplicate", version, draft.namespace)
    result = "stored" if draft.status == "active" else draft.status
    return Stored(ulid, result, version, draft.namespace)


def merge(
    tx: Transaction, kept: Memory, draft: Draft, *, by: str, only_own: bool = False
) -> Stored:
    """Count the draft on a memory that says the same, which gains evidence and the draft's tags."""
    alike = _Alike(kept.rid, kept.ulid, kept.valid_from, kept.valid_to, kept.created_by)
    ns = namespaces.obtain(tx, kept.namespace)
    ulid, version = _strengthen(tx, ns, alike, draft, by, only_own)
    return Stored(ulid, "merged", version, kept.namespace)


def _replaced(tx: Transaction, draft: Draft, owner: str | None) -> Memory | None:
    """Check the draft; the memory it supersedes, if any, which must be this owner's if named."""
    if not draft.content.strip():
        raise Invalid("A memory needs some text.")
    if draft.supersedes is None:
        return None
    old = get(tx.connection, Scope([draft.namespace]), draft.supersedes)
    if owner is not None and old.created_by != owner:
        raise ForeignRow("The memory to replace was written under another grant.")
    return old


class _Alike(NamedTuple):
    """A row with the draft's text that is active, or set aside like the draft."""

    rid: int
    ulid: str
    valid_from: str | None
    valid_to: str | None
    created_by: str


def _alike(tx: Transaction, ns: int, draft: Draft, digest: bytes) -> list[_Alike]:
    rows_found = tx.connection.execute(
        "SELECT rid, ulid, valid_from, valid_to, created_by FROM memories "
        "WHERE ns = ? AND content_hash = ? AND kind = ? AND status IN ('active', ?)",
        (ns, digest, draft.kind, draft.status),
    )
    return [_Alike._make(row) for row in rows_found]


def _holds(row: _Alike, draft: Draft, now: str) -> bool:
    """Whether the row says what the draft says for the same time; without one that means now."""
    told, stated = (draft.valid_from, draft.valid_to), (row.valid_from, row.valid_to)
    if told == stated or told != (None, None):
        return told == stated
    return (row.valid_from or "") <= now and (row.valid_to is None or row.valid_to > now)


def _outdated(
    tx: Transaction, draft: Draft, alike: list[_Alike], owner: str | None
) -> Memory | None:
    """The row with the same text for another time, which the draft replaces; only this owner's."""
    for one in alike:
        if owner is None or one.created_by == owner:
            return get(tx.connection, Scope([draft.namespace]), one.ulid)
    return None


def _strengthen(
    tx: Transaction, ns: int, known: _Alike, draft: Draft, by: str, only_own: bool
) -> tuple[str, int]:
    """Count the repetition, which changes nothing anyone wrote and so makes no version.

    Tags that are new do make one, so another grant's row gets none with `only_own`.
    """
    row: tuple[str, int] = tx.connection.execute(
        "UPDATE memories SET evidence = evidence + ? WHERE rid = ? RETURNING ulid, version",
        (draft.evidence, known.rid),
    ).get
    if not draft.tags or (only_own and known.created_by != by):
        return row
    memory = get(tx.connection, Scope([draft.namespace]), known.ulid)
    tags = tuple(dict.fromkeys((*memory.tags, *draft.tags)))[: max(MOST_TAGS, len(memory.tags))]
    if tags == memory.tags:
        return row
    return memory.ulid, rows.rewrite(tx, ns, memory, {"tags": tags}, "edit", by=by).version


def _add(tx: Transaction, ns: int, draft: Draft, by: str) -> str:
    memory = _memory(tx, draft, by)
    rid = rows.add(tx, ns, memory, draft.context)
    history.append(tx, ns, memory, "store", by=by)
    tx.record(Change("upsert", ns, rid, memory.ulid, 1, draft.namespace))
    return memory.ulid


def _memory(tx: Transaction, draft: Draft, by: str) -> Memory:
    return Memory(
        rid=0,
        ulid=tx.new_id(),
        namespace=draft.namespace,
        version=1,
        kind=draft.kind,
        content=draft.content,
        detail=draft.detail,
        tags=draft.tags,
        importance=draft.importance,
        evidence=draft.evidence,
        source=draft.source,
        status=draft.status,
        created_at=tx.now,
        updated_at=tx.now,
        observed_at=draft.observed_at,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        supersedes=draft.supersedes,
        superseded_by=None,
        created_by=by,
        session=draft.session,
        turn=draft.turn,
        actor=draft.actor,
        role=draft.role,
    )
