"""The floor of retrieval: BM25 by SQLite's full-text search with our analyser, nothing else."""

from __future__ import annotations

from collections import defaultdict

import apsw
from recalld.daemon.recall.query import STOP_WORDS
from recalld.storage.analyser import index_text, tokens

from tests.bench.judged import Item, Judged
from tests.bench.scores import Outcome

DEPTH = 100


def outcomes(judged: Judged) -> list[Outcome]:
    """Every question answered by words alone."""
    indexes = _indexes(judged.items)
    found: list[Outcome] = []
    for question in judged.questions:
        words = [w for w in dict.fromkeys(tokens(question.text)) if w not in STOP_WORDS]
        ranked = _ranked(*indexes[question.namespace], words) if words else []
        places = tuple(at for at, answer in enumerate(ranked) if answer in question.gold)
        found.append(Outcome(question.id, question.group, len(question.gold), places))
    return found


def _indexes(items: list[Item]) -> dict[str, tuple[apsw.Connection, list[str]]]:
    grouped: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        grouped[item.namespace].append(item)
    made: dict[str, tuple[apsw.Connection, list[str]]] = {}
    for namespace, members in grouped.items():
        connection = apsw.Connection(":memory:")
        connection.execute("CREATE VIRTUAL TABLE f USING fts5(t, tokenize='porter unicode61')")
        connection.executemany(
            "INSERT INTO f(rowid, t) VALUES (?, ?)",
            ((at, index_text(item.text)) for at, item in enumerate(members, 1)),
        )
        made[namespace] = connection, [item.answers for item in members]
    return made


def _ranked(connection: apsw.Connection, answers: list[str], words: list[str]) -> list[str]:
    """What the best rows answer, each answer at its first row's place."""
    rows = connection.execute(
        "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?",
        (" OR ".join(f'"{word}"' for word in words), DEPTH),
    )
    return list(dict.fromkeys(answers[int(rowid) - 1] for (rowid,) in rows))
