"""From analysed question to candidates: every namespace by its shelf, or without one by SQLite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import apsw
import numpy as np

from ..deadline import Deadline
from . import dense, lexical
from .arrays import Flags
from .candidates import Candidates, gather
from .filters import Filter
from .lexical import Statistics, WordScores
from .query import Query
from .question import Question
from .shelf import Shelf, State
from .shelves import Opened
from .signposts import Signposts
from .terms import token_ids
from .unshelved import VECTORS_BEHIND, Asked, Unshelf


@dataclass
class Found:
    """The candidates of all namespaces together, and what could not take part."""

    candidates: Candidates
    statistics: Statistics
    degraded: set[str] = field(default_factory=set[str])


class Search:
    """Finds candidates; `space` names the vectors, and is empty without any.

    `signposts` and `mend` are for namespaces that are not in memory (see Unshelf).
    """

    def __init__(self, space: str, signposts: Signposts, mend: Callable[[], None]) -> None:
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
        found = _on_shelves(list(opened.shelves.values()), query, question, wanted, deadline)
        for name in opened.missing:
            asked = Asked(query, question.quick, wanted, deadline)
            found = _together(found, Found(*self._unshelf.search(connection, name, asked)))
        return found


class _Matched(NamedTuple):
    """A shelf as a recall sees it, its word scores, and the slots that are wanted."""

    shelf: Shelf
    state: State
    words: WordScores
    wanted: Flags


def _on_shelves(
    shelves: list[Shelf], query: Query, question: Question, wanted: Filter, deadline: Deadline
) -> Found:
    matched, stats = _by_words(shelves, query, wanted, deadline)
    best = max((float(one.words.rows[one.wanted].max(initial=0)) for one in matched), default=0.0)
    ideal = stats.ideal()
    vector = question.vector([m.state for m in matched], best / ideal if ideal > 0 else 0.0)
    parts: list[Candidates] = []
    behind = False
    for shelf, state, words, slots in matched:
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
