"""Filling large shelves, and keeping them on disk, in a thread of its own."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator, Sequence

import apsw

from ...storage import lineage, shelf_rows, unread, vectors
from ...storage.engine import Store
from ...storage.faults import StorageFault
from ...storage.reader import Reader
from ...storage.shelf_rows import ShelfRow
from .kept import Kept
from .shelf import Shelf
from .slot import Slot
from .stored import load_vectors

log = logging.getLogger("recalld.recall")
# 64 rows take 2 ms, most of them with the interpreter in hand.
_CHUNK = 64
_REST = 1.0
"""Pause after a chunk, in times of what it took: recalls and health come first."""
# A chunk takes milliseconds; a store that needs longer than this has other trouble.
_CHUNK_SECONDS = 30.0


class Builder:
    """One thread that builds large shelves, in chunks, so that no read transaction lasts long.

    A row that changes between two chunks is marked, and read again by the first recall afterwards.
    """

    def __init__(self, store: Store, space: str, dimension: int, kept: Kept) -> None:
        self._store = store
        self._space = space
        self._dimension = dimension
        self._kept = kept
        self._queue: queue.SimpleQueue[tuple[Slot, int] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._stopping = threading.Event()

    def ask(self, slot: Slot, ns: int) -> None:
        """Build a shelf for the slot, unless one is being built already."""
        if self._stopping.is_set() or not slot.begin_build():
            return
        self._queue.put((slot, ns))
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="shelves", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread; a build under way is given up."""
        self._stopping.set()
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
            # Taken first: rows read later may be newer than the moment, none is older.
            moment = lineage.now(connection, ns)
            rids = shelf_rows.ids(connection, ns)
        shelf = Shelf(self._dimension, len(rids))
        shelf.fill(self._chunks(reader, ns, rids))
        with reader.until(time.monotonic() + _CHUNK_SECONDS) as connection:
            load_vectors(connection, shelf, ns, self._space)
            space = vectors.find_space(connection, self._space) if self._space else None
            being_read = space is not None and unread.holds(connection, space, ns)
        if self._stopping.is_set():
            return None
        self._kept.keep(ns, shelf, moment, being_read=being_read)
        return shelf

    def _chunks(self, reader: Reader, ns: int, rids: Sequence[int]) -> Iterator[Sequence[ShelfRow]]:
        for first in range(0, len(rids), _CHUNK):
            if self._stopping.is_set():
                return
            begun = time.monotonic()
            with reader.until(begun + _CHUNK_SECONDS) as connection:
                rows = shelf_rows.chosen(connection, ns, rids[first : first + _CHUNK])
            yield rows
            self._stopping.wait(_REST * (time.monotonic() - begun))
