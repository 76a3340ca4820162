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
_LOOK_BACK: Final = 64


class Signs(NamedTuple):
    """What is known of a namespace, and the chunks whose signs are not or may be wrong."""

    known: Signatures
    unsure: list[int]


class _Job(NamedTuple):
    space: Space
    ns: int
    chunks: list[int]


class Signposts:
    """Signatures by namespace, at most `limit` bytes; `open_reader` makes the builder's own.

    vec0 adds vectors to a namespace's newest chunk only, in places that became free there too. But
    it deletes a chunk that becomes empty, and then the one before is the newest. So the newest of
    the signed chunks that still exist is never trusted, and gets its signs anew when others do.
    """

    def __init__(self, open_reader: Callable[[], Reader], limit: int) -> None:
        self._open = open_reader
        self._limit = limit
        self._known: dict[int, Signatures] = {}
        self._too_large: set[int] = set()
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._building: set[int] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def of(
        self, connection: apsw.Connection, space: Space, ns: int, chunks: Sequence[int]
    ) -> Signs | None:
        """The signs of a namespace with these chunks; None if everything must be read.

        Asks for what is missing to be made.
        """
        if len(chunks) < LARGE or ns in self._too_large:
            return None
        known = self._used(ns) or Signatures(space.dim)
        last = stored.living(connection, space, known.newest(_LOOK_BACK))[-1:]
        if len(known) and not last:
            known = self._forgotten(ns, space)  # most of the namespace is gone
        unsure = [*last, *known.missing(chunks)]
        if len(unsure) > MOST_UNSIGNED:
            self._ask(_Job(space, ns, unsure))
        return None if len(unsure) > 2 * MOST_UNSIGNED else Signs(known, unsure)

    def signed(self) -> int:
        """Chunks whose signs are known, of all namespaces."""
        with self._lock:
            return sum(map(len, self._known.values()))

    def close(self) -> None:
        """End the thread; what is being made is given up."""
        self._stopping.set()
        self._queue.put(None)
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _used(self, ns: int) -> Signatures | None:
        """What is known of the namespace, which is the last to go from now on."""
        with self._lock:
            known = self._known.pop(ns, None)
            if known is not None:
                self._known[ns] = known
        return known

    def _forgotten(self, ns: int, space: Space) -> Signatures:
        with self._lock:
            self._known.pop(ns, None)
        return Signatures(space.dim)

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
            except Exception:
                # Recalls read everything meanwhile; the next one asks again.
                if not self._stopping.is_set():
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
            limit = time.monotonic() + _SECONDS
            with reader.until(limit, self._stopping.is_set) as connection:
                found = stored.whole_chunks(connection, job.space, some)
            # A chunk that is gone counts as one without vectors, or it would be missing for ever.
            empty = bytes(CHUNK_ROWS * job.space.dim)
            joined = np.frombuffer(b"".join(found.get(one, empty) for one in some), np.int8)
            known = known.with_more(some, joined.reshape(-1, job.space.dim))
        self._install(job.ns, known)

    def _install(self, ns: int, made: Signatures) -> None:
        """Take them in; those not used for longest go while all take more than allowed."""
        with self._lock:
            self._known.pop(ns, None)
            if made.bytes_used() > self._limit:
                self._too_large.add(ns)
                log.warning("a namespace is too large for its signs to be held in memory")
                return
            room = self._limit - made.bytes_used()
            while sum(one.bytes_used() for one in self._known.values()) > room:
                self._known.pop(next(iter(self._known)))
            self._known[ns] = made
