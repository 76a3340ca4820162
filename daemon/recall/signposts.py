"""The signatures of very large namespaces: made in the background, added to as they grow."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import apsw
import numpy as np

from ...storage import chunks as stored
from ...storage.faults import StorageFault
from ...storage.reader import Reader
from ...storage.vectors import CHUNK_ROWS, Space
from .signatures import Signatures

log = logging.getLogger("recalld.recall")

LARGE: Final = 1100
"""Chunks from which on a namespace is too large for a shelf (140,000 rows)."""
MOST_UNSIGNED: Final = 64
"""Chunks that are read from end to end beside the promising places: 8,000 rows, 3 ms."""
_AT_ONCE: Final = 256
_SECONDS: Final = 30.0


class _Job(NamedTuple):
    space: Space
    ns: int
    chunks: list[int]


class Signposts:
    """Signatures by namespace, at most `limit` bytes; `open_reader` makes the builder's own."""

    def __init__(self, open_reader: Callable[[], Reader], limit: int) -> None:
        self._open = open_reader
        self._limit = limit
        self._known: dict[int, Signatures] = {}
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._building: set[int] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def of(self, space: Space, ns: int, chunks: Sequence[int]) -> Signatures | None:
        """The signatures of a namespace with these chunks; None if everything must be read.

        They may lack some of the newest chunks, never many. Asks for what is missing to be made.
        """
        if len(chunks) < LARGE:
            return None
        known = self._known.get(ns, Signatures(space.dim))
        # Vectors are only ever added to a namespace's newest chunk: the others only lose some.
        missing = known.missing(sorted(chunks)[:-1])
        if len(missing) < MOST_UNSIGNED:
            return known
        self._ask(_Job(space, ns, missing))
        return None if len(missing) > 2 * MOST_UNSIGNED else known

    def signed(self) -> int:
        """Chunks whose signs are known, of all namespaces."""
        return sum(map(len, self._known.values()))

    def close(self) -> None:
        """End the thread; what is being made is given up."""
        self._stopping.set()
        self._queue.put(None)
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _ask(self, job: _Job) -> None:
        with self._lock:
            if job.ns in self._building or self._stopping.is_set():
                return
            self._building.add(job.ns)
            self._queue.put(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="signposts", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        reader: Reader | None = None
        while (job := self._queue.get()) is not None:
            try:
                reader = reader or self._open()
                self._build(reader, job)
            except (StorageFault, apsw.Error, OSError):
                # Recalls read everything meanwhile; the next one asks again.
                log.exception("the signs of a namespace could not be read")
            finally:
                with self._lock:
                    self._building.discard(job.ns)

    def _build(self, reader: Reader, job: _Job) -> None:
        known = self._known.get(job.ns, Signatures(job.space.dim))
        for first in range(0, len(job.chunks), _AT_ONCE):
            if self._stopping.is_set():
                return
            some = job.chunks[first : first + _AT_ONCE]
            with reader.until(time.monotonic() + _SECONDS) as connection:
                found = stored.whole_chunks(connection, job.space, some)
            # A chunk that is gone counts as one without vectors, or it would be missing for ever.
            empty = bytes(CHUNK_ROWS * job.space.dim)
            joined = np.frombuffer(b"".join(found.get(one, empty) for one in some), np.int8)
            known = known.with_more(some, joined.reshape(-1, job.space.dim))
        self._install(job.ns, known)

    def _install(self, ns: int, made: Signatures) -> None:
        """Take them in; the oldest others go while all take more than allowed."""
        self._known.pop(ns, None)
        room = self._limit - made.bytes_used()
        while self._known and sum(one.bytes_used() for one in self._known.values()) > room:
            self._known.pop(next(iter(self._known)))
        self._known[ns] = made
