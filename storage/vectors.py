"""Vectors of the memories, per embedding space: one vec0 table each, written with the rows.

A space is a model with its dimension and prefix. Vectors are int8, compared by cosine, and
partitioned by namespace. All of it is optional: without the extension nothing can be written or
searched here, what is stored can still be loaded, and vectors that went stale go once it is back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import apsw

from . import namespaces, pieces
from .faults import NoVectors
from .transaction import Change, Transaction

# Rows per chunk of a namespace. With the extension's 1,024, a thousand small namespaces of 20
# rows each take 1.6 GB; with 128 it is a tenth, at the same speed.
CHUNK_ROWS: Final = 128
MAX_RID: Final = (1 << 63) - 1


class Space(NamedTuple):
    """An embedding space; vectors of different spaces cannot be compared."""

    id: int
    name: str
    model: str
    dim: int
    prefix: str

    @property
    def table(self) -> str:
        """Name of its vec0 table."""
        return f"vec_{self.id}"


class Pending(NamedTuple):
    """A row that has no vector yet, with the text to embed."""

    rid: int
    ulid: str
    version: int
    ns: int
    content: str


class Item(NamedTuple):
    """A vector (`dim` bytes, int8) made from the text of one version of a row."""

    rid: int
    ulid: str
    version: int
    vector: bytes


def ensure_space(tx: Transaction, name: str, model: str, dim: int, prefix: str = "") -> Space:
    """The space of this name, made on first use.

    Raises ValueError if it is another model's, NoVectors if it cannot be made.
    """
    known = find_space(tx.connection, name)
    if known is not None:
        if (known.model, known.dim, known.prefix) != (model, dim, prefix):
            raise ValueError(
                f"the space {name!r} belongs to {known.model} with {known.dim} numbers"
            )
        return known
    tx.connection.execute(
        "INSERT INTO spaces(name, model, dim, prefix, created_at, active) "
        "VALUES (?, ?, ?, ?, ?, 0)",
        (name, model, dim, prefix, tx.now),
    )
    space = Space(tx.connection.last_insert_rowid(), name, model, dim, prefix)
    try:
        tx.connection.execute(
            f"CREATE VIRTUAL TABLE {space.table} USING vec0(rid INTEGER PRIMARY KEY, "
            f"ns INTEGER PARTITION KEY, embedding int8[{dim}] distance_metric=cosine, "
            f"chunk_size={CHUNK_ROWS})"
        )
    except apsw.SQLError as error:
        raise _without_module(error) from error
    return space


def spaces(connection: apsw.Connection) -> list[Space]:
    """Every space in the store."""
    rows = connection.execute("SELECT id, name, model, dim, prefix FROM spaces ORDER BY id")
    return [Space(*row) for row in rows]


def find_space(connection: apsw.Connection, name: str) -> Space | None:
    """The space of this name, if there is one."""
    return next((space for space in spaces(connection) if space.name == name), None)


def is_complete(connection: apsw.Connection, space: Space) -> bool:
    """Whether every row there was once had its vector in this space; rows stored later may lack
    theirs for a moment.
    """
    return bool(connection.execute("SELECT active FROM spaces WHERE id = ?", (space.id,)).get)


def set_complete(tx: Transaction, space: Space) -> None:
    """Note that every row has its vector in this space."""
    tx.connection.execute("UPDATE spaces SET active = 1 WHERE id = ?", (space.id,))


def drop_space(tx: Transaction, space: Space) -> None:
    """Delete a space with all its vectors; most of its pieces should be gone by then (see
    pieces.drop). Raises NoVectors without the extension.
    """
    try:
        tx.connection.execute(f"DROP TABLE {space.table}")
    except apsw.SQLError as error:
        raise _without_module(error) from error
    tx.connection.execute("DELETE FROM pieces WHERE space = ?", (space.id,))
    tx.connection.execute("DELETE FROM unread WHERE space = ?", (space.id,))
    tx.connection.execute("DELETE FROM spaces WHERE id = ?", (space.id,))


def put(tx: Transaction, space: Space, items: Iterable[Item]) -> int:
    """Write vectors in place of older ones; returns how many.

    A vector whose row has a newer text by now, or is gone, is skipped: the row stays pending.
    """
    given = list(items)
    rows, present = _standing(tx.connection, space, [item.rid for item in given])
    written = 0
    for item in given:
        row = rows.get((item.rid, item.ulid, item.version))
        if row is None:
            continue
        if item.rid in present:
            _overwrite(tx.connection, space, item)
        else:
            tx.connection.execute(
                f"INSERT INTO {space.table}(rid, ns, embedding) VALUES (?, ?, vec_int8(?))",  # noqa: S608  # our own name
                (item.rid, row[0], item.vector),
            )
        present.add(item.rid)
        tx.record(Change("embed", row[0], item.rid, item.ulid, item.version, row[1]))
        written += 1
    return written


def _standing(
    connection: apsw.Connection, space: Space, rids: Sequence[int]
) -> tuple[dict[tuple[int, str, int], tuple[int, str]], set[int]]:
    """The rows as they are now, by row id, ulid and version: namespace id and name; and which of
    them have a vector. Two questions for all: asked row by row they cost as much as the writing.
    """
    wanted = (json.dumps(rids),)
    rows = connection.execute(
        "SELECT m.rid, m.ulid, m.version, m.ns, n.name FROM memories m "
        "JOIN namespaces n ON n.id = m.ns WHERE m.rid IN (SELECT value FROM json_each(?))",
        wanted,
    )
    found = {
        (int(rid), str(ulid), int(version)): (int(ns), str(name))
        for rid, ulid, version, ns, name in rows
    }
    have = connection.execute(
        f"SELECT rowid FROM {space.table}_rowids WHERE rowid IN (SELECT value FROM json_each(?))",  # noqa: S608  # our own name
        wanted,
    )
    return found, {int(rid) for (rid,) in have}


def _overwrite(connection: apsw.Connection, space: Space, item: Item) -> None:
    """Put a vector in the place of the row's old one, in 3 microseconds.

    vec0 knows no upsert, and its UPDATE takes no int8. Deleting and inserting takes 50 times as
    long and leaves holes: vec0 fills up the newest chunk of a namespace only. Raises ValueError for
    a vector of another dimension.
    """
    if len(item.vector) != space.dim:
        raise ValueError(f"the vector's dimension is {len(item.vector)}, not {space.dim}")
    chunk, slot = connection.execute(
        f"SELECT chunk_id, chunk_offset FROM {space.table}_rowids WHERE rowid = ?",  # noqa: S608  # our own name
        (item.rid,),
    ).get
    table = f"{space.table}_vector_chunks00"
    with connection.blob_open("main", table, "vectors", chunk, True) as blob:
        blob.seek(slot * space.dim)
        blob.write(item.vector)


def remove(connection: apsw.Connection, rid: int) -> None:
    """Take the row's vectors away in every space, and with them its pieces."""
    pieces.remove(connection, rid)
    for space in spaces(connection):
        try:
            connection.execute(f"DELETE FROM {space.table} WHERE rid = ?", (rid,))  # noqa: S608  # our own name
        except apsw.SQLError as error:
            _without_module(error)
            # This time the extension did not load: remember what it would have deleted.
            connection.execute("INSERT OR IGNORE INTO stale_vectors(rid) VALUES (?)", (rid,))


def settle(connection: apsw.Connection) -> None:
    """Delete the vectors of rows that changed while the extension could not be loaded."""
    stale = [int(rid) for (rid,) in connection.execute("SELECT rid FROM stale_vectors")]
    if not stale:
        return
    with connection:
        for rid in stale:
            remove(connection, rid)
        connection.execute("DELETE FROM stale_vectors")


def get(connection: apsw.Connection, space: Space, rids: Sequence[int]) -> dict[int, bytes]:
    """The vectors of those rows that have one, by row id."""
    found: dict[int, bytes] = {}
    for rid in rids:
        vector = connection.execute(
            f"SELECT embedding FROM {space.table} WHERE rid = ?",  # noqa: S608  # our own name
            (rid,),
        ).get
        if vector is not None:
            found[rid] = vector
    return found


def pending(
    connection: apsw.Connection, space: Space, limit: int, below: int = MAX_RID
) -> list[Pending]:
    """Rows without a vector in this space, newest first; only those with a row id `below`."""
    if pending_count(connection, space) == 0:
        return []
    rows = connection.execute(
        "SELECT rid, ulid, version, ns, content FROM memories m "  # noqa: S608  # our own name
        "WHERE rid < ? AND "
        f"NOT EXISTS (SELECT 1 FROM {space.table}_rowids v WHERE v.rowid = m.rid) "
        "ORDER BY rid DESC LIMIT ?",
        (below, limit),
    )
    return [Pending(*row) for row in rows]


def lacking(connection: apsw.Connection, space: Space, rids: Sequence[int]) -> list[Pending]:
    """Those of the rows that exist and have no vector in this space, newest first."""
    rows = connection.execute(
        "SELECT rid, ulid, version, ns, content FROM memories m "  # noqa: S608  # our own name
        "WHERE rid IN (SELECT value FROM json_each(?)) AND "
        f"NOT EXISTS (SELECT 1 FROM {space.table}_rowids v WHERE v.rowid = m.rid) "
        "ORDER BY rid DESC",
        (json.dumps(rids),),
    )
    return [Pending(*row) for row in rows]


def pending_count(connection: apsw.Connection, space: Space) -> int:
    """How many rows have no vector in this space. Cheap: vectors are never without their row."""
    return max(0, sum(namespaces.sizes(connection).values()) - stored_count(connection, space))


def stored_count(connection: apsw.Connection, space: Space) -> int:
    """How many rows have their vector in this space."""
    return int(connection.execute(f"SELECT count(*) FROM {space.table}_rowids").get)  # noqa: S608  # our own name


def _without_module(error: apsw.SQLError) -> NoVectors:
    """The fault to raise if the extension is what was missing; any other error goes on."""
    if "no such module" not in str(error):
        raise error
    return NoVectors("The vector extension could not be loaded.")
