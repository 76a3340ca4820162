"""The stages of a recall, in order, for one request in one worker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple, Protocol

from ...auth.errors import DeadlineExceeded
from ...storage.engine import Store
from ...storage.reader import Reader
from ...storage.scope import Scope
from ..deadline import Deadline
from ..embed.protocol import Embedder, VectorsUnavailable
from ..embed.standing import Standing
from .filters import Filter
from .query import analyse
from .question import Question
from .ranking import ranked
from .request import RecallAnswer, RecallRequest
from .rerank import UNAVAILABLE, Reranker
from .search import Search
from .shelf import Shelf
from .shelves import Opened, Shelves
from .signposts import Signposts
from .word_index import WordIndex

log = logging.getLogger("recalld.recall")

COMPUTING = 2
"""Recalls that compare and rank in memory at once. Four of them take 8 ms of processor time each
instead of 5, handing the interpreter to and fro; the other workers wait for disks and embedders."""


class RecallSettings(Protocol):
    """The part of the daemon's settings that recall reads."""

    @property
    def matrix_bytes(self) -> int:
        """Memory for namespaces in use, in bytes."""
        ...


class _View(NamedTuple):
    """What a recall works with from its beginning to its end."""

    standing: Standing
    shelves: Shelves
    signposts: Signposts
    search: Search

    def close(self) -> None:
        """Stop what it does in the background."""
        self.shelves.close()
        self.signposts.close()


class Recall:
    """Answers questions from the store; shared by all workers."""

    def __init__(
        self,
        store: Store,
        standing: Standing,
        settings: RecallSettings,
        near: Embedder | None = None,
        rerank: Reranker | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._near = near or standing.embedder
        self._turns = threading.BoundedSemaphore(COMPUTING)
        self._rerank = rerank or Reranker.shipped()
        self.words = WordIndex(store)
        self._view = self._seen(standing)

    @property
    def is_ranked_twice(self) -> bool:
        """Whether the trees of the second ranking are there."""
        return self._rerank.trees is not None

    @property
    def standing(self) -> Standing:
        """What it works with just now."""
        return self._view.standing

    def switch(self, standing: Standing) -> None:
        """Work with other vectors from now on. Recalls under way end with the ones they had."""
        before = self._view
        if standing[:2] == before.standing[:2]:  # what has been loaded is still right
            self._view = before._replace(standing=standing)
            return
        self._view = self._seen(standing)
        before.close()

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
        view = self._view
        opened = view.shelves.open(reader.connection, scope, deadline)
        actors = _actors(opened)
        if actors:
            query = analyse(request.query, now_ms, actors)
        degraded = set(view.standing.degraded)
        text = query.semantic or query.text
        question = Question.of(text, view.standing, degraded, vectors=self._store.has_vectors)
        # What SQLite searches takes long, and most of that without the interpreter in hand.
        with nullcontext() if opened.missing else self._turn(deadline):
            found = view.search.run(
                reader.connection, opened, query, question, Filter.of(request, now_ms), deadline
            )
            hits = ranked(reader.connection, scope, request, query, found, now_ms, self._rerank)
        degraded |= found.degraded
        if not self.is_ranked_twice:
            degraded.add(UNAVAILABLE)
        took_ms = (time.perf_counter() - begun) * 1000
        return RecallAnswer(tuple(hits), tuple(sorted(degraded)), round(took_ms, 3))

    def closeness(self, question: str, texts: Sequence[str]) -> list[float]:
        """How close each text is in meaning to the question: its cosine, 0 without vectors.

        Unlike a hit's score it compares across questions.
        """
        if not self._near.dimension or not texts:
            return [0.0] * len(texts)
        query = analyse(question, 0)
        try:
            vector = self._near.query(query.semantic or query.text)
            cosines = self._near.documents(texts) @ vector
        except VectorsUnavailable as error:
            log.info("closeness was not measured: %s", error)
            return [0.0] * len(texts)
        return [float(cosine) for cosine in cosines]

    def bytes_used(self) -> int:
        """Memory that namespaces in use take, roughly."""
        return self._view.shelves.bytes_used()

    def shelf(self, namespace: str) -> Shelf | None:
        """The namespace as it lies in memory, if it does; for inspection."""
        return self._view.shelves.get(namespace)

    def signed_chunks(self) -> int:
        """Chunks of very large namespaces whose signs are known; for inspection."""
        return self._view.signposts.signed()

    def close(self) -> None:
        """Stop background work; no recall may come after it."""
        self._view.close()

    def _seen(self, standing: Standing) -> _View:
        space = standing.space if self._store.has_vectors else ""
        dimension = standing.embedder.dimension if space else 0
        shelves = Shelves(self._store, space, dimension, self._settings.matrix_bytes)
        signposts = Signposts(self._store.reader, self._settings.matrix_bytes // 2)
        search = Search(space, signposts, self.words.mend)
        return _View(standing, shelves, signposts, search)

    @contextmanager
    def _turn(self, deadline: Deadline) -> Generator[None]:
        """One of the turns at the interpreter. Raises DeadlineExceeded."""
        if not self._turns.acquire(timeout=max(0.0, deadline.remaining())):
            raise DeadlineExceeded("The work did not end within its time.")
        try:
            yield
        finally:
            self._turns.release()


def _actors(opened: Opened) -> frozenset[str]:
    return frozenset[str]().union(*(shelf.state.actors for shelf in opened.shelves.values()))
