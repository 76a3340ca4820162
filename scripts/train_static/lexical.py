"""BM25 by SQLite's full text search, scaled so that a stray match of one word stays small."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import apsw
import numpy as np

from .benchmarks import Benchmark
from .teacher import Floats

HIGHEST = 2.2  # what a term that fills the text scores, in units of its rarity (k1 = 1.2)
SHARE_OF_BEST = 0.2  # a best match below this share of a perfect one is not scaled up to 1
_STOP_WORDS = """
a about above after again against all am an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further had has have
having he her here hers him his how i if in into is it its itself just me more most my no nor not
now of off on once only or other our ours out over own same she should so some such than that the
their theirs them then there these they this those through to too under until up very was we were
what when where which while who whom why will with would you your yours s t don didn doesn isn wasn
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:[-./:\\_][^\W_]+)*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_JOINT = re.compile(r"[-./:\\_]")


def terms(text: str) -> list[str]:
    """Words; identifiers, versions and paths by part and as a whole."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if word.isalpha() and (word.islower() or word[1:].islower()):
            found.append(word.lower())
            continue
        for piece in _JOINT.split(word):
            parts = _PART.findall(piece)
            found.append(piece.lower())
            found += [part.lower() for part in parts if len(parts) > 1]
        if len(whole := _JOINT.sub("", word)) < len(word):
            found.append(whole.lower())
    return found


def scores(benchmark: Benchmark) -> Floats:
    """One row a question, one column a text: 0 where no word matches, at most 1."""
    result = np.zeros((len(benchmark.questions), len(benchmark.texts)), np.float32)
    columns = defaultdict[str, list[int]](list)
    asked = defaultdict[str, list[int]](list)
    for column, space in enumerate(benchmark.spaces):
        columns[space].append(column)
    for row, question in enumerate(benchmark.questions):
        asked[question.space].append(row)
    for space, rows in asked.items():
        index = _Index(benchmark.texts[column] for column in columns[space])
        for row in rows:
            for position, score in index.search(benchmark.questions[row].text):
                result[row, columns[space][position]] = score
    return result


class _Index:
    def __init__(self, texts: Iterable[str]) -> None:
        self._db = apsw.Connection(":memory:")
        for name in ("stored", "asked"):
            self._db.execute(
                f"create virtual table {name} using fts5(body, tokenize='porter unicode61')"
            )
            self._db.execute(f"create virtual table {name}_terms using fts5vocab({name}, row)")
        with self._db:
            self._db.executemany(
                "insert into stored(rowid, body) values(?, ?)",
                ((position, " ".join(terms(text))) for position, text in enumerate(texts)),
            )
        self._size = self._number("select count(*) from stored")

    def search(self, question: str) -> Sequence[tuple[int, float]]:
        words = [word for word in dict.fromkeys(terms(question)) if word not in STOP_WORDS]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        found = [
            (int(str(position)), max(-float(str(score)), 1e-6))
            for position, score in self._db.execute(
                "select rowid, bm25(stored) from stored where stored match ?", (match,)
            )
        ]
        best = max((score for _, score in found), default=0.0)
        best = max(best, SHARE_OF_BEST * HIGHEST * self._rarity(words))
        return [(position, score / best) for position, score in found]

    def _rarity(self, words: Sequence[str]) -> float:
        """The summed rarity of the words as stemmed, as FTS5 counts it."""
        self._db.execute("delete from asked")
        self._db.execute("insert into asked(body) values(?)", (" ".join(words),))
        total = 0.0
        for (stem,) in self._db.execute("select term from asked_terms").fetchall():
            count = self._number(
                "select coalesce(max(doc), 0) from stored_terms where term = ?", str(stem)
            )
            total += max(math.log((self._size - count + 0.5) / (count + 0.5)), 1e-6)
        return total

    def _number(self, query: str, *values: str) -> int:
        return int(str(self._db.execute(query, values).get))
