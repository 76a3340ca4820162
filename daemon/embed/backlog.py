"""The thread that gives every stored row its vector: within a moment, and after a restart too.

A row without a vector in the space is pending, whatever happened before: a crash loses no work but
the batch under way. Vectors are written in small background jobs, so that no store waits for them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from functools import partial

import apsw

from ...storage import vectors
from ...storage.engine import Store
from ...storage.faults import Closed, StorageFault
from ...storage.reader import Reader
from ...storage.transaction import Change
from ...storage.vectors import Item, Pending, Space
from .protocol import Embedder, VectorsUnavailable
from .quantisation import to_int8

log = logging.getLogger("recalld.embed")
# 64 texts take about 4 ms to embed and as long to write; an interactive store waits for one batch.
_BATCH = 64
# The change feed wakes the thread; this is for what it cannot see, such as a repaired provider.
_LOOK_AGAIN_SECONDS = 30.0
_READ_SECONDS = 30.0


class Backlog:
    """Embeds what is pending until nothing is, then waits for the next change."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._wake = threading.Event()
        self._stopping = False
        self._state = "loading"
        self._pending = 0
        self._last_error: str | None = None
        self._unsubscribe = store.writer.subscribe(self._changed)
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)

    def start(self) -> None:
        """Load the embedder and begin, in a thread of its own."""
        if not self._embedder.dimension or not self._store.has_vectors:
            self._state = "off" if not self._embedder.dimension else "unavailable"
            return
        self._thread.start()

    def stop(self) -> None:
        """End after the batch under way."""
        self._stopping = True
        self._wake.set()
        self._unsubscribe()
        if self._thread.is_alive():
            self._thread.join()

    def state(self) -> dict[str, object]:
        """For status: model, dim, pending rows, state (loading, ready, working, failed, off,
        unavailable) and the last error, if any.
        """
        return {
            "model": self._embedder.model,
            "dim": self._embedder.dimension,
            "pending": self._pending,
            "state": self._state,
            "last_error": self._last_error,
        }

    def _changed(self, changes: Sequence[Change]) -> None:
        fresh = sum(c.op == "upsert" and (c.version == 1 or c.vector_dropped) for c in changes)
        if fresh:
            self._pending += fresh
            self._wake.set()

    def _run(self) -> None:
        reader = self._store.reader()
        space: Space | None = None
        while not self._stopping:
            # Cleared before looking: a change that comes while we look sets it again.
            self._wake.clear()
            try:
                if space is None:
                    space = self._open_space()
                self._work(reader, space)
                self._state, self._last_error = "ready", None
            except Closed:
                return
            except (VectorsUnavailable, StorageFault, apsw.Error, ValueError) as error:
                log.exception("rows could not be embedded")
                self._state, self._last_error = "failed", str(error)
            self._wake.wait(_LOOK_AGAIN_SECONDS)

    def _open_space(self) -> Space:
        embedder = self._embedder
        embedder.load()
        made = self._store.writer.submit(
            lambda tx: vectors.ensure_space(
                tx, embedder.space, embedder.model, embedder.dimension, embedder.prefix
            ),
            background=True,
        )
        return made.result()

    def _work(self, reader: Reader, space: Space) -> None:
        """Embed until nothing is pending."""
        while not self._stopping:
            with reader.until(time.monotonic() + _READ_SECONDS) as connection:
                rows = vectors.pending(connection, space, _BATCH)
                self._pending = vectors.pending_count(connection, space) if rows else 0
            if not rows:
                return
            self._state = "working"
            put = partial(vectors.put, space=space, items=self._embed(rows))
            self._store.writer.submit(put, background=True).result()

    def _embed(self, rows: Sequence[Pending]) -> list[Item]:
        prefix = self._embedder.prefix
        made = to_int8(self._embedder.documents([prefix + row.content for row in rows]))
        return [
            Item(row.rid, row.ulid, row.version, vector.tobytes())
            for row, vector in zip(rows, made, strict=True)
        ]
