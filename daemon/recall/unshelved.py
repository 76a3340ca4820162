"""Candidates from SQLite's own indexes, for namespaces that are not in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import apsw
import numpy as np

from ...storage import chunks, fulltext, shelf_rows, vectors
from ...storage.chunks import Chunks
from ...storage.scope import Scope, identify
from ..deadline import Deadline
from .arrays import Floats, Longs
from .candidates import Candidates, gather
from .filters import Filter
from .frequency import Frequencies, weights
from .lexical import Statistics, WordScores
from .query import Query
from .shelf import Shelf
from .signposts import Signposts

log = logging.getLogger("recalld.recall")
WORDS_UNAVAILABLE = "words_unavailable"
VECTORS_BEHIND = "vectors_behind"
MOST_FOUND = 128
"""Rows taken by words and by meaning: each costs 10 us to read."""


class Words(NamedTuple):
    """The rows of one namespace that have words of the question, by id with their scores."""

    name: str
    scores: dict[int, float]
    statistics: Statistics
    degraded: frozenset[str]


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

    At 20,000 rows of a million 2 ms go to the word match, 6 to reading the namespace's vectors and
    comparing them, and 3 to reading the candidates. Very large namespaces have `signposts` to what
    is worth reading.
    """

    def __init__(self, space: str, signposts: Signposts, mend: Callable[[], None]) -> None:
        self._space = space
        self._signposts = signposts
        self._mend = mend
        self._frequencies = Frequencies()
        self._chunks = Chunks()

    def words(
        self, connection: apsw.Connection, name: str, query: Query, deadline: Deadline
    ) -> Words:
        """Rows by full text; none when its index is damaged. Raises DeadlineExceeded."""
        try:
            chosen = self._frequencies.affordable(connection, query.words)
            idf = weights(connection, list(chosen.values()))
            scope = Scope([name])
            found = dict(fulltext.match(connection, scope, list(chosen), limit=MOST_FOUND))
        except (apsw.CorruptError, apsw.SQLError):
            # An interrupted statement can look like this too; then time is up.
            deadline.check()
            log.exception("the full-text index does not answer")
            self._mend()
            nothing = Statistics(np.zeros(0, np.float32), 1.0)
            return Words(name, {}, nothing, frozenset({WORDS_UNAVAILABLE}))
        return Words(name, found, Statistics(np.array(idf, np.float32), 1.0), frozenset())

    def search(self, connection: apsw.Connection, words: Words, asked: Asked) -> Unshelved:
        """The candidates of one namespace. Raises DeadlineExceeded between its steps."""
        scope = Scope([words.name])
        by_words, degraded = words.scores, set(words.degraded)
        near = self._by_meaning(connection, scope, asked, by_words)
        asked.deadline.check()
        shelf = _bring(connection, scope, dict.fromkeys([*by_words, *near]))
        rids: list[int] = shelf.columns.rid[: shelf.state.size].tolist()
        scores = np.array([by_words.get(rid, 0.0) for rid in rids], np.float32)
        similarity = np.array([near.get(rid, 0.0) for rid in rids], np.float32)
        pending = np.zeros(len(rids), np.bool_)
        if asked.question is not None:
            pending = np.array([rid not in near for rid in rids], np.bool_)
            if pending.any():
                degraded.add(VECTORS_BEHIND)
        matches = WordScores(scores, np.zeros(len(rids), np.float32))
        slots = asked.wanted.slots(shelf, shelf.state)
        found = gather(shelf, shelf.state, matches, similarity, pending, slots, asked.query.name)
        return Unshelved(found, words.statistics, degraded)

    def _by_meaning(
        self, connection: apsw.Connection, scope: Scope, asked: Asked, others: Iterable[int]
    ) -> dict[int, float]:
        """Cosines of the rows closest to the question, and of the `others` that have a vector."""
        others = list(others)
        question = asked.question
        space = vectors.find_space(connection, self._space) if question is not None else None
        if space is None or question is None:
            return {}
        rids: list[Longs] = [np.zeros(0, np.int64)]
        cosines: list[Floats] = [np.zeros(0, np.float32)]
        for ns in identify(connection, scope):
            for some, joined in self._near(connection, space, ns, question, others):
                asked.deadline.check()
                rids.append(np.array(some, np.int64))
                cosines.append(_similarity(joined, question))
        return _closest(np.concatenate(rids), np.concatenate(cosines), others)

    def _near(
        self,
        connection: apsw.Connection,
        space: vectors.Space,
        ns: int,
        question: Floats,
        others: list[int],
    ) -> Iterator[tuple[list[int], bytes]]:
        """Row ids and vectors of all rows that may be close: all there are, where it is cheap."""
        every = self._chunks.of(connection, space, ns)
        signs = self._signposts.of(connection, space, ns, every)
        if signs is None:
            yield from chunks.blocks(connection, space, every)
            return
        wanted = {*signs.known.promising(question), *chunks.places(connection, space, others)}
        unsigned = signs.unsure
        apart = set(unsigned)
        yield chunks.at(connection, space, [one for one in wanted if one[0] not in apart])
        yield from chunks.blocks(connection, space, unsigned)


def _closest(rids: Longs, cosines: Floats, others: Iterable[int]) -> dict[int, float]:
    chosen = np.isin(rids, np.array(list(others), np.int64))
    if len(cosines) > MOST_FOUND:
        chosen |= cosines >= np.partition(cosines, len(cosines) - MOST_FOUND)[-MOST_FOUND]
    else:
        chosen[:] = True
    return dict(zip(rids[chosen].tolist(), cosines[chosen].tolist(), strict=True))


def _similarity(joined: bytes, question: Floats) -> Floats:
    """Cosines of vectors as they are stored, one after the other."""
    rows = np.frombuffer(joined, np.int8).reshape(-1, len(question)).astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    cosines: Floats = ((rows @ question) / np.maximum(length, 1)).astype(np.float32)
    return cosines


def _bring(connection: apsw.Connection, scope: Scope, rids: Iterable[int]) -> Shelf:
    """The columns of these rows."""
    wanted = list(rids)
    shelf = Shelf(0, len(wanted), indexed=False)
    for ns in identify(connection, scope):
        shelf.replace((), shelf_rows.without_texts(connection, ns, wanted))
    return shelf
