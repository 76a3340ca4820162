"""Filling shelves from the store: at once for small ones, in a thread of its own for large ones."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable

import apsw

from ...storage import shelf_rows, vectors
from ...storage.engine import Store
from ...storage.faults import StorageFault
from ...storage.reader import Reader
from .shelf import Shelf
from .slot import Marks, Slot

log = logging.getLogger("recalld.recall")
_CHUNK = 256
# A chunk takes about 10 ms; a store that needs longer than this has other trouble.
_CHUNK_SECONDS = 30.0


def build(
    connection: apsw.Connection, ns: int, space: str, dimension: int, check: Callable[[], None]
) -> Shelf:
    """A shelf with every memory of the namespace, in the state the open transaction sees."""
    shelf = Shelf(dimension, shelf_rows.count(connection, ns))
    last = 0
    while rows := shelf_rows.after(connection, ns, last, _CHUNK):
        check()
        shelf.replace((), rows)
        last = rows[-1].rid
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
    for first in range(0, len(changed), _CHUNK):
        check()
        rids = changed[first : first + _CHUNK]
        shelf.replace(rids, shelf_rows.chosen(connection, ns, rids))
    _read_vectors(connection, shelf, marks.rows | marks.vectors, space)


def load_vectors(connection: apsw.Connection, shelf: Shelf, ns: int, space: str) -> None:
    """Give the rows of a shelf the vectors the store has for them; none without the extension."""
    found = vectors.find_space(connection, space) if space else None
    if found is not None:
        shelf.set_vectors(*vectors.load(connection, found, ns))


def _read_vectors(
    connection: apsw.Connection, shelf: Shelf, rids: Iterable[int], space: str
) -> None:
    found = vectors.find_space(connection, space) if space else None
    if found is None:
        return
    stored = vectors.get(connection, found, list(rids))
    shelf.set_vectors(list(stored), b"".join(stored.values()))


class Builder:
    """One thread that builds large shelves, in chunks, so that no read transaction lasts long.

    A row that changes between two chunks is marked, and read again by the first recall afterwards.
    """

    def __init__(self, store: Store, space: str, dimension: int) -> None:
        self._store = store
        self._space = space
        self._dimension = dimension
        self._queue: queue.SimpleQueue[tuple[Slot, int] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopping = False

    def ask(self, slot: Slot, ns: int) -> None:
        """Build a shelf for the slot, unless one is being built already."""
        if self._stopping or not slot.begin_build():
            return
        self._queue.put((slot, ns))
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="shelves", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread; a build under way is given up."""
        self._stopping = True
        self._queue.put(None)
        with self._starting:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        reader = self._store.reader()
        while (job := self._queue.get()) is not None:
            slot, ns = job
            shelf = None
            try:
                shelf = self._build(reader, ns)
            except (StorageFault, apsw.Error):
                # Recalls go on without the shelf; the next one asks again.
                log.exception("a namespace could not be read into memory")
            finally:
                slot.finish_build(shelf)

    def _build(self, reader: Reader, ns: int) -> Shelf | None:
        with reader.until(time.monotonic() + _CHUNK_SECONDS) as connection:
            shelf = Shelf(self._dimension, shelf_rows.count(connection, ns))
        last = 0
        while not self._stopping:
            with reader.until(time.monotonic() + _CHUNK_SECONDS) as connection:
                rows = shelf_rows.after(connection, ns, last, _CHUNK)
            if not rows:
                break
            shelf.replace((), rows)
            last = rows[-1].rid
        with reader.until(time.monotonic() + _CHUNK_SECONDS) as connection:
            load_vectors(connection, shelf, ns, self._space)
        return None if self._stopping else shelf
