"""Made-up memories with the word statistics of real ones: a few common words, many rare ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

SYLLABLES = (
    "ba be bi bo da de di do fa fe ka ke ko la le lo ma me mi na ne no ra re ri sa se ta te to"
)
PLACES = ("the build", "the deploy job", "the parser", "the login page", "the cache", "the worker")
DEEDS = ("fails with", "needs", "was moved to", "must not use", "depends on", "is slower than")
VOCABULARY = 8_000
SEED = 20


def _vocabulary(chance: random.Random) -> list[str]:
    syllables = SYLLABLES.split()
    return ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(VOCABULARY)]


def texts(count: int, seed: int = SEED) -> Iterator[str]:
    """`count` texts of 12 to 40 words; the same seed gives the same texts."""
    chance = random.Random(seed)
    words = _vocabulary(random.Random(SEED))
    for n in range(count):
        # Squaring a uniform number favours the front of the list, as real text favours few words.
        tail = [words[int(chance.random() ** 2 * VOCABULARY)] for _ in range(chance.randint(8, 36))]
        yield f"{chance.choice(PLACES)} {chance.choice(DEEDS)} {' '.join(tail)} case {n}"


def queries(count: int, seed: int = SEED + 1) -> list[str]:
    """`count` queries of two to five words that occur in the texts."""
    chance = random.Random(seed)
    words = _vocabulary(random.Random(SEED))
    made: list[str] = []
    for _ in range(count):
        picked = [
            words[int(chance.random() ** 2 * VOCABULARY)] for _ in range(chance.randint(1, 4))
        ]
        made.append(f"{chance.choice(PLACES)} {' '.join(picked)}")
    return made
