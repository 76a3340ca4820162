"""From analysed question to candidates: every namespace by its shelf, or without one by SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import apsw
import numpy as np

from ..deadline import Deadline
from . import dense, lexical
from .arrays import Flags, Floats
from .candidates import Candidates, gather
from .filters import Filter
from .late_interaction import Compared
from .lexical import Statistics, WordScores
from .query import Query
from .question import Question
from .shelf import CONVERSATION, Shelf, State
from .shelves import Opened
from .signposts import Signposts
from .terms import token_ids
from .unshelved import VECTORS_BEHIND, Asked, Unshelf, Words


@dataclass
class Found:
    """The candidates of all namespaces together, what could not take part, whether the question was
    read closely, and what compares it piece by piece, if anything does.
    """

    candidates: Candidates
    statistics: Statistics
    degraded: set[str] = field(default_factory=set[str])
    is_read: bool = False
    compared: Compared | None = None


class Search:
    """Finds candidates; `space` names the vectors, and is empty without any.

    `signposts` and `mend` are for namespaces that are not in memory (see Unshelf).
    """

    def __init__(self, space: str, signposts: Signposts, mend: Callable[[], None]) -> None:
        self._space = space
        self._unshelf = Unshelf(space, signposts, mend)

    def run(
        self,
        connection: apsw.Connection,
        opened: Opened,
        query: Query,
        question: Question,
        wanted: Filter,
        deadline: Deadline,
    ) -> Found:
        """The candidates for one question. Raises DeadlineExceeded between its steps."""
        shelved, stats = _by_words(list(opened.shelves.values()), query, wanted, deadline)
        others = [self._unshelf.words(connection, name, query, deadline) for name in opened.missing]
        # All namespaces are asked by one vector: cosines of two cannot be compared.
        vector = question.vector(_best(shelved, stats, others), deadline)
        found = _on_shelves(shelved, stats, query, vector, deadline)
        asked = Asked(query, vector, wanted, deadline)
        for words in others:
            found = _together(found, Found(*self._unshelf.search(connection, words, asked)))
        found.is_read = question.is_read
        found.compared = Compared.of(question.pieces, self._space)
        return found


class _Matched(NamedTuple):
    """A shelf as a recall sees it, its word scores, and the slots that are wanted."""

    shelf: Shelf
    state: State
    words: WordScores
    wanted: Flags


def _best(shelved: list[_Matched], stats: Statistics, others: Iterable[Words]) -> float:
    """The best word match among the notes that are wanted, as a share of the ideal one; 1 where no
    notes are. What is not in memory is taken for notes that are wanted.
    """
    best = [_share(max(one.scores.values(), default=0.0), one.statistics) for one in others]
    for shelf, state, words, wanted in shelved:
        if (wanted & (shelf.columns.kind[: state.size] != CONVERSATION)).any():
            best.append(_share(float(words.rows[wanted].max()), stats))
    return max(best, default=1.0)


def _share(score: float, stats: Statistics) -> float:
    ideal = stats.ideal()
    return score / ideal if ideal > 0 else 0.0


def _on_shelves(
    shelved: list[_Matched],
    stats: Statistics,
    query: Query,
    vector: Floats | None,
    deadline: Deadline,
) -> Found:
    parts: list[Candidates] = []
    behind = False
    for shelf, state, words, slots in shelved:
        if vector is None:
            similarity = np.zeros(state.size, np.float32)
            pending = np.zeros(state.size, np.bool_)
        else:
            similarity = dense.similarities(shelf, state, vector, deadline.check)
            pending = shelf.columns.inverse_length[: state.size] == 0
            behind = behind or bool((slots & pending).any())
        parts.append(gather(shelf, state, words, similarity, pending, slots, query.name))
    candidates = Candidates.joined(parts) if parts else Candidates.none()
    return Found(candidates, stats, {VECTORS_BEHIND} if behind else set())


def _by_words(
    shelves: list[Shelf], query: Query, wanted: Filter, deadline: Deadline
) -> tuple[list[_Matched], Statistics]:
    """Every shelf with its word scores, and the statistics that make them comparable."""
    terms = list(dict.fromkeys(token_ids(query.words)))
    states = [shelf.state for shelf in shelves]
    found = [lexical.find(s, state, terms) for s, state in zip(shelves, states, strict=True)]
    stats = lexical.statistics(states, found, len(terms))
    matched = [
        _Matched(
            shelf,
            state,
            lexical.score(shelf, state, matches, stats, deadline.check),
            wanted.slots(shelf, state),
        )
        for shelf, state, matches in zip(shelves, states, found, strict=True)
    ]
    return matched, stats


def _together(one: Found, other: Found) -> Found:
    """Both, with the term weights of the one that had more to look for."""
    stats = max(one.statistics, other.statistics, key=Statistics.ideal)
    joined = Candidates.joined([one.candidates, other.candidates])
    return Found(joined, stats, one.degraded | other.degraded)
