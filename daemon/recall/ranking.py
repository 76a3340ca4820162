"""From candidates to hits: score, score the first anew, order, read, thin out, cut."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

import apsw
import numpy as np

from ...storage.memories import fetch
from ...storage.scope import Scope
from . import budget, explain, past, phrases
from .arrays import Floats, Longs
from .diversity import Distinct
from .fusion import fuse
from .late_interaction import Compared
from .query import Query
from .question import READING_UNAVAILABLE
from .request import MOST_HITS, Hit, RecallRequest
from .rerank import Reranker
from .rescoring import priors
from .search import Found

log = logging.getLogger("recalld.recall")
# Rows read at once when equal texts have left gaps.
_LEAST_READ = 8


def ranked(
    connection: apsw.Connection,
    scope: Scope,
    request: RecallRequest,
    query: Query,
    found: Found,
    now_ms: int,
    rerank: Reranker,
) -> list[Hit]:
    """The hits of a request, best first."""
    if not len(found.candidates):
        return []
    signals = fuse(found.candidates, found.statistics, query)
    signals |= priors(found.candidates, query.period, now_ms)
    if found.compared is not None:
        signals["pieces"] = _by_pieces(connection, found, found.compared, query, signals)
    total = _sum(signals)
    signals["learned"] = rerank.gain(found.candidates, found.statistics, query, signals, total)
    total = total + signals["learned"]
    order = np.argsort(-total, kind="stable")
    limit = max(1, min(request.limit, MOST_HITS))
    wide = max(limit, phrases.LOOKED_AT) if query.phrases else limit
    placed = _read(connection, scope, found.candidates.rid[order], total[order], wide)
    if found.is_read:
        cosines = found.candidates.similarity[order]
        placed = {at: replace(hit, closeness=float(cosines[at])) for at, hit in placed.items()}
    if request.explain:
        placed = {
            at: replace(hit, why=explain.contributions(signals, int(order[at])))
            for at, hit in placed.items()
        }
    hits = list(placed.values())
    if query.phrases:
        hits = phrases.lifted(hits, query.phrases)
    hits = hits[:limit]
    if request.as_of is not None:
        hits = [_then(connection, scope, hit, request.as_of) for hit in hits]
    return hits if request.budget is None else budget.pack(hits, request.budget)


def _by_pieces(
    connection: apsw.Connection,
    found: Found,
    compared: Compared,
    query: Query,
    signals: Mapping[str, Floats],
) -> Floats:
    """What comparing piece by piece adds to the scores; nothing if it cannot be done."""
    closer = found.candidates
    try:
        closer = compared.sharpened(connection, closer, _sum(signals))
    except apsw.Error as error:
        log.warning("turns were not compared piece by piece: %s", error)
        found.degraded.add(READING_UNAVAILABLE)
    if closer is found.candidates:  # nothing was compared, as among notes
        return np.zeros(len(closer), np.float32)
    anew = fuse(closer, found.statistics, query)
    return _sum({name: signal - signals[name] for name, signal in anew.items()})


def _sum(signals: Mapping[str, Floats]) -> Floats:
    total: Floats = np.stack(list(signals.values())).sum(axis=0)
    return total


def _read(
    connection: apsw.Connection, scope: Scope, rids: Longs, scores: Floats, wanted: int
) -> dict[int, Hit]:
    """The first `wanted` distinct hits by their place in `rids`; what is gone by now is skipped."""
    kept: dict[int, Hit] = {}
    distinct = Distinct()
    first = 0
    while len(kept) < wanted and first < len(rids):
        last = first + max(wanted - len(kept), _LEAST_READ)
        part = rids[first:last].tolist()
        memories = fetch(connection, scope, part)
        for at, rid in enumerate(part, first):
            memory = memories.get(rid)
            if memory is not None and len(kept) < wanted and distinct.admits(memory):
                kept[at] = Hit(memory, round(float(scores[at]), 4))
        first = last
    return kept


def _then(connection: apsw.Connection, scope: Scope, hit: Hit, at_ms: int) -> Hit:
    return replace(hit, memory=past.as_it_was(connection, scope, hit.memory, at_ms))
