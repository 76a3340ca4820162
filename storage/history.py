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
from .memories import Memory
from .scope import Scope, identify
from .transaction import Transaction

GENESIS: Final = bytes(32)


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
    previous, length = _head(tx.connection, ns)
    digest = chain_hash(previous, doc)
    tx.connection.execute(
        "INSERT INTO versions(ns, ulid, version, op, at, by, doc, prev_hash, hash, signature) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (ns, memory.ulid, memory.version, op, tx.now, by, doc, previous, digest, tx.sign(digest)),
    )
    tx.connection.execute(
        "UPDATE chain_heads SET hash = ?, length = ? WHERE ns = ?"
        if length
        else "INSERT INTO chain_heads(hash, length, ns) VALUES (?, ?, ?)",
        (digest, length + 1, ns),
    )


def versions(connection: apsw.Connection, scope: Scope, ulid: str) -> list[Version]:
    """All versions of the memory, oldest first, also of a forgotten one. May raise MissingRow."""
    namespaces = list(identify(connection, scope))
    rows = connection.execute(
        "SELECT version, op, at, by, doc FROM versions WHERE ulid = ? "
        "AND ns IN (SELECT value FROM json_each(?)) ORDER BY version",
        (ulid, orjson.dumps(namespaces).decode()),
    ).fetchall()
    if not rows:
        raise MissingRow("There is no such memory.")
    return [_version(*row) for row in rows]  # type: ignore[arg-type]  # typed by the schema


def verify(
    connection: apsw.Connection, ns: int, is_signed: Callable[[bytes, bytes], bool]
) -> ChainReport:
    """Check a namespace's chain from its start; `is_signed(hash, signature)` checks one entry."""
    previous, length = GENESIS, 0
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
        if reason:
            return ChainReport(length, int(entry), reason)
        previous, length = digest, length + 1
    if _head(connection, ns) != (previous, length):
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


def _head(connection: apsw.Connection, ns: int) -> tuple[bytes, int]:
    row = connection.execute("SELECT hash, length FROM chain_heads WHERE ns = ?", (ns,)).fetchone()
    return (GENESIS, 0) if row is None else (row[0], row[1])


def _version(version: int, op: str, at: str, by: str, doc: bytes) -> Version:
    parsed: dict[str, Any] = orjson.loads(doc)
    return Version(version, op, at, by, parsed["memory"], parsed.get("restores"))


def _matches(doc: bytes, ulid: str, version: int, op: str, at: str, by: str) -> bool:
    parsed: dict[str, object] = orjson.loads(doc)
    told = tuple(parsed.get(name) for name in ("ulid", "version", "op", "at", "by"))
    return told == (ulid, version, op, at, by)
