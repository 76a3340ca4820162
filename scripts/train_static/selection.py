"""Which texts the teacher reads, and which pairs are learned from."""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, cast

from .contamination import Benchmarked
from .places import Places

# Sentences in the main: that is what people store and ask. The first round comes first, so that
# a teacher who is stopped early has seen some of everything in it.
TEACHER_TEXTS = (
    {
        "docs": 10000,
        "docstring": 8000,
        "code": 5000,
        "wordnet": 7000,
        "dialogue": 8000,
        "readme": 4500,
        "man": 4000,
        "changes": 3500,
        "operation": 1000,
        "command": 1000,
    },
    {"docs": 8000, "docstring": 5000, "wordnet": 5000, "dialogue": 4000, "changes": 2000},
)
TEACHER_TITLES = 4000
PAIRS = {
    "python": 40000,
    "docs": 30000,
    "wordnet": 30000,
    "details": 20000,
    "typescript": 8000,
    "readme": 6000,
    "operation": 3500,
    "command": 3500,
    "man": 3000,
    "dialogue": 8000,
    "summary": 200,
}
MOST_ALIKE = 3  # titles that differ only in identifiers and numbers
HELD_OUT = 50  # one pair in so many is kept for validation


class Pair(NamedTuple):
    """A title with the beginning of what it stands above."""

    kind: str
    title: str
    body: str


_IDENTIFIER = re.compile(r"\b\w*(?:[a-z][A-Z]|\d|_)\w*\b")


def choose(places: Places) -> None:
    """Write the teacher's texts."""
    chance = random.Random(3)
    left = defaultdict[str, list[str]](list)
    for record in _records(places.texts):
        left[record["kind"]].append(record["text"])
    chosen: list[str] = []
    for number, quotas in enumerate(TEACHER_TEXTS):
        drawn: set[str] = set()
        for kind, count in quotas.items():
            drawn.update(chance.sample(left[kind], min(count, len(left[kind]))))
            left[kind] = [text for text in left[kind] if text not in drawn]
        if number == 0:
            titles = sorted({pair.title for pair in pairs(places) if len(pair.title.split()) >= 3})
            drawn.update(chance.sample(titles, min(TEACHER_TITLES, len(titles))))
        ordered = sorted(drawn.difference(chosen))
        chance.shuffle(ordered)
        chosen += ordered
    places.chosen.write_text("\n".join(chosen), encoding="utf-8")
    print(len(chosen), "texts for the teacher")


def pairs(places: Places) -> list[Pair]:
    """The pairs to learn from, shuffled, none of them in a set that is evaluated on."""
    chance = random.Random(4)
    by_kind = defaultdict[str, list[Pair]](list)
    alike: Counter[str] = Counter()
    benchmarked = Benchmarked(places.evaluated_code)
    dropped = 0
    for record in _shuffled(places.pairs, chance):
        pair = Pair(record["kind"], record["title"], record["body"])
        pattern = _IDENTIFIER.sub("#", pair.title)
        alike[pattern] += 1
        if alike[pattern] > MOST_ALIKE or len(by_kind[pair.kind]) >= PAIRS[pair.kind]:
            continue
        if benchmarked.holds(pair.title) or benchmarked.holds(pair.body):
            dropped += 1
        else:
            by_kind[pair.kind].append(pair)
    kept = [pair for kind in PAIRS for pair in by_kind[kind]]
    chance.shuffle(kept)
    sizes = Counter(pair.kind for pair in kept)
    print(f"{len(kept)} pairs, {dropped} dropped as part of a benchmark: {dict(sizes)}")
    return kept


def held_out(found: list[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Pairs for training and pairs for validation; all pairs of one title are on one side."""
    validating = {
        pair.title for pair in found if random.Random(pair.title).randrange(HELD_OUT) == 0
    }
    training = [pair for pair in found if pair.title not in validating]
    return training, [pair for pair in found if pair.title in validating]


def _records(path: Path) -> Iterable[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield cast("dict[str, str]", json.loads(line))


def _shuffled(path: Path, chance: random.Random) -> list[dict[str, str]]:
    records = list(_records(path))
    chance.shuffle(records)
    return records
