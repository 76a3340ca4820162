"""vec0's own tables: which chunks hold the vectors of a namespace, and what lies in them.

vec0 keeps no index of the first. Asking it for vectors row by row takes 50 times as long as reading
the chunks, and its search for neighbours several times as long as reading all of them.
"""

from __future__ import annotations

import json
import threading
from array import array
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

import apsw

from .vectors import CHUNK_ROWS, Space

BLOCK_ROWS: Final = 4096

Place: TypeAlias = tuple[int, int]
"""Where a vector lies: the id of its chunk, and its place in there."""


class _Known(NamedTuple):
    """The chunks of a namespace with ids up to `newest`."""

    newest: int
    ids: list[int]


class Chunks:
    """Chunk ids by namespace, remembered, so that only chunks added since are looked through.

    Looking through all takes 5 ms at a million rows. A chunk never changes its namespace, and an
    id is never used twice; one that is gone is simply not found. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Known] = {}
        self._lock = threading.Lock()

    def of(self, connection: apsw.Connection, space: Space, ns: int) -> list[int]:
        """The ids of the chunks that hold vectors of the namespace, or did once."""
        newest = connection.execute(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", (f"{space.table}_chunks",)
        ).get
        known = self._known.get((space.name, ns), _Known(0, []))
        # A reader whose transaction began earlier sees fewer: what is remembered serves it too.
        if newest is None or int(newest) <= known.newest:
            return known.ids
        ids = [*known.ids, *chunks_of(connection, space, ns, known.newest)]
        with self._lock:
            self._known[space.name, ns] = _Known(int(newest), ids)
        return ids


def chunks_of(connection: apsw.Connection, space: Space, ns: int, beyond: int = 0) -> list[int]:
    """The ids of the namespace's chunks larger than `beyond`; looks through all of those, as vec0
    keeps no index of them.
    """
    rows = connection.execute(
        f"SELECT chunk_id FROM {space.table}_chunks "  # noqa: S608  # our own name
        "WHERE chunk_id > ? AND partition00 = ?",
        (beyond, ns),
    )
    return [int(chunk) for (chunk,) in rows]


def load(connection: apsw.Connection, space: Space, ns: int) -> tuple[list[int], bytes]:
    """All vectors of a namespace: row ids, and their vectors joined in the same order."""
    rids: list[int] = []
    parts: list[bytes] = []
    for some, vectors in blocks(connection, space, chunks_of(connection, space, ns)):
        rids += some
        parts.append(vectors)
    return rids, b"".join(parts)


def blocks(
    connection: apsw.Connection, space: Space, chunks: Sequence[int]
) -> Iterator[tuple[list[int], bytes]]:
    """The vectors in these chunks like `load`, in pieces of up to `BLOCK_ROWS` rows."""
    rids = array("q")
    parts: list[bytes] = []
    # The right-hand side of v.rowid must be without a type: that column has none, and SQLite would
    # not use its index.
    rows = connection.execute(
        "SELECT c.validity, c.rowids, v.vectors FROM json_each(?) j "  # noqa: S608  # our own name
        f"CROSS JOIN {space.table}_chunks c ON c.chunk_id = j.value "
        f"CROSS JOIN {space.table}_vector_chunks00 v ON v.rowid = j.value",
        (json.dumps(list(chunks)),),
    )
    for validity, ids, vectors in rows:
        _unpack(validity, ids, vectors, space.dim, rids, parts)
        if len(rids) + CHUNK_ROWS > BLOCK_ROWS:
            yield rids.tolist(), b"".join(parts)
            rids, parts = array("q"), []
    if rids:
        yield rids.tolist(), b"".join(parts)


def whole_chunks(
    connection: apsw.Connection, space: Space, chunks: Sequence[int]
) -> dict[int, bytes]:
    """What lies in these chunks, by chunk: `CHUNK_ROWS` places each, empty ones included."""
    rows = connection.execute(
        f"SELECT rowid, vectors FROM {space.table}_vector_chunks00 "  # noqa: S608  # our own name
        "WHERE rowid IN (SELECT value FROM json_each(?))",
        (json.dumps(list(chunks)),),
    )
    return {int(chunk): joined for chunk, joined in rows}


def living(connection: apsw.Connection, space: Space, chunks: Sequence[int]) -> list[int]:
    """Those of the chunks that still exist, in order: vec0 deletes one that becomes empty."""
    rows = connection.execute(
        f"SELECT chunk_id FROM {space.table}_chunks "  # noqa: S608  # our own name
        "WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY chunk_id",
        (json.dumps(list(chunks)),),
    )
    return [int(chunk) for (chunk,) in rows]


def places(connection: apsw.Connection, space: Space, rids: Sequence[int]) -> list[Place]:
    """Where the vectors of those rows lie that have one."""
    rows = connection.execute(
        f"SELECT chunk_id, chunk_offset FROM {space.table}_rowids "  # noqa: S608  # our own name
        "WHERE rowid IN (SELECT value FROM json_each(?))",
        (json.dumps(list(rids)),),
    )
    return [(int(chunk), int(slot)) for chunk, slot in rows]


def at(
    connection: apsw.Connection, space: Space, wanted: Sequence[Place]
) -> tuple[list[int], bytes]:
    """The vectors at these places like `load`; 10 microseconds each. Empty places are left out."""
    rows = connection.execute(
        f"SELECT chunk_id, validity, rowids FROM {space.table}_chunks "  # noqa: S608  # our own name
        "WHERE chunk_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list({chunk for chunk, _ in wanted})),),
    )
    held = {int(chunk): (int.from_bytes(used, "little"), ids) for chunk, used, ids in rows}
    rids: list[int] = []
    parts: list[bytes] = []
    used_places = [
        one for one in sorted(wanted) if one[0] in held and held[one[0]][0] >> one[1] & 1
    ]
    if not used_places:
        return rids, b""
    # Half of what a SELECT of the same bytes takes, which reads each chunk to its end.
    table = f"{space.table}_vector_chunks00"
    with connection.blob_open("main", table, "vectors", used_places[0][0], False) as blob:
        for chunk, slot in used_places:
            blob.reopen(chunk)
            blob.seek(slot * space.dim)
            parts.append(blob.read(space.dim))
            ids = held[chunk][1]
            rids.append(int.from_bytes(ids[8 * slot : 8 * slot + 8], "little", signed=True))
    return rids, b"".join(parts)


def _unpack(
    validity: bytes, ids: bytes, vectors: bytes, dim: int, rids: array[int], parts: list[bytes]
) -> None:
    """Append the used slots of one chunk; they are the first so many unless rows were deleted."""
    slots = array("q", ids)
    used = int.from_bytes(validity, "little")
    filled = used.bit_length()
    if used == (1 << filled) - 1:
        rids.extend(slots[:filled])
        parts.append(vectors[: filled * dim])
        return
    for slot in range(filled):
        if used >> slot & 1:
            rids.append(slots[slot])
            parts.append(vectors[slot * dim : (slot + 1) * dim])
