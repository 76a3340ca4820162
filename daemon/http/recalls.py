"""Routes that find memories: recall by meaning and words, search by words alone."""

from __future__ import annotations

import time
from datetime import datetime
from functools import partial

import apsw

from ...auth.errors import BlankQuery, DeadlineExceeded
from ...storage.reader import Reader
from ...storage.scope import Scope
from ..deadline import Deadline
from ..recall.request import RecallAnswer
from ..recall.request import RecallRequest as Question
from . import shapes
from .answers import Answer, reply
from .call import Call
from .schemas import RecallRequest, SearchRequest
from .search import Found, Wanted, find


async def recall(call: Call) -> Answer:
    """The memories that answer a question, best first."""
    begun = time.monotonic()
    answer = await recalled(call, call.body(RecallRequest))
    hits = [shapes.hit(hit.memory, hit.score, hit.why) for hit in answer.hits]
    return reply({"hits": hits, "degraded": list(answer.degraded), "took_ms": _since(begun)})


async def recalled(call: Call, request: RecallRequest) -> RecallAnswer:
    """Ask the pipeline, in whatever form the answer is to be told.

    Raises:
        BlankQuery, AccessDenied, Busy, DeadlineExceeded: as the routes answer them.
    """
    _check_query(request.query)
    scope = call.access.readable(request.namespaces)
    deadline = call.deadline(request.timeout_ms)
    try:
        pipeline = await call.services.retrieval.recall(deadline.remaining())
    except TimeoutError:
        raise DeadlineExceeded("Recall is still loading.", retry_after_ms=500) from None
    question = _question(request)
    return await call.read(
        lambda reader, limit: pipeline.recall(reader, scope, question, limit), deadline
    )


async def search(call: Call) -> Answer:
    """The memories in which every word of the query occurs, best first."""
    begun = time.monotonic()
    request = call.body(SearchRequest)
    _check_query(request.query)
    scope: Scope = call.access.readable(request.namespaces)
    wanted = Wanted(
        query=request.query,
        kinds=frozenset(request.kinds or ()),
        tags=frozenset(request.tags or ()),
        since=request.since,
        until=request.until,
        offset=request.offset,
        limit=request.limit,
    )
    found = await call.read(partial(_found, call, scope, wanted))
    hits = [shapes.hit(memory, score) for memory, score in found.hits]
    return reply({"hits": hits, "total": found.total, "took_ms": _since(begun)})


def _found(call: Call, scope: Scope, wanted: Wanted, reader: Reader, deadline: Deadline) -> Found:
    try:
        return find(reader.connection, scope, wanted, deadline)
    except apsw.CorruptError:
        call.services.retrieval.mend_words()
        raise


def _question(request: RecallRequest) -> Question:
    return Question(
        query=request.query,
        limit=request.limit,
        kinds=tuple(request.kinds or ()),
        tags=tuple(request.tags or ()),
        since=_unix_ms(request.since),
        until=_unix_ms(request.until),
        as_of=_unix_ms(request.as_of),
        budget=request.budget,
        explain=request.explain,
    )


def _check_query(query: str) -> None:
    if not query.strip():
        raise BlankQuery("The query is blank.", hint="Say what to look for, or list memories.")


def _unix_ms(text: str | None) -> int | None:
    return None if text is None else round(datetime.fromisoformat(text).timestamp() * 1000)


def _since(begun: float) -> float:
    return round((time.monotonic() - begun) * 1000, 2)
