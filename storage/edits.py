"""Changing, forgetting and undoing: each makes a new version, and history keeps the old one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from . import fulltext, history, rows
from .faults import ForeignRow, Invalid, NothingToUndo, StaleVersion
from .history import Version
from .memories import STATUSES, Memory, find, get
from .scope import Scope, identify
from .transaction import Change, Transaction

EDITABLE: Final = frozenset(
    {"content", "detail", "tags", "importance", "kind", "status", "valid_from", "valid_to"}
)
# What an undo brings back; evidence only ever grows, and where a row came from never changes.
_RESTORED: Final = (*sorted(EDITABLE), "supersedes", "superseded_by")


def update(
    tx: Transaction,
    scope: Scope,
    ulid: str,
    changes: Mapping[str, object],
    *,
    by: str,
    if_version: int | None = None,
    only_own: bool = False,
) -> Memory:
    """Change some columns (EDITABLE) and return the memory at its new version.

    Changes that change nothing make no version. Raises MissingRow, StaleVersion, ForeignRow
    (`only_own`: the row must have been written under `by`) or Invalid.
    """
    memory = _allowed(get(tx.connection, scope, ulid), by, only_own, if_version)
    values = _checked(changes)
    real = {name: value for name, value in values.items() if getattr(memory, name) != value}
    if not real:
        return memory
    return rows.rewrite(tx, _ns(tx, memory), memory, real, "edit", by=by)


def forget(
    tx: Transaction,
    scope: Scope,
    ulid: str,
    *,
    by: str,
    if_version: int | None = None,
    only_own: bool = False,
) -> Memory:
    """Remove the memory and return its last state; `undo` can bring it back from history.

    Raises MissingRow, StaleVersion or ForeignRow.
    """
    memory = _allowed(get(tx.connection, scope, ulid), by, only_own, if_version)
    rows.remove(tx, _ns(tx, memory), memory, by=by)
    return memory


def undo(tx: Transaction, scope: Scope, ulid: str, *, by: str, only_own: bool = False) -> Memory:
    """Bring back the state before the last change (also of a forgotten memory) as a new version.

    Undoing again goes further back. Raises MissingRow, ForeignRow or NothingToUndo.
    """
    latest = history.latest(tx.connection, scope, ulid)
    target = _before(tx, scope, latest)
    state = replace(_memory(target), version=latest.version + 1, updated_at=tx.now)
    _allowed(state, by, only_own, None)
    present = find(tx.connection, scope, ulid)
    if present is None:
        return _bring_back(tx, state, by, target.version)
    changes = {name: getattr(state, name) for name in _RESTORED}
    return rows.rewrite(
        tx, _ns(tx, present), present, changes, "undo", by=by, restores=target.version
    )


def _bring_back(tx: Transaction, state: Memory, by: str, restores: int) -> Memory:
    """Insert a forgotten memory again, at a new row id."""
    ns = _ns(tx, state)
    memory = replace(state, rid=rows.add(tx, ns, state))
    fulltext.index_next_turn(tx.connection, ns, memory.session, memory.turn)
    history.append(tx, ns, memory, "undo", by=by, restores=restores)
    tx.record(Change("upsert", ns, memory.rid, memory.ulid, memory.version, memory.namespace, True))
    return memory


def _before(tx: Transaction, scope: Scope, latest: Version) -> Version:
    """The version an undo of `latest` goes back to, seen through earlier undos."""
    ulid = str(latest.memory["ulid"])
    standing = latest.restores or latest.version
    earlier = history.at_version(tx.connection, scope, ulid, standing - 1)
    if earlier is not None and earlier.restores:
        earlier = history.at_version(tx.connection, scope, ulid, earlier.restores)
    if earlier is None:
        raise NothingToUndo("There is nothing to undo: the memory is as it was first stored.")
    return earlier


def _memory(entry: Version) -> Memory:
    values: dict[str, Any] = {**entry.memory, "rid": 0}
    values["tags"] = tuple(values["tags"])
    return Memory(**values)


def _allowed(memory: Memory, by: str, only_own: bool, if_version: int | None) -> Memory:
    if only_own and memory.created_by != by:
        raise ForeignRow("This memory was written under another grant.")
    if if_version is not None and memory.version != if_version:
        raise StaleVersion(memory.version)
    return memory


def _checked(changes: Mapping[str, object]) -> dict[str, object]:
    """The changes as the row would hold them. Raises Invalid for what no row may hold."""
    unknown = set(changes) - EDITABLE
    if unknown:
        raise Invalid(f"These cannot be edited: {', '.join(sorted(unknown))}.")
    values = dict(changes)
    if "content" in values and not str(values["content"] or "").strip():
        raise Invalid("A memory needs some text.")
    if values.get("status", "active") not in STATUSES:
        raise Invalid(f"{values['status']!r} is not a status.")
    tags = values.get("tags")
    if isinstance(tags, list):
        values["tags"] = tuple(tags)  # pyright: ignore[reportUnknownArgumentType]  # rows check it
    return values


def _ns(tx: Transaction, memory: Memory) -> int:
    return next(iter(identify(tx.connection, Scope([memory.namespace]))))
