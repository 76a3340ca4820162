"""Two tables side by side on every set: ranked by vectors alone, and with BM25."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recalld.daemon.embed.shipped.wordpiece import WordPiece

from . import lexical
from . import table as tables
from .bags import bagged
from .benchmarks import Benchmark, benchmarks
from .places import Places
from .teacher import Floats, times, unit

DENSE_SHARE = 1.23  # beside BM25 at 1, both scaled to a best of 1
BEST_TURNS = 3  # a session is as good as its best turns
WHOLE = 4000  # WordPieces of a text that count
Ranks = list[Floats]


@dataclass(frozen=True, slots=True)
class Contender:
    """A table under a name."""

    name: str
    rows: Floats


def similarities(benchmark: Benchmark, contender: Contender, words: WordPiece) -> Floats:
    """Cosines of every question with every text of its namespace, -1 elsewhere."""
    stored = bagged(words, benchmark.texts, longest=WHOLE)
    asked = bagged(
        words, [question.text for question in benchmark.questions], damped=False, longest=WHOLE
    )
    cosines = unit(asked.sums(contender.rows)) @ unit(stored.sums(contender.rows)).T
    spaces = np.array(benchmark.spaces)
    own = np.array([question.space for question in benchmark.questions])[:, None] == spaces[None]
    return np.where(own, cosines, np.float32(-1))


def ranks(benchmark: Benchmark, scores: Floats) -> Ranks:
    """For each question the sorted ranks, from 0, of its answers."""
    if benchmark.groups is not None:
        scores = _by_group(scores, np.array(benchmark.groups))
    found: Ranks = []
    for row, question in zip(scores, benchmark.questions, strict=True):
        gold = np.array(sorted(question.gold))
        ahead = [int((row > row[at]).sum() + (row[:at] == row[at]).sum()) for at in gold]
        found.append(np.sort(np.array(ahead, np.float32)))
    return found


def _by_group(scores: Floats, groups: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    result = np.zeros((len(scores), int(groups.max()) + 1), np.float32)
    for group in np.unique(groups):
        best = -np.sort(-scores[:, groups == group], axis=1)[:, :BEST_TURNS]
        result[:, group] = best.sum(axis=1) / BEST_TURNS
    return result


def scaled(cosines: Floats) -> Floats:
    """Cosines so that the best text of a question has 1 and none is negative."""
    positive = np.maximum(cosines, 0)
    result: Floats = positive / np.maximum(positive.max(axis=1, keepdims=True), np.float32(1e-9))
    return result


def hit(rank: Floats, within: int) -> float:
    """Whether the first answer is among so many, as a percentage."""
    return 100.0 * float(rank[0] < within)


def reciprocal(rank: Floats) -> float:
    """The reciprocal rank of the first answer, as a percentage."""
    return 100.0 / (1.0 + float(rank[0]))


MEASURES: dict[str, Callable[[Floats], float]] = {
    "hit@1": lambda rank: hit(rank, 1),
    "hit@5": lambda rank: hit(rank, 5),
    "hit@10": lambda rank: hit(rank, 10),
    "MRR": reciprocal,
}


def compare(places: Places, contenders: Sequence[Contender]) -> None:
    """Print what every contender reaches, and the last one's lead over each other one."""
    pieces = WordPiece.read(str(places.vocabulary))
    for benchmark in benchmarks(places):
        print(f"\n{benchmark.name}: {len(benchmark.questions)} questions")
        words = lexical.scores(benchmark)
        _line("BM25", ranks(benchmark, words))
        rankings: dict[str, list[tuple[str, Ranks]]] = {"static": [], "hybrid": []}
        for contender in contenders:
            cosines = similarities(benchmark, contender, pieces)
            alone = ranks(benchmark, cosines)
            both = ranks(benchmark, words + times(scaled(cosines), DENSE_SHARE))
            rankings["static"].append((contender.name, alone))
            rankings["hybrid"].append((contender.name, both))
        for kind, found in rankings.items():
            for name, reached in found:
                _line(f"{kind} {name}", reached)
            for name, reached in found[:-1]:
                _lead(f"{kind} {found[-1][0]} - {name}", found[-1][1], reached)


def _line(label: str, reached: Ranks) -> None:
    cells = (
        f"{measure} {np.mean(list(map(of, reached))):5.1f}" for measure, of in MEASURES.items()
    )
    print(f"  {label:34}", "  ".join(cells))


def _lead(label: str, first: Ranks, second: Ranks) -> None:
    cells: list[str] = []
    for measure, of in MEASURES.items():
        gains = np.array([of(a) - of(b) for a, b in zip(first, second, strict=True)])
        error = gains.std(ddof=1) / len(gains) ** 0.5
        cells.append(f"{measure} {gains.mean():+5.1f}±{error:3.1f}")
    print(f"  {label:34}", "  ".join(cells))


def evaluate(places: Places, table: Path) -> None:
    """The start table against the new one, both used as the product uses a table."""
    contenders = [
        Contender("start", tables.load(places.start)),
        Contender("new", tables.load(table)),
    ]
    compare(places, contenders)
