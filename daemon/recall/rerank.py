"""The second ranking: the first hundred in an order that was learned from judged questions.

The first score is a weighted sum: the same weight whatever else is known. Trees see how signals
depend on each other (the best of many alike, a short text, a question without a rare word). They
were taught by scripts/train_ranking on notes and on chats with an assistant, and are not asked
where they know nothing or nothing better: see `places_of` and `is_exact`.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from .arrays import Floats, Longs
from .candidates import Candidates
from .evidence import NAMES, evidence
from .lexical import Statistics
from .query import Query
from .shelf import CONVERSATION
from .trees import Trees, Unusable

log = logging.getLogger("recalld.recall")

FIRST: Final = 100
"""Candidates looked at again: what answers is among them 97 times in 100."""
LONGEST_NOTE: Final = 180
"""Index tokens: 99 of 100 notes that the trees were taught about are no longer."""
FEW_WORDS: Final = 2
"""Up to so many words a question is a look-up."""
UNAVAILABLE: Final = "ranking_unavailable"
"""The trees could not be read; the first ranking stands."""
FILE: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights", "rerank.npz")
_IDENTIFIER = re.compile(
    r"\w+_\w"  # snake_case
    r"|\b[a-z]+[A-Z]"  # camelCase
    r"|\b(?:[A-Za-z]+\d|\d+[A-Za-z])"  # E4714, 3d
    r"|\b\d{3,}\b|\b[A-Z]{6,}\b"  # 5173, EADDRINUSE
    r"|\w[./:\\]+\w|(?<!\w)--?\w"  # a.py, a/b, a::b, --flag
)


class Reranker:
    """Applies the trees; without any it changes nothing."""

    def __init__(self, trees: Trees | None) -> None:
        self.trees = trees

    @classmethod
    def shipped(cls, path: str = FILE) -> Reranker:
        """With the trees that come with the install, as far as they can be read."""
        try:
            return cls(Trees.read(path, len(NAMES)))
        except Unusable as error:
            log.warning("the trees of the second ranking are unusable: %s", error)
            return cls(None)

    def gain(
        self,
        found: Candidates,
        stats: Statistics,
        query: Query,
        signals: Mapping[str, Floats],
        total: Floats,
    ) -> Floats:
        """What to add to the scores `total`. Candidates trade places, and with them scores: those
        that the trees know nothing of, and all beyond the first hundred, keep theirs.
        """
        gain = np.zeros(len(found), np.float32)
        if self.trees is None or is_exact(query):
            return gain
        places = places_of(found, total)
        seen = evidence(found, stats, query, signals, total, places)
        order = np.argsort(-(total[places] + self.trees.value(seen)), kind="stable")
        gain[places[order]] = total[places] - total[places[order]]
        return gain


def is_exact(query: Query) -> bool:
    """Whether the question says exactly what it is about: a phrase, a date, an identifier, a word
    or two.

    What has exactly that must come first, and the weighted sum sees to it. With trees the only note
    with the identifier fell behind others in one question of fourteen, the only one of the month in
    one of nine.
    """
    return bool(
        query.phrases
        or query.period is not None
        or len(query.words) <= FEW_WORDS
        or _IDENTIFIER.search(query.text)
    )


def places_of(found: Candidates, total: Floats) -> Longs:
    """Which of the first hundred the trees were taught about, best first: notes that are not long,
    and turns of a user or an assistant, that have their vector and whose length is at hand (see
    Unshelf).
    """
    is_note = found.kind != CONVERSATION
    taught = (is_note & (found.length <= LONGEST_NOTE)) | found.by_user | found.by_assistant
    known = taught & (found.length > 0) & ~found.pending
    first = np.argsort(-total, kind="stable")[:FIRST]
    places: Longs = first[known[first]]
    return places
