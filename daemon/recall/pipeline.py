"""The stages of a recall, in order, for one request in one worker."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Protocol

import apsw
import numpy as np

from ...storage.engine import Store
from ...storage.memories import fetch
from ...storage.reader import Reader
from ...storage.scope import Scope
from ..deadline import Deadline
from ..embed.protocol import Embedder
from . import budget, diversity, explain, past, phrases
from .arrays import Floats, Longs
from .filters import Filter
from .fusion import fuse
from .query import Query, analyse
from .request import MOST_HITS, Hit, RecallAnswer, RecallRequest
from .rescoring import priors
from .search import Found, Search
from .shelf import Shelf
from .shelves import Opened, Shelves

log = logging.getLogger("recalld.recall")
VECTORS_UNAVAILABLE = "vectors_unavailable"
# Fetched beyond the limit, for equal texts and for hits forgotten this very moment.
_SPARE = 10


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
        hits = _ranked(reader.connection, scope, request, query, found, now_ms)
        took_ms = (time.perf_counter() - begun) * 1000
        return RecallAnswer(tuple(hits), tuple(sorted(degraded)), round(took_ms, 3))

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


def _ranked(
    connection: apsw.Connection,
    scope: Scope,
    request: RecallRequest,
    query: Query,
    found: Found,
    now_ms: int,
) -> list[Hit]:
    """Score the candidates, then read, thin out and cut the best ones."""
    if not len(found.candidates):
        return []
    signals = fuse(found.candidates, found.statistics, query)
    signals |= priors(found.candidates, query.period, now_ms)
    total: Floats = np.stack(list(signals.values())).sum(axis=0)
    limit = max(1, min(request.limit, MOST_HITS))
    wide = max(limit, phrases.LOOKED_AT) if query.phrases else limit
    order = np.argsort(-total, kind="stable")[: wide + _SPARE]
    hits = _read(connection, scope, found.candidates.rid[order], total[order])
    if request.explain:
        hits = [
            (at, replace(hit, why=explain.contributions(signals, int(order[at]))))
            for at, hit in hits
        ]
    kept = [hit for _, hit in hits]
    if query.phrases:
        kept = phrases.lifted(kept, query.phrases)
    kept = diversity.distinct(kept)[:limit]
    if request.as_of is not None:
        kept = [_then(connection, scope, hit, request.as_of) for hit in kept]
    return kept if request.budget is None else budget.pack(kept, request.budget)


def _read(
    connection: apsw.Connection, scope: Scope, rids: Longs, scores: Floats
) -> list[tuple[int, Hit]]:
    """The hits with their place in `rids`; a memory that is gone by now is left out."""
    memories = fetch(connection, scope, rids.tolist())
    pairs = zip(rids.tolist(), scores.tolist(), strict=True)
    return [
        (at, Hit(memories[rid], round(score, 4)))
        for at, (rid, score) in enumerate(pairs)
        if rid in memories
    ]


def _then(connection: apsw.Connection, scope: Scope, hit: Hit, at_ms: int) -> Hit:
    return replace(hit, memory=past.as_it_was(connection, scope, hit.memory, at_ms))
