"""From raw signals to one score: each scaled to the best candidate's 1, weighted, added up.

Weighted sums of max-scaled signals beat reciprocal rank fusion by 4 to 5 MRR points in the study.
There is one set of weights for all kinds of memories; a set tuned on conversations alone lost up
to 24 points elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Longs
from .candidates import Candidates
from .lexical import Statistics
from .query import Query


class Weights(NamedTuple):
    """How much each signal counts, once scaled to at most about 1."""

    words: float = 0.5
    session_words: float = 0.7
    whole_session: float = 0.2
    next_words: float = 0.1
    meaning: float = 0.85
    session_meaning: float = 0.15
    speaker: float = 0.5
    time_words: float = 0.1
    number: float = 0.1
    question: float = -0.15
    length: float = 0.05
    by_user: float = 0.3


WEIGHTS = Weights()
LEAST_MATCH = 0.4
"""The best word match counts in full only from this share of the ideal one on, below it by the
square of what it reaches: a stray common word must not pass for a lexical hit. The best match of
nine paraphrases in ten is below .15, of nine LOCOMO questions in ten above .19. Against the plain
share at .3 paraphrases gain 7 points of hit@5, code search 1 of hit@10, and no set loses beyond
chance (p > .5); at .5 LOCOMO and longmemeval lose 1."""
SESSION_BEST = 3
"""A session counts by the mean of its best so many turns."""


def fuse(
    found: Candidates, stats: Statistics, query: Query, weights: Weights = WEIGHTS
) -> dict[str, Floats]:
    """The contribution of every signal to every candidate's score, by the signal's name."""
    best = _best_match(_top(found.words), stats)
    words, next_words = _scaled(found.words, best), _scaled(found.next_words, best)
    meaning = _meaning(found, words)
    whole_session = _scaled(found.session_words, _top(found.session_words))
    # A lone row has no session to speak for it: its own evidence takes that place, so that a
    # perfect note and a perfect turn of a perfect session score alike.
    lone = np.float32(lone_factor(weights))
    own = np.where(found.session < 0, lone, np.float32(1)).astype(np.float32)
    return {
        "words": weights.words * own * words,
        "session_words": weights.session_words * own * session_mean(words, found.session),
        "whole_session": weights.whole_session * whole_session,
        "next_words": weights.next_words * next_words,
        "meaning": weights.meaning * own * meaning,
        "session_meaning": weights.session_meaning * own * session_mean(meaning, found.session),
        **_turn_signals(found, query, weights),
    }


def _best_match(top: float, stats: Statistics) -> float:
    """What word scores are divided by when the best of them is `top`: more for a poor match."""
    enough = LEAST_MATCH * stats.ideal()
    return enough * enough / top if 0 < top < enough else top


def _meaning(found: Candidates, words: Floats) -> Floats:
    """The similarities, scaled; a row whose vector is still to come is taken to mean as much as it
    says, or anything with a vector would be ahead of what was just stored.
    """
    top = _top(found.similarity)
    meaning = _scaled(np.maximum(found.similarity, 0), top)
    return np.where(found.pending, words, meaning) if top > 0 else meaning


def _scaled(signal: Floats, best: float) -> Floats:
    return signal / np.float32(max(best, 1e-6))


def session_mean(signal: Floats, session: Longs) -> Floats:
    """Per element: the best `SESSION_BEST` values of its session, added up, over that number."""
    if not len(signal):
        return signal
    order = np.lexsort((-signal, session))
    grouped = session[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(grouped)) + 1])
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    best = np.where(rank < SESSION_BEST, signal[order], np.float32(0))
    means = np.add.reduceat(best, starts) / SESSION_BEST
    out = np.empty_like(signal)
    out[order] = np.repeat(means, sizes)
    return out


def _turn_signals(found: Candidates, query: Query, weights: Weights) -> dict[str, Floats]:
    time_words, number, questions, length = found.facts.T
    return {
        "speaker": weights.speaker * found.named.astype(np.float32),
        "time_words": weights.time_words * query.asks_when * time_words,
        "number": weights.number * query.asks_count * number,
        "question": weights.question * questions,
        "length": weights.length * length,
        "by_user": weights.by_user * found.by_user.astype(np.float32),
    }


def lone_factor(weights: Weights) -> float:
    """By how much a lone row's evidence is raised to equal a turn's with its session's."""
    in_session = weights.words + weights.session_words + weights.meaning + weights.session_meaning
    alone = (
        weights.words
        + weights.session_words / SESSION_BEST
        + weights.meaning
        + weights.session_meaning / SESSION_BEST
    )
    return in_session / alone if alone else 1.0


def _top(signal: Floats) -> float:
    return float(signal.max(initial=0.0))
