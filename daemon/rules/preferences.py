"""Preferences that choose: a new choice of the same family retires the old one, reversibly."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...storage import drafts, edits, memories, preference_keys
from ...storage.drafts import Draft, Stored
from ...storage.memories import Memory
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from . import merging
from .choices import choice
from .merging import KEYED


class Kept(NamedTuple):
    """A stored draft, and the memory it retired, which no longer holds."""

    stored: Stored
    retired: Memory | None


def told(tx: Transaction, draft: Draft, *, by: str, only_own: bool) -> Kept:
    """Store what an agent or its user says in passing: said before, it only counts once more."""
    same = merging.kept(tx, draft)
    if same is None or same.content == draft.content:
        return insert(tx, draft, by=by, only_own=only_own)
    return Kept(drafts.merge(tx, same, draft, by=by, only_own=only_own), None)


def set_aside(tx: Transaction, draft: Draft, *, by: str, only_own: bool) -> Kept:
    """Keep what nobody should read unseen: it replaces nothing and stands for nothing."""
    aside = replace(draft, status="quarantined", supersedes=None)
    stored = drafts.insert(tx, aside, by=by, only_own=only_own)
    status = memories.get(tx.connection, Scope([stored.namespace]), stored.ulid).status
    return Kept(stored._replace(result=status) if status == aside.status else stored, None)


def insert(tx: Transaction, draft: Draft, *, by: str, only_own: bool) -> Kept:
    """Store the draft; a preference or correction that makes a choice retires the standing one.

    Retiring is a change of the retired row: with `only_own` a standing choice that was written
    under another grant goes on to stand for the key, and the new one is kept beside it.
    Raises what `drafts.insert` raises.
    """
    chooses = draft.kind in KEYED
    scope = Scope([draft.namespace])
    if draft.supersedes is not None:
        old = memories.find(tx.connection, scope, draft.supersedes)
    else:
        old = retired(tx, draft.namespace, draft.content) if chooses else None
        if old is not None and only_own and old.created_by != by:
            return Kept(drafts.insert(tx, draft, by=by), None)
    superseding = replace(draft, supersedes=old.ulid) if old else draft
    stored = drafts.insert(tx, superseding, by=by, only_own=only_own)
    if chooses:
        stand(tx, draft.namespace, draft.content, stored.ulid)
    return Kept(stored, old)


def retired(tx: Transaction, namespace: str, sentence: str) -> Memory | None:
    """The standing memory of the namespace that this sentence's choice replaces, if there is one.

    The same words said again replace nothing: the store counts them as a repetition.
    """
    made = choice(sentence)
    if made is None:
        return None
    scope = Scope([namespace])
    standing = preference_keys.standing(tx.connection, scope, made.key)
    if standing is None:
        return None
    old = memories.find(tx.connection, scope, standing.ulid)
    return None if old is None or old.content == sentence else old


def stand(tx: Transaction, namespace: str, sentence: str, ulid: str) -> None:
    """Let the memory with this text stand for what it chooses; of no effect for one without."""
    made = choice(sentence)
    if made is not None:
        preference_keys.stand(tx, namespace, made.key, made.value, ulid)


def restore(tx: Transaction, scope: Scope, ulid: str, *, by: str, only_own: bool) -> Memory:
    """Bring a retired or archived rule back; whatever stands for the same key makes way for it."""
    memory = memories.get(tx.connection, scope, ulid)
    made = choice(memory.content)
    if made is not None:
        _make_way(tx, Scope([memory.namespace]), made.key, ulid, by, only_own)
    after = edits.update(tx, scope, ulid, {"status": "active"}, by=by, only_own=only_own)
    stand(tx, memory.namespace, memory.content, ulid)
    return after


def _make_way(tx: Transaction, scope: Scope, key: str, ulid: str, by: str, only_own: bool) -> None:
    standing = preference_keys.standing(tx.connection, scope, key)
    if standing is None or standing.ulid == ulid:
        return
    edits.update(tx, scope, standing.ulid, {"status": "archived"}, by=by, only_own=only_own)
