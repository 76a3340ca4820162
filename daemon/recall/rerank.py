"""The second ranking: the first hundred in an order that was learned from judged questions.

The first score is a weighted sum: the same weight whatever else is known. Trees see how signals
depend on each other (the best of many alike, a short text, a question without a rare word). They
were taught by scripts/train_ranking on notes and on chats with an assistant, and held back where
they know nothing: turns of people with one another, and rows whose texts were not at hand.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Final

import numpy as np

from .arrays import Flags, Floats
from .candidates import Candidates
from .evidence import NAMES, evidence
from .lexical import Statistics
from .query import Query
from .shelf import CONVERSATION
from .trees import Trees, Unusable

log = logging.getLogger("recalld.recall")

FIRST: Final = 100
"""Candidates looked at again: what answers is among them 97 times in 100."""
UNAVAILABLE: Final = "ranking_unavailable"
"""The trees could not be read; the first ranking stands."""
FILE: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights", "rerank.npz")


class Reranker:
    """Applies the trees; without any it changes nothing."""

    def __init__(self, trees: Trees | None) -> None:
        self.trees = trees

    @classmethod
    def shipped(cls, path: str = FILE) -> Reranker:
        """With the trees that come with the install, as far as they can be read."""
        try:
            trees = Trees.read(path, len(NAMES))
        except Unusable as error:
            log.warning("the trees of the second ranking are unusable: %s", error)
            return cls(None)
        return cls(trees)

    def gain(
        self,
        found: Candidates,
        stats: Statistics,
        query: Query,
        signals: Mapping[str, Floats],
        total: Floats,
    ) -> Floats:
        """What to add to the scores `total`: 0 or more for the first hundred, 0 for all others.

        The least of the hundred get nothing, so that none of them falls behind those that were
        not looked at.
        """
        gain = np.zeros(len(found), np.float32)
        chosen = np.argsort(-total, kind="stable")[:FIRST]
        known = _known(found)[chosen]
        if self.trees is None or not known.any():
            return gain
        seen = evidence(found, stats, query, signals, total, chosen)
        value = np.where(known, self.trees.value(seen), np.float32(0))
        gain[chosen] = value - value.min()
        return gain


def _known(found: Candidates) -> Flags:
    """Notes, and turns of a user or an assistant, if their length is known (see Unshelf)."""
    taught = (found.kind != CONVERSATION) | found.by_user | found.by_assistant
    known: Flags = taught & (found.length > 0)
    return known
