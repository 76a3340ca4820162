"""Routes about what was learned from work: lessons, and the outcomes they come from."""

from __future__ import annotations

from ...storage import episodes, lessons, outcomes
from ...storage.lessons import Lesson
from ...storage.outcomes import Outcome
from ...storage.reader import Reader
from ..deadline import Deadline
from .answers import Answer, reply
from .call import Call
from .learning_requests import LearnedQuery


async def lessons_learned(call: Call) -> Answer:
    """Lessons, newest first: what failed, how it showed, what worked."""
    query = call.query(LearnedQuery)
    scope = call.access.readable(query.namespaces)
    found = await call.read(
        lambda reader, _: lessons.newest(reader.connection, scope, query.status, query.limit)
    )
    return reply({"lessons": [_lesson(one) for one in found]})


async def outcomes_seen(call: Call) -> Answer:
    """The latest outcomes and episodes, and what all of them add up to."""
    query = call.query(LearnedQuery)
    scope = call.access.readable(query.namespaces)

    def job(reader: Reader, _: Deadline) -> dict[str, object]:
        connection = reader.connection
        found = outcomes.newest(connection, scope, query.limit)
        closed = episodes.newest(connection, scope, query.limit)
        return {
            "outcomes": [_outcome(one) for one in found],
            "episodes": [one._asdict() for one in closed],
            "totals": outcomes.totals(connection, scope)._asdict(),
        }

    return reply(await call.read(job))


def _lesson(lesson: Lesson) -> dict[str, object]:
    return {
        "id": lesson.ulid,
        "failing": lesson.failing,
        "error": lesson.error,
        "fix": lesson.fix,
        "confidence": round(lesson.confidence, 2),
        "evidence": lesson.evidence,
        "severe": lesson.severe,
        "status": lesson.status,
        "rule": lesson.memory,
        "created_at": lesson.created_at,
        "updated_at": lesson.updated_at,
    }


def _outcome(outcome: Outcome) -> dict[str, object]:
    return {
        "session": outcome.session,
        "at": outcome.at,
        "kind": outcome.kind,
        "tool": outcome.tool,
        "attempt": outcome.attempt,
        "error": outcome.error,
        "test": outcome.test,
        "pending": outcome.pending,
        "fix": outcome.fix,
    }
