"""Word scores on shelves: BM25 with the statistics of the namespaces searched, taken together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Slots
from .columns import Columns
from .shelf import Shelf, State

K1 = 1.2
B = 0.75
SESSION_K1 = 3.0
"""Sessions are long: the third mention of a word in one still says something."""
PREVIOUS_TURN = 0.5
"""Weight of the words of the turn before: answers rarely repeat the question's words."""

IDEAL_TERMS = 4
"""Nothing matches all words of a long question: the ideal match has this many of the rarest."""


class Match(NamedTuple):
    """Where one term occurs in one shelf: living slots, and how often in each."""

    slots: Slots
    counts: Floats


class WordScores(NamedTuple):
    """Scores per slot of one shelf: of the row itself, and of its session as a whole."""

    rows: Floats
    sessions: Floats


class Statistics(NamedTuple):
    """What makes scores of several shelves comparable: term weights and average lengths."""

    idf: Floats
    average_words: float

    def ideal(self) -> float:
        """The score of a row that consists of little but the query's rarest words."""
        return float((K1 + 1) * np.sort(self.idf)[-IDEAL_TERMS:].sum())


def find(shelf: Shelf, state: State, terms: Sequence[int]) -> list[Match]:
    """The matches of every term in one shelf."""
    alive = shelf.columns.alive
    found: list[Match] = []
    for term in terms:
        parts = [part.find(term) for part in state.words]
        slots = np.concatenate([slots for slots, _ in parts])
        living = alive[slots]
        counts = np.concatenate([counts for _, counts in parts])
        found.append(Match(slots[living], counts[living]))
    return found


def statistics(states: Sequence[State], found: Sequence[Sequence[Match]], terms: int) -> Statistics:
    """Weights of so many terms over several shelves; `found[i]` are the matches of shelf i."""
    rows = sum(state.live for state in states)
    words = sum(state.total_words for state in states)
    frequency = np.array(
        [sum(len(of_shelf[term].slots) for of_shelf in found) for term in range(terms)],
        np.float32,
    )
    idf = np.log1p((rows - frequency + 0.5) / (frequency + 0.5))
    return Statistics(idf.astype(np.float32), max(1.0, words / max(1, rows)))


def score(
    shelf: Shelf,
    state: State,
    found: Sequence[Match],
    stats: Statistics,
    check: Callable[[], None],
) -> WordScores:
    """Score one shelf; `check` is called between terms and may raise."""
    columns, count = shelf.columns, state.size
    total = np.zeros(count, np.float32)
    times = np.zeros(count, np.float32)
    rarity = _rarity(columns.words[:count], stats.average_words)
    for match, idf in zip(found, stats.idf, strict=True):
        check()
        weight = match.counts * rarity[match.slots]
        touched = _add(times, match.slots, weight, columns)
        here = times[touched]
        # A slot may be touched twice; assignment adds the same value to it once.
        total[touched] += idf * (K1 + 1) * here / (here + K1)
        times[touched] = 0
    return WordScores(total, _session_scores(shelf, state, found))


def _rarity(words: Floats, average: float) -> Floats:
    """What one occurrence counts in a text of so many words: less in a long one."""
    return (1 / (1 - B + B * words / np.float32(average))).astype(np.float32)


def _add(times: Floats, slots: Slots, weight: Floats, columns: Columns) -> Slots:
    """Add a term's occurrences to the rows that have it and, weaker, to the turns that follow.

    Both are normalised by the length of the text they occur in (BM25F). An assistant's turn lends
    nothing: what the user asks next is a new matter (3 points of MRR on chats with an assistant).
    """
    times[slots] = weight
    follower = columns.after[slots]
    real = (follower >= 0) & (follower < len(times)) & ~columns.by_assistant[slots]
    # No turn follows two, so this adds once per slot.
    times[follower[real]] += np.float32(PREVIOUS_TURN) * weight[real]
    return np.concatenate([slots, follower[real]])


def _session_scores(shelf: Shelf, state: State, found: Sequence[Match]) -> Floats:
    """BM25 over whole sessions as documents, given to each of their slots."""
    count, sessions = state.size, state.sessions
    if not sessions:
        return np.zeros(count, np.float32)
    session = shelf.columns.session[:count]
    inside = session >= 0
    size = np.bincount(session[inside], shelf.columns.words[:count][inside], minlength=sessions)
    damping = SESSION_K1 * (1 - B + B * size / max(1.0, float(size.mean())))
    total = np.zeros(sessions, np.float64)
    for match in found:
        of = session[match.slots]
        times = np.bincount(of[of >= 0], match.counts[of >= 0], minlength=sessions)
        holding = np.count_nonzero(times)
        idf = np.log1p((sessions - holding + 0.5) / (holding + 0.5))
        total += idf * (SESSION_K1 + 1) * times / (times + damping)
    scores = total[session].astype(np.float32)
    scores[~inside] = 0
    return scores
