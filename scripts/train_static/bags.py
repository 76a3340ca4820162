"""Texts as bags of WordPieces: their vectors under a table, and the way back for gradients."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from recalld.daemon.embed.shipped.wordpiece import WordPiece

from .teacher import Floats

Integers = npt.NDArray[np.int64]
LONGEST = 96  # WordPieces of a text that are learned from
PADDING = 0  # stands for a text without a known word


@dataclass(frozen=True, slots=True)
class Bags:
    """Many texts: their distinct rows one after another, a weight each, and where a text begins."""

    rows: Integers
    weights: Floats
    starts: Integers  # one more than there are texts

    def __len__(self) -> int:
        return len(self.starts) - 1

    def pick(self, texts: Integers) -> "Bags":
        """Some of the texts, in the order asked for."""
        sizes = self.starts[texts + 1] - self.starts[texts]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        shifts: Integers = np.repeat(self.starts[texts] - starts[:-1], sizes)
        at = shifts + np.arange(int(starts[-1]))
        return Bags(self.rows[at], self.weights[at], starts)

    def owners(self) -> Integers:
        """For each row, the text it belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def sums(self, table: Floats) -> Floats:
        """The weighted sum of each text's rows."""
        gathered = table[self.rows]
        gathered *= self.weights[:, None]
        sums: Floats = np.add.reduceat(gathered, self.starts[:-1], axis=0)
        return sums

    def back(self, gradient: Floats) -> tuple[Integers, Floats]:
        """The gradient of each row that occurs, from the gradient of each text's sum."""
        order = np.argsort(self.rows, kind="stable")
        rows, first = np.unique(self.rows[order], return_index=True)
        spread = gradient[self.owners()[order]]
        spread *= self.weights[order][:, None]
        return rows, np.add.reduceat(spread, first, axis=0)


def joined(first: Bags, second: Bags) -> Bags:
    """Two collections as one."""
    return Bags(
        np.concatenate([first.rows, second.rows]),
        np.concatenate([first.weights, second.weights]),
        np.concatenate([first.starts, second.starts[1:] + first.starts[-1]]),
    )


def bagged(
    words: WordPiece, texts: Iterable[str], *, damped: bool = True, longest: int = LONGEST
) -> Bags:
    """Bag the texts; `damped` weighs a row by the root of its count, as is done for stored text."""
    rows, weights, sizes = list[Integers](), list[Floats](), [0]
    for text in texts:
        found = np.array(words.ids(text, longest) or [PADDING], np.int64)
        distinct, counts = np.unique(found, return_counts=True)
        weight = (np.sqrt(counts) if damped else counts).astype(np.float32)
        rows.append(distinct)
        weights.append(weight / weight.sum())
        sizes.append(len(distinct))
    return Bags(np.concatenate(rows), np.concatenate(weights), np.cumsum(sizes))


def without_overlap(
    titles: Bags, bodies: Bags, chance: np.random.Generator, share: float, drop: float
) -> Bags:
    """Titles that lose, in a share of the pairs, rows their body has too.

    Makes the table find a body that says it in other words. Two rows at least stay.
    """
    owners = titles.owners()
    width = 1 + max(int(titles.rows.max()), int(bodies.rows.max()))
    both = np.isin(owners * width + titles.rows, bodies.owners() * width + bodies.rows)
    chosen = chance.random(len(titles)) < share
    lost = both & chosen[owners] & (chance.random(len(owners)) < drop)
    left = np.bincount(owners[~lost], minlength=len(titles))
    lost &= left[owners] >= 2
    return Bags(titles.rows, np.where(lost, np.float32(0), titles.weights), titles.starts)
