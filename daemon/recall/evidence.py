"""What the trees of the second ranking look at: one row of numbers a candidate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .arrays import Floats, Longs
from .candidates import Candidates
from .lexical import Statistics
from .query import Query

SIGNALS = (
    "words",
    "session_words",
    "whole_session",
    "meaning",
    "session_meaning",
    "question",
    "length",
    "by_user",
)
"""Contributions to the first score that are looked at one by one."""
NAMES = (
    *SIGNALS,
    "score",
    "behind_best",
    "cosine",
    "word_share",
    "previous_words",
    "previous_cosine",
    "next_cosine",
    "log_length",
    "by_assistant",
    "terms",
    "best_word_share",
    "best_cosine",
)
"""The columns, in the order the trees know them by. The last three are of the question: a good
match means less beside better ones, and words mean more where they are rare."""


def evidence(
    found: Candidates,
    stats: Statistics,
    query: Query,
    signals: Mapping[str, Floats],
    total: Floats,
    chosen: Longs,
) -> Floats:
    """The numbers of the candidates at the places `chosen`, shape (len(chosen), len(NAMES))."""
    ideal = np.float32(stats.ideal() or 1.0)
    best_words, best_cosine = found.words.max(initial=0), found.similarity.max(initial=0)
    of_question = (len(query.words), best_words / ideal, best_cosine)
    score = total[chosen]
    columns = [
        *(signals[name][chosen] for name in SIGNALS),
        score,
        score - total.max(initial=0),
        found.similarity[chosen],
        found.words[chosen] / ideal,
        found.previous_words[chosen] / ideal,
        found.previous_similarity[chosen],
        found.next_similarity[chosen],
        np.log1p(found.length[chosen]),
        found.by_assistant[chosen],
        *(np.full(len(chosen), value) for value in of_question),
    ]
    return np.stack(columns, axis=1).astype(np.float32)
