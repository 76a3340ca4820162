"""The history of every memory: what it was after each change, in one signed chain per namespace.

Each entry's hash covers the entry before it and the whole document, and is signed. An entry that
is changed, dropped or moved afterwards breaks the chain at that point.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw
import orjson

from .faults import MissingRow
from .ledger import Head
from .memories import Memory
from .scope import Scope, id_list, identify
from .transaction import Transaction

GENESIS: Final = bytes(32)
# Bytes of documents read for one page of versions.
PAGE_BYTES: Final = 1 << 20

_OF: Final = (
    "SELECT version, op, at, by, doc FROM versions WHERE ulid = ? "
    "AND ns IN (SELECT value FROM json_each(?))"
)
_AFTER: Final = f"{_OF} AND version > ? ORDER BY version LIMIT ?"


@dataclass(frozen=True, slots=True)
class Version:
    """One entry of a memory's history.

    `op` is store, edit, supersede, forget or undo. `memory` is the state after the change (for a
    forget: the last state before it), `restores` the version an undo went back to.
    """

    version: int
    op: str
    at: str
    by: str
    memory: Mapping[str, object]
    restores: int | None


class Past(NamedTuple):
    """Some versions, and the number behind which the next ones come (None at the end)."""

    entries: list[Version]
    after: int | None


class ChainReport(NamedTuple):
    """What `verify` found: entries checked, and the first that does not hold, with the reason."""

    length: int
    broken_at: int | None
    reason: str


def append(
    tx: Transaction, ns: int, memory: Memory, op: str, *, by: str, restores: int | None = None
) -> None:
    """Write the state of `memory` as its version `memory.version` and extend the chain."""
    doc = _document(tx, memory, op, by, restores)
    head = tx.ledger.heads.get(ns) or _head(tx.connection, ns)
    digest = chain_hash(head.hash, doc)
    tx.connection.execute(
        "INSERT INTO versions(ns, ulid, version, op, at, by, doc, prev_hash, hash, signature) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (ns, memory.ulid, memory.version, op, tx.now, by, doc, head.hash, digest, tx.sign(digest)),
    )
    tx.ledger.heads[ns] = Head(digest, head.length + 1)


def versions(
    connection: apsw.Connection, scope: Scope, ulid: str, *, after: int = 0, limit: int = 100
) -> Past:
    """The versions of the memory behind version `after`, oldest first, also of a forgotten one.

    At most `limit`, and no more than PAGE_BYTES (but one at least): a page costs the same however
    long the history is. Raises MissingRow.
    """
    bindings = (ulid, id_list(connection, scope), after, limit + 1)
    entries: list[Version] = []
    size = 0
    for row in connection.execute(_AFTER, bindings):
        if len(entries) == limit or (entries and size + len(row[4]) > PAGE_BYTES):
            return Past(entries, entries[-1].version)
        size += len(row[4])
        entries.append(_version(*row))
    if not entries and not after:
        raise MissingRow("There is no such memory.")
    return Past(entries, None)


def latest(connection: apsw.Connection, scope: Scope, ulid: str) -> Version:
    """The last version of the memory, also of a forgotten one. Raises MissingRow."""
    found = _one(connection, scope, ulid, "ORDER BY version DESC LIMIT 1", None)
    if found is None:
        raise MissingRow("There is no such memory.")
    return found


def at_version(
    connection: apsw.Connection, scope: Scope, ulid: str, version: int
) -> Version | None:
    """The version with this number, if there is one."""
    return _one(connection, scope, ulid, "AND version = ?", version)


def at_time(connection: apsw.Connection, scope: Scope, ulid: str, moment: str) -> Version | None:
    """The version that stood at the moment, an RFC 3339 time as the store writes them."""
    return _one(connection, scope, ulid, "AND at <= ? ORDER BY version DESC LIMIT 1", moment)


def namespace_of(connection: apsw.Connection, scope: Scope, ulid: str) -> str:
    """Where the memory lies, or lay before it was forgotten. Raises MissingRow."""
    ns = connection.execute(
        "SELECT ns FROM versions WHERE ulid = ? AND ns IN (SELECT value FROM json_each(?)) LIMIT 1",
        (ulid, id_list(connection, scope)),
    ).get
    if ns is None:
        raise MissingRow("There is no such memory.")
    return identify(connection, scope)[int(ns)]


def _one(
    connection: apsw.Connection, scope: Scope, ulid: str, which: str, value: str | int | None
) -> Version | None:
    bindings = (ulid, id_list(connection, scope), *(() if value is None else (value,)))
    for row in connection.execute(f"{_OF} {which}", bindings):
        return _version(*row)
    return None


def verify(
    connection: apsw.Connection, ns: int, is_signed: Callable[[bytes, bytes], bool]
) -> ChainReport:
    """Check a namespace's chain from its start; `is_signed(hash, signature)` checks one entry.

    Each document names its namespace: a chain given to another one does not hold.
    """
    previous, length = GENESIS, 0
    name = connection.execute("SELECT name FROM namespaces WHERE id = ?", (ns,)).get
    rows = connection.execute(
        "SELECT id, ulid, version, op, at, by, doc, prev_hash, hash, signature "
        "FROM versions WHERE ns = ? ORDER BY id",
        (ns,),
    )
    for entry, ulid, version, op, at, by, doc, before, digest, signature in rows:
        reason = ""
        if before != previous:
            reason = "an entry before it is missing or was moved"
        elif chain_hash(previous, doc) != digest:
            reason = "its document was changed"
        elif not is_signed(digest, signature):
            reason = "its signature is not ours"
        elif not _matches(doc, ulid, version, op, at, by):
            reason = "its columns were changed"
        elif orjson.loads(doc)["memory"]["namespace"] != name:
            reason = "it belongs to another namespace"
        if reason:
            return ChainReport(length, int(entry), reason)
        previous, length = digest, length + 1
    if _head(connection, ns) != Head(previous, length):
        return ChainReport(length, None, "entries at its end are missing")
    return ChainReport(length, None, "")


def chain_hash(previous: bytes, doc: bytes) -> bytes:
    """SHA-256 over the previous entry's hash and this entry's canonical JSON."""
    return hashlib.sha256(previous + doc).digest()


def state(memory: Memory) -> dict[str, object]:
    """What history keeps of a memory: all of it but the row id, which is not the memory's own."""
    return {name: getattr(memory, name) for name in _STATE}


_STATE: Final = tuple(name for name in Memory.__slots__ if name != "rid")


def _document(tx: Transaction, memory: Memory, op: str, by: str, restores: int | None) -> bytes:
    doc: dict[str, object] = {
        "ulid": memory.ulid,
        "version": memory.version,
        "op": op,
        "at": tx.now,
        "by": by,
        "memory": state(memory),
    }
    if restores is not None:
        doc["restores"] = restores
    return orjson.dumps(doc, option=orjson.OPT_SORT_KEYS)


def _head(connection: apsw.Connection, ns: int) -> Head:
    row = connection.execute("SELECT hash, length FROM chain_heads WHERE ns = ?", (ns,)).fetchone()
    return Head(GENESIS, 0) if row is None else Head._make(row)


def _version(version: int, op: str, at: str, by: str, doc: bytes) -> Version:
    parsed: dict[str, Any] = orjson.loads(doc)
    return Version(version, op, at, by, parsed["memory"], parsed.get("restores"))


def _matches(doc: bytes, ulid: str, version: int, op: str, at: str, by: str) -> bool:
    parsed: dict[str, object] = orjson.loads(doc)
    told = tuple(parsed.get(name) for name in ("ulid", "version", "op", "at", "by"))
    return told == (ulid, version, op, at, by)
