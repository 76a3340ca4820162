"""Storing a new memory: row, full text, history and change note in one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from . import history, namespaces, rows
from .faults import Invalid
from .memories import Memory, get
from .scope import Scope
from .transaction import Change, Transaction

# The kind of verbatim turns: saying the same thing twice is part of a conversation.
CONVERSATION: Final = "conversation"


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
    """What became of a draft: `result` is stored, duplicate or superseded (it replaced another)."""

    ulid: str
    result: str
    version: int
    namespace: str


def insert(tx: Transaction, draft: Draft, *, by: str) -> Stored:
    """Store the draft under the grant `by`, unless the same text is already there.

    A duplicate (same namespace, kind, content and detail, active) only gains evidence. A draft that
    supersedes another memory of its namespace retires that one in the same transaction.
    Raises Invalid for empty content, MissingRow when there is nothing to supersede, ValueError or
    TypeError for what cannot be written (half a surrogate pair, an endless number). Every refusal
    comes before the first write, so a batch may go on with its next draft without a savepoint;
    one around each draft would make it several times as slow.
    """
    old = _replaced(tx, draft)
    digest = rows.content_hash(draft.content, draft.detail)
    ns = namespaces.obtain(tx, draft.namespace)
    known = None if draft.kind == CONVERSATION else _known(tx, ns, draft.kind, digest)
    if known is not None:
        ulid, version = _strengthen(tx, known, draft.evidence)
    else:
        ulid, version = _add(tx, ns, draft, by), 1
    if old is not None and old.ulid != ulid:
        changes = {"status": "superseded", "superseded_by": ulid}
        rows.rewrite(tx, ns, old, changes, "supersede", by=by)
        return Stored(ulid, "superseded", version, draft.namespace)
    return Stored(ulid, "stored" if known is None else "duplicate", version, draft.namespace)


def _replaced(tx: Transaction, draft: Draft) -> Memory | None:
    """Check the draft; the memory it supersedes, if any."""
    if not draft.content.strip():
        raise Invalid("A memory needs some text.")
    if draft.supersedes is None:
        return None
    return get(tx.connection, Scope([draft.namespace]), draft.supersedes)


def _known(tx: Transaction, ns: int, kind: str, digest: bytes) -> int | None:
    found = tx.connection.execute(
        "SELECT rid FROM memories WHERE ns = ? AND content_hash = ? AND kind = ? "
        "AND status = 'active'",
        (ns, digest, kind),
    ).get
    return None if found is None else int(found)


def _strengthen(tx: Transaction, rid: int, evidence: int) -> tuple[str, int]:
    """Count the repetition. It changes nothing anyone wrote, so it makes no version."""
    row: tuple[str, int] = tx.connection.execute(
        "UPDATE memories SET evidence = evidence + ? WHERE rid = ? RETURNING ulid, version",
        (evidence, rid),
    ).get
    return row


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
