"""Candidates from SQLite's own indexes, for namespaces that are not in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw
import numpy as np

from ...storage import fulltext, shelf_rows, vectors
from ...storage.scope import Scope, identify
from ..embed.quantisation import to_int8
from .arrays import Floats
from .candidates import PER_SIGNAL, Candidates, gather
from .filters import Filter
from .frequency import Frequencies, weights
from .lexical import Statistics, WordScores
from .query import Query
from .shelf import Shelf


class Unshelved(NamedTuple):
    """What was found, and the statistics of the words that were looked for."""

    candidates: Candidates
    statistics: Statistics


def search(
    connection: apsw.Connection,
    name: str,
    query: Query,
    question: Floats | None,
    space: str,
    wanted: Filter,
    frequencies: Frequencies,
) -> Unshelved:
    """The candidates of one namespace.

    A word match costs what full-text search costs over the whole store, a vector search reads the
    namespace's vectors from disk: about 10 to 15 ms together at 20,000 rows of a million.
    """
    scope = Scope([name])
    chosen = frequencies.affordable(connection, query.words)
    idf = weights(connection, list(chosen.values()))
    by_words = dict(fulltext.match(connection, scope, list(chosen), limit=PER_SIGNAL))
    known = vectors.find_space(connection, space) if space and question is not None else None
    near: list[int] = []
    if known is not None and question is not None:
        as_stored = to_int8(question[np.newaxis]).tobytes()
        near = [r for r, _ in vectors.nearest(connection, known, scope, as_stored, PER_SIGNAL)]
    shelf = _bring(connection, scope, dict.fromkeys([*by_words, *near]))
    rids: list[int] = shelf.columns.rid[: shelf.state.size].tolist()
    similarity = np.zeros(len(rids), np.float32)
    if known is not None and question is not None:
        similarity = _similarity(vectors.get(connection, known, rids), rids, question)
    scores = np.array([by_words.get(rid, 0.0) for rid in rids], np.float32)
    matches = WordScores(scores, np.zeros(len(rids), np.float32))
    slots = wanted.slots(shelf, shelf.state)
    found = gather(shelf, shelf.state, matches, similarity, slots, query.name)
    return Unshelved(found, Statistics(np.array(idf, np.float32), 1.0))


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
