"""Fine-tuning the table: pairs pulled together, and similarities as the teacher sees them.

One epoch of InfoNCE on title/body pairs. Beside each batch of pairs stands a batch of texts whose
matrix of similarities has to look like the teacher's: that keeps what pairs say nothing about.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from recalld.daemon.embed.shipped.wordpiece import WordPiece

from . import table as tables
from .bags import Bags, Integers, bagged, joined, without_overlap
from .contamination import Benchmarked
from .places import Places
from .selection import Pair, held_out, pairs
from .teacher import Floats, times, unit


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that can be turned."""

    batch: int = 512
    rate: float = 0.04  # of the start table's root mean square
    sharpness: float = 0.05  # temperature of InfoNCE
    teacher_sharpness: float = 0.1
    teacher_weight: float = 6.0
    neighbourhoods: int = 400  # of the teacher's texts; a batch is drawn from a few of them
    from_each: int = 64
    overlap_share: float = 0.6
    overlap_drop: float = 0.7
    mixed: float = 0.8  # share of the result, the rest is the start table
    seed: int = 0


class Taught(NamedTuple):
    """Texts with the teacher's vectors, and which of them are near one another."""

    bags: Bags
    vectors: Floats
    near: list[Integers]


class Paired(NamedTuple):
    """Titles with their bodies."""

    titles: Bags
    bodies: Bags
    kinds: Sequence[str]


class Adam:
    """Adam that moves only the rows that occurred."""

    def __init__(self, table: Floats, rate: float, steps: int) -> None:
        self._mean, self._square = np.zeros_like(table), np.zeros_like(table)
        self._rate, self._steps, self._step = rate * float(np.sqrt((table**2).mean())), steps, 0

    def move(self, table: Floats, rows: Integers, gradient: Floats) -> None:
        """One step, after a short warm-up and with the rate falling to nothing."""
        self._step += 1
        rate = self._rate * min(1.0, self._step / 20) * (1 - self._step / (self._steps + 1))
        mean = self._mean[rows] = 0.9 * self._mean[rows] + 0.1 * gradient
        square = self._square[rows] = 0.98 * self._square[rows] + 0.02 * gradient**2
        table[rows] -= np.float32(rate) * mean / (np.sqrt(square) + 1e-8)


def fine_tuned(start: Floats, paired: Paired, taught: Taught, recipe: Recipe) -> Floats:
    """The start table after one epoch over the pairs."""
    chance = np.random.default_rng(recipe.seed)
    order = chance.permutation(len(paired.kinds))
    batches = np.array_split(order, len(order) // recipe.batch)
    table, adam = start.copy(), Adam(start, recipe.rate, len(batches))
    began = time.monotonic()
    for number, batch in enumerate(batches):
        titles, bodies = paired.titles.pick(batch), paired.bodies.pick(batch)
        titles = without_overlap(titles, bodies, chance, recipe.overlap_share, recipe.overlap_drop)
        both = joined(titles, bodies)
        loss, slope = _contrast(both.sums(table), recipe.sharpness)
        texts = _near_texts(taught, recipe, chance)
        learned = taught.bags.pick(texts)
        matched = _match(learned.sums(table), taught.vectors[texts], recipe)
        everything = joined(both, learned)
        adam.move(table, *everything.back(np.concatenate([slope, matched])))
        if number % 50 == 0:
            seconds = time.monotonic() - began
            print(f"step {number} of {len(batches)}, loss {loss:.3f}, {seconds:.0f} s")
    return times(table, recipe.mixed) + times(start, 1 - recipe.mixed)


def _contrast(sums: Floats, sharpness: float) -> tuple[float, Floats]:
    """InfoNCE in both directions; first half titles, second half bodies."""
    units, half = unit(sums), len(sums) // 2
    titles, bodies = units[:half], units[half:]
    scores = titles @ bodies.T / np.float32(sharpness)
    by_title, by_body = _softmax(scores), _softmax(scores.T).T
    loss = float(-np.log(np.maximum(np.diag(by_title), 1e-9)).mean())
    slope = times(by_title + by_body, 0.5)
    slope[np.arange(half), np.arange(half)] -= 1
    slope /= half * sharpness
    pulled: Floats = np.concatenate([slope @ bodies, slope.T @ titles])
    return loss, _through_norm(sums, units, pulled)


def _match(sums: Floats, wanted: Floats, recipe: Recipe) -> Floats:
    """How to move so that each text's neighbours are weighed as the teacher weighs them."""
    units = unit(sums)
    sharpness = recipe.teacher_sharpness
    gap = _neighbours(units, sharpness) - _neighbours(wanted, sharpness)
    slope = times(gap, recipe.teacher_weight / (len(sums) * sharpness))
    pulled: Floats = np.add(slope, slope.T) @ units
    return _through_norm(sums, units, pulled)


def _neighbours(units: Floats, sharpness: float) -> Floats:
    """How each text spreads its attention over all others."""
    scores = units @ units.T / np.float32(sharpness)
    np.fill_diagonal(scores, -1e4)
    return _softmax(scores)


def _softmax(scores: Floats) -> Floats:
    raised: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def _through_norm(sums: Floats, units: Floats, slope: Floats) -> Floats:
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    along = (slope * units).sum(axis=1, keepdims=True)
    through: Floats = (slope - units * along) / lengths
    return through


def _near_texts(taught: Taught, recipe: Recipe, chance: np.random.Generator) -> Integers:
    count = recipe.batch // recipe.from_each
    drawn = list[Integers]()
    for _ in range(count):
        group = taught.near[int(chance.integers(0, len(taught.near)))]
        drawn.append(group[chance.integers(0, len(group), recipe.from_each)])
    return np.concatenate(drawn)


def neighbourhoods(vectors: Floats, recipe: Recipe) -> list[Integers]:
    """The texts by the nearest of some texts drawn at random; tiny groups are left out."""
    chance = np.random.default_rng(recipe.seed)
    centres = vectors[chance.choice(len(vectors), recipe.neighbourhoods, replace=False)]
    parts: list[Floats] = np.array_split(vectors, max(1, len(vectors) // 8192))
    nearest: list[Integers] = [(part @ centres.T).argmax(axis=1) for part in parts]
    by_centre = np.concatenate(nearest)
    groups = [np.nonzero(by_centre == centre)[0] for centre in range(recipe.neighbourhoods)]
    return [group for group in groups if len(group) >= 32]


def taught_texts(places: Places, words: WordPiece, recipe: Recipe) -> Taught:
    """What the teacher got through, less what is part of a benchmark."""
    vectors = unit(np.load(places.teacher).astype(np.float32))
    texts = places.chosen.read_text(encoding="utf-8").split("\n")[: len(vectors)]
    benchmarked = Benchmarked(places.evaluated_code)
    kept = [at for at, text in enumerate(texts) if not benchmarked.holds(text)]
    print(f"{len(kept)} texts with the teacher's vectors, {len(texts) - len(kept)} left out")
    bags = bagged(words, [texts[at] for at in kept])
    return Taught(bags, vectors[kept], neighbourhoods(vectors[kept], recipe))


def paired_bags(words: WordPiece, found: Sequence[Pair]) -> Paired:
    """The pairs as bags."""
    return Paired(
        bagged(words, [pair.title for pair in found]),
        bagged(words, [pair.body for pair in found]),
        [pair.kind for pair in found],
    )


def validation(table: Floats, paired: Paired, *, overlap: bool = True) -> dict[str, float]:
    """For each kind, the mean reciprocal rank of a title's body among 500 bodies of its kind.

    Without `overlap`, titles first lose what their body says in the same words.
    """
    titles = paired.titles
    if not overlap:
        titles = without_overlap(titles, paired.bodies, np.random.default_rng(0), 1.0, 1.0)
    asked, bodies = unit(titles.sums(table)), unit(paired.bodies.sums(table))
    kinds = np.array(paired.kinds)
    ranks: dict[str, float] = {}
    for kind in sorted(set(paired.kinds)):
        at = np.nonzero(kinds == kind)[0][:500]
        scores = asked[at] @ bodies[at].T
        better = (scores > np.diag(scores)[:, None]).sum(axis=1)
        ranks[kind] = round(100 * float((1 / (1 + better)).mean()), 1)
    return ranks


def train(places: Places, recipe: Recipe) -> None:
    """Train, validate on pairs that were kept back, and write the table."""
    words = WordPiece.read(str(places.vocabulary))
    training, validating = held_out(pairs(places))
    start = tables.load(places.start)
    taught = taught_texts(places, words, recipe)
    result = fine_tuned(start, paired_bags(words, training), taught, recipe)
    kept_back = paired_bags(words, validating)
    for overlap in (True, False):
        print("words in common" if overlap else "no word in common")
        print("  start table", validation(start, kept_back, overlap=overlap))
        print("  trained    ", validation(result, kept_back, overlap=overlap))
    tables.save(places.table, result, pairs=len(training), texts=len(taught.bags))
