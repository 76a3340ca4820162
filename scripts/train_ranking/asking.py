"""Questions put to recall in this process, with any trees, and what the trees got to see."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np
from recalld.daemon.deadline import Deadline
from recalld.daemon.embed.none import NoEmbedder
from recalld.daemon.embed.protocol import Embedder
from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder
from recalld.daemon.embed.standing import Standing
from recalld.daemon.recall.arrays import Flags, Floats
from recalld.daemon.recall.candidates import Candidates
from recalld.daemon.recall.evidence import evidence
from recalld.daemon.recall.lexical import Statistics
from recalld.daemon.recall.pipeline import Recall
from recalld.daemon.recall.query import Query
from recalld.daemon.recall.request import RecallRequest
from recalld.daemon.recall.rerank import Reranker, is_exact, places_of
from recalld.storage import vectors
from recalld.storage.engine import Store
from recalld.storage.reader import Reader
from recalld.storage.scope import Scope

from tests.bench.judged import Judged, Question
from tests.bench.scores import Outcome
from tests.harness.waiting import eventually

from .stores import Filled

_DEPTH = 100
_SECONDS = 600.0


class Example(NamedTuple):
    """The candidates of one question that may trade places: what is seen of them, their first
    scores, and which of them answer it.
    """

    seen: Floats
    score: Floats
    right: Flags


class _Recorder(Reranker):
    """Keeps what it was shown last."""

    shown: tuple[list[int], Floats, Floats] | None = None

    def gain(
        self,
        found: Candidates,
        stats: Statistics,
        query: Query,
        signals: Mapping[str, Floats],
        total: Floats,
    ) -> Floats:
        self.shown = None
        places = places_of(found, total)
        if len(places) and not is_exact(query):
            seen = evidence(found, stats, query, signals, total, places)
            self.shown = found.rid[places].tolist(), seen, total[places]
        return super().gain(found, stats, query, signals, total)


class _Sizes:
    matrix_bytes = 1 << 30


class Asked:
    """One set under recall."""

    def __init__(
        self, judged: Judged, filled: Filled, recall: Recall, reader: Reader, recorder: _Recorder
    ) -> None:
        self._judged, self._filled = judged, filled
        self._recall, self._reader, self._recorder = recall, reader, recorder
        self._answers: dict[int, list[str]] = {}
        with reader.until(Deadline.after(_SECONDS).at) as connection:
            for rid, ulid in connection.execute("SELECT rid, ulid FROM memories"):
                self._answers[rid] = filled.answers.get(ulid, [])
        first = {question.namespace: question for question in judged.questions}
        for namespace, question in first.items():
            # Large namespaces are brought into memory in the background.
            self._ask(question)
            in_memory = partial(recall.shelf, namespace)
            eventually(in_memory, within=60, what="a shelf")

    def example(self, question: Question) -> Example | None:
        """What the trees see of a question's candidates; None if they are not asked."""
        self._recorder.trees = None
        self._ask(question)
        if self._recorder.shown is None:
            return None
        rids, seen, score = self._recorder.shown
        right = [not question.gold.isdisjoint(self._answers.get(rid, ())) for rid in rids]
        return Example(seen, score, np.array(right, np.bool_))

    def outcome(self, question: Question, reranker: Reranker) -> Outcome:
        """How a question fares with other trees, or none."""
        self._recorder.trees = reranker.trees
        named = self._filled.answers
        ids = self._ask(question)
        ranked = list(dict.fromkeys(answer for one in ids for answer in named.get(one, ())))
        places = tuple(at for at, answer in enumerate(ranked) if answer in question.gold)
        return Outcome(question.id, question.group, len(question.gold), places)

    def _ask(self, question: Question) -> list[str]:
        deadline = Deadline.after(_SECONDS)
        request = RecallRequest(question.text[:4000], limit=_DEPTH)
        with self._reader.until(deadline.at):
            answer = self._recall.recall(
                self._reader, Scope([question.namespace]), request, deadline
            )
        return [hit.memory.ulid for hit in answer.hits]


@contextmanager
def asked(judged: Judged, filled: Filled, *, with_vectors: bool) -> Generator[Asked]:
    """The set with the default embedder, or as if there were none."""
    store = Store.open(str(filled.path), signer=lambda digest: digest * 2)
    reader = store.reader()
    recorder = _Recorder(None)
    recall = Recall(store, _standing(reader, with_vectors), _Sizes(), rerank=recorder)
    try:
        yield Asked(judged, filled, recall, reader, recorder)
    finally:
        recall.close()
        reader.close()
        store.close()


def _standing(reader: Reader, with_vectors: bool) -> Standing:
    embedder: Embedder = NoEmbedder()
    if not with_vectors:
        return Standing(embedder, "")
    layered = Layered(StaticEmbedder(), MiniLm(), Alignment())
    layered.load()
    layered.close_reader.load()
    with reader.until(Deadline.after(_SECONDS).at) as connection:
        return Standing(layered, vectors.spaces(connection)[-1].name)
