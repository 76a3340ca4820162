"""Candidates from SQLite's own indexes, for namespaces that are not in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw
import numpy as np

from ...storage import fulltext, shelf_rows, vectors
from ...storage.scope import Scope, identify
from ...storage.vectors import Space
from ..deadline import Deadline
from ..embed.quantisation import to_int8
from .arrays import Floats
from .candidates import PER_SIGNAL, Candidates, gather
from .filters import Filter
from .frequency import Frequencies, weights
from .lexical import Statistics, WordScores
from .query import Query
from .shelf import Shelf

log = logging.getLogger("recalld.recall")
WORDS_UNAVAILABLE = "words_unavailable"
VECTORS_BEHIND = "vectors_behind"


class Unshelved(NamedTuple):
    """What was found, the statistics of the words looked for, and what could not take part."""

    candidates: Candidates
    statistics: Statistics
    degraded: set[str]


class Asked(NamedTuple):
    """What to look for in one namespace; `question` is None without vectors."""

    query: Query
    question: Floats | None
    wanted: Filter
    deadline: Deadline


class Unshelf:
    """Searches namespaces one by one; `space` names the vectors, and is empty without any. `mend`
    is called when full-text search turns out to be damaged.

    A word match costs what full-text search costs over the whole store, a vector search reads the
    namespace's vectors from disk: about 10 to 15 ms together at 20,000 rows of a million.
    """

    def __init__(self, space: str, mend: Callable[[], None]) -> None:
        self._space = space
        self._mend = mend
        self._frequencies = Frequencies()

    def search(self, connection: apsw.Connection, name: str, asked: Asked) -> Unshelved:
        """The candidates of one namespace. Raises DeadlineExceeded between its steps."""
        scope = Scope([name])
        degraded: set[str] = set()
        by_words, statistics = self._by_words(connection, scope, asked, degraded)
        question = asked.question
        known = vectors.find_space(connection, self._space) if question is not None else None
        near = [] if known is None else _nearest(connection, scope, known, question)
        asked.deadline.check()
        shelf = _bring(connection, scope, dict.fromkeys([*by_words, *near]))
        rids: list[int] = shelf.columns.rid[: shelf.state.size].tolist()
        similarity = np.zeros(len(rids), np.float32)
        pending = np.zeros(len(rids), np.bool_)
        if question is not None:
            stored = {} if known is None else vectors.get(connection, known, rids)
            similarity = _similarity(stored, rids, question)
            pending = np.array([rid not in stored for rid in rids], np.bool_)
            if pending.any():
                degraded.add(VECTORS_BEHIND)
        scores = np.array([by_words.get(rid, 0.0) for rid in rids], np.float32)
        matches = WordScores(scores, np.zeros(len(rids), np.float32))
        slots = asked.wanted.slots(shelf, shelf.state)
        found = gather(shelf, shelf.state, matches, similarity, pending, slots, asked.query.name)
        return Unshelved(found, statistics, degraded)

    def _by_words(
        self, connection: apsw.Connection, scope: Scope, asked: Asked, degraded: set[str]
    ) -> tuple[dict[int, float], Statistics]:
        """Rows by full text with their scores; none when its index is damaged."""
        try:
            chosen = self._frequencies.affordable(connection, asked.query.words)
            idf = weights(connection, list(chosen.values()))
            found = dict(fulltext.match(connection, scope, list(chosen), limit=PER_SIGNAL))
        except (apsw.CorruptError, apsw.SQLError):
            # An interrupted statement can look like this too; then time is up.
            asked.deadline.check()
            log.exception("the full-text index does not answer")
            self._mend()
            degraded.add(WORDS_UNAVAILABLE)
            return {}, Statistics(np.zeros(0, np.float32), 1.0)
        return found, Statistics(np.array(idf, np.float32), 1.0)


def _nearest(
    connection: apsw.Connection, scope: Scope, space: Space, question: Floats | None
) -> list[int]:
    if question is None:
        return []
    as_stored = to_int8(question[np.newaxis]).tobytes()
    return [rid for rid, _ in vectors.nearest(connection, space, scope, as_stored, PER_SIGNAL)]


def _similarity(stored: Mapping[int, bytes], rids: Sequence[int], question: Floats) -> Floats:
    """Cosines of these rows, 0 without a vector."""
    empty = bytes(len(question))
    joined = b"".join(stored.get(rid, empty) for rid in rids)
    rows = np.frombuffer(joined, np.int8).reshape(len(rids), len(question)).astype(np.float32)
    length = np.sqrt(np.square(rows).sum(axis=1))
    cosines: Floats = ((rows @ question) / np.maximum(length, 1)).astype(np.float32)
    return cosines


def _bring(connection: apsw.Connection, scope: Scope, rids: Iterable[int]) -> Shelf:
    """The columns of these rows."""
    wanted = list(rids)
    shelf = Shelf(0, len(wanted), indexed=False)
    for ns in identify(connection, scope):
        shelf.replace((), shelf_rows.chosen(connection, ns, wanted))
    return shelf
