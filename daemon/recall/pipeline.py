"""The stages of a recall, in order, for one request in one worker."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Protocol

from ...storage.engine import Store
from ...storage.reader import Reader
from ...storage.scope import Scope
from ..deadline import Deadline
from ..embed.protocol import Embedder
from .arrays import Floats
from .filters import Filter
from .query import Query, analyse
from .ranking import ranked
from .request import RecallAnswer, RecallRequest
from .search import Search
from .shelf import Shelf
from .shelves import Opened, Shelves

log = logging.getLogger("recalld.recall")
VECTORS_UNAVAILABLE = "vectors_unavailable"


class RecallSettings(Protocol):
    """The part of the daemon's settings that recall reads."""

    @property
    def matrix_bytes(self) -> int:
        """Memory for namespaces in use, in bytes."""
        ...


class Recall:
    """Answers questions from the store; shared by all workers."""

    def __init__(self, store: Store, embedder: Embedder, settings: RecallSettings) -> None:
        self._embedder = embedder
        space = embedder.space if store.has_vectors else ""
        dimension = embedder.dimension if space else 0
        self._has_vectors = bool(space)
        self._shelves = Shelves(store, space, dimension, settings.matrix_bytes)
        self._search = Search(space)

    def recall(
        self, reader: Reader, scope: Scope, request: RecallRequest, deadline: Deadline
    ) -> RecallAnswer:
        """The memories of the scope that answer the request, best first.

        Must be the first to use the reader inside its `until` block (see Shelves.open).
        Raises BlankQuery, DeadlineExceeded, or a StorageFault.
        """
        begun = time.perf_counter()
        now_ms = time.time_ns() // 1_000_000
        query = analyse(request.query, now_ms)
        opened = self._shelves.open(reader.connection, scope, deadline)
        actors = _actors(opened)
        if actors:
            query = analyse(request.query, now_ms, actors)
        degraded: set[str] = set()
        question = self._embed(query, degraded)
        found = self._search.run(
            reader.connection, opened, query, question, Filter.of(request, now_ms), deadline
        )
        degraded |= found.degraded
        hits = ranked(reader.connection, scope, request, query, found, now_ms)
        took_ms = (time.perf_counter() - begun) * 1000
        return RecallAnswer(tuple(hits), tuple(sorted(degraded)), round(took_ms, 3))

    def closeness(self, question: str, texts: Sequence[str]) -> list[float]:
        """How close each text is in meaning to the question: its cosine, 0 without vectors.

        Unlike a hit's score it compares across questions.
        """
        vector = self._embed(analyse(question, 0), set())
        if vector is None or not texts:
            return [0.0] * len(texts)
        cosines = self._embedder.documents(texts) @ vector
        return [float(cosine) for cosine in cosines]

    def bytes_used(self) -> int:
        """Memory that namespaces in use take, roughly."""
        return self._shelves.bytes_used()

    def shelf(self, namespace: str) -> Shelf | None:
        """The namespace as it lies in memory, if it does; for inspection."""
        return self._shelves.get(namespace)

    def close(self) -> None:
        """Stop background work; no recall may come after it."""
        self._shelves.close()

    def _embed(self, query: Query, degraded: set[str]) -> Floats | None:
        """The question's vector, or None with the reason among `degraded`."""
        if not self._embedder.dimension:
            return None
        if self._has_vectors:
            try:
                vector = self._embedder.query(query.semantic or query.text)
            except Exception:
                # Whatever a provider throws, words alone still find most things.
                log.exception("the question could not be embedded")
            else:
                return vector if vector.any() else None
        degraded.add(VECTORS_UNAVAILABLE)
        return None


def _actors(opened: Opened) -> frozenset[str]:
    return frozenset[str]().union(*(shelf.state.actors for shelf in opened.shelves.values()))
