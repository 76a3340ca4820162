"""Reading what the store has of a namespace into a shelf."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import apsw

from ...storage import chunks, shelf_rows, vectors
from ...storage.shelf_rows import ShelfRow
from .shelf import Shelf
from .slot import Marks

MANY = 1000
"""So many vectors take as long one by one as all of a namespace of 20,000."""
CHUNK = 256
"""Rows read at once: about 8 ms, the longest a recall stays deaf to its deadline."""


def build(
    connection: apsw.Connection, ns: int, space: str, dimension: int, check: Callable[[], None]
) -> Shelf:
    """A shelf with every memory of the namespace, in the state the open transaction sees."""
    shelf = Shelf(dimension, shelf_rows.count(connection, ns))
    shelf.fill(_in_chunks(connection, ns, check))
    load_vectors(connection, shelf, ns, space)
    return shelf


def refresh(
    connection: apsw.Connection,
    shelf: Shelf,
    ns: int,
    marks: Marks,
    space: str,
    check: Callable[[], None],
) -> None:
    """Read what is marked again."""
    changed = sorted(marks.rows)
    for first in range(0, len(changed), CHUNK):
        check()
        rids = changed[first : first + CHUNK]
        shelf.replace(rids, shelf_rows.chosen(connection, ns, rids))
    wanted = marks.rows | marks.vectors
    if len(wanted) > MANY:
        load_vectors(connection, shelf, ns, space)
    else:
        _read_vectors(connection, shelf, wanted, space)


def load_vectors(connection: apsw.Connection, shelf: Shelf, ns: int, space: str) -> None:
    """Give the rows of a shelf the vectors the store has for them; none without the extension."""
    found = vectors.find_space(connection, space) if space else None
    if found is not None:
        shelf.set_vectors(*chunks.load(connection, found, ns))


def _in_chunks(
    connection: apsw.Connection, ns: int, check: Callable[[], None]
) -> Iterator[Sequence[ShelfRow]]:
    rids = shelf_rows.ids(connection, ns)
    for first in range(0, len(rids), CHUNK):
        check()
        yield shelf_rows.chosen(connection, ns, rids[first : first + CHUNK])


def _read_vectors(
    connection: apsw.Connection, shelf: Shelf, rids: Iterable[int], space: str
) -> None:
    wanted = list(rids)
    found = vectors.find_space(connection, space) if space and wanted else None
    if found is None:
        return
    stored = vectors.get(connection, found, wanted)
    shelf.set_vectors(list(stored), b"".join(stored.values()))
