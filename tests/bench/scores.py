"""Figures of a ranking against gold, with the uncertainty that goes with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

CUTS = (1, 5, 10, 50)
_Z = 1.96


class Outcome(NamedTuple):
    """One question: how many answers it has, and their places (from 0) among the hits."""

    id: str
    group: str
    gold: int
    places: tuple[int, ...]

    def hit(self, cut: int) -> bool:
        """Whether any answer is among the first `cut`."""
        return any(place < cut for place in self.places)

    def recall(self, cut: int) -> float:
        """The share of its answers among the first `cut`."""
        return sum(place < cut for place in self.places) / self.gold if self.gold else 0.0

    def reciprocal(self) -> float:
        """One over the place of the first answer."""
        return 1 / (min(self.places) + 1) if self.places else 0.0

    def ndcg(self, cut: int = 10) -> float:
        """Normalised discounted cumulative gain."""
        gained = sum(1 / math.log2(place + 2) for place in self.places if place < cut)
        ideal = sum(1 / math.log2(place + 2) for place in range(min(self.gold, cut)))
        return gained / ideal if ideal else 0.0


class Scores(NamedTuple):
    """Averages over questions, 0 to 1; `hits` by cut."""

    questions: int
    hits: dict[int, float]
    recall10: float
    mrr: float
    ndcg10: float


def score(outcomes: Sequence[Outcome]) -> Scores:
    """The averages; MRR counts answers beyond the hits that were asked for as missed."""
    count = max(1, len(outcomes))
    return Scores(
        len(outcomes),
        {cut: sum(one.hit(cut) for one in outcomes) / count for cut in CUTS},
        sum(one.recall(10) for one in outcomes) / count,
        sum(one.reciprocal() for one in outcomes) / count,
        sum(one.ndcg() for one in outcomes) / count,
    )


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of `count` questions."""
    if count == 0:
        return 0.0, 1.0
    bent = share + _Z**2 / (2 * count)
    reach = _Z * math.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    scale = 1 + _Z**2 / count
    return (bent - reach) / scale, (bent + reach) / scale


class Paired(NamedTuple):
    """Questions that only this run, or only the other, answers in the first ten; and the chance
    of such a difference if both were alike (exact McNemar test).
    """

    won: int
    lost: int
    p: float


def mcnemar(ours: Iterable[Outcome], theirs: Iterable[Outcome], cut: int = 10) -> Paired:
    """Compare two runs question by question; questions that only one run has are left out."""
    before = {one.id: one.hit(cut) for one in theirs}
    pairs = [(one.hit(cut), before[one.id]) for one in ours if one.id in before]
    won = sum(now and not then for now, then in pairs)
    lost = sum(then and not now for now, then in pairs)
    return Paired(won, lost, _two_sided(won, lost))


def _two_sided(won: int, lost: int) -> float:
    tosses = won + lost
    tail = sum(math.comb(tosses, k) for k in range(min(won, lost) + 1)) / math.pow(2, tosses)
    return min(1.0, 2 * tail)
