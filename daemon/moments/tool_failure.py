"""A tool call failed: if the fix for this very failure is known, now is the moment to show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import apsw

from ...storage import exposures, lessons
from ...storage.lessons import Lesson
from ...storage.memories import Memory
from ...storage.outcomes import Outcome
from ...storage.transaction import Transaction
from ..caller import Caller
from ..injection.block import Item
from ..intake.event import Event
from ..lessons import failures, learning, recording
from ..lessons.attempts import Attempt, attempt
from ..recall.request import Hit, RecallRequest
from . import relevance
from .desk import NOTHING, Desk, Seen
from .noted import UNSAID, Noted
from .shown import show

if TYPE_CHECKING:
    from ..recall.pipeline import Recall  # numpy: 165 ms the first answer need not wait for

MOST_SHOWN = 2
HEADING = "Known about this failure"
KINDS = ("failure", "solution", "correction", "devops", "project-knowledge")


async def answer(desk: Desk, event: Event) -> Seen:
    """The fix of the lesson about this failure, else memories about such an error."""
    made = attempt(event)
    if failures.is_noise(event, made):
        return NOTHING
    line = failures.telling(event.error)
    known = await desk.read(lambda connection: _known(connection, desk.caller, event, made, line))
    if known is not None:
        return known
    question = f"{made.command_class} {line}"

    def judge(connection: apsw.Connection, pipeline: Recall, hits: list[Hit]) -> Seen:
        shown = _shown(connection, desk.caller, event)
        fitting = relevance.relevant(pipeline, question, hits)
        about = [hit.memory for hit in fitting if _is_about(hit.memory, made, line)]
        fresh = [show(memory) for memory in about if memory.ulid not in shown]
        return Seen(tuple(fresh[:MOST_SHOWN]), HEADING)

    request = RecallRequest(question, limit=MOST_SHOWN + 3, kinds=KINDS)
    return await desk.recall(request, judge) or NOTHING


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """The failure waits for its fix."""
    recording.failed(tx, caller, event)
    return UNSAID


def owed(
    connection: apsw.Connection, caller: Caller, event: Event, failed: Sequence[Outcome]
) -> tuple[Item, ...]:
    """The known fixes of failures that wait, where the session was not told at the failure: Cursor
    and Kiro take nothing then, and a spooled failure is answered by nobody.
    """
    found = [
        _item(lesson)
        for one in reversed(failed)
        for lesson in _lessons(connection, caller, one.signature, one.command_class, one.error)
    ]
    shown = _shown(connection, caller, event)
    fresh = {item.id: item for item in found if item.id not in shown}
    return tuple(fresh.values())[:MOST_SHOWN]


def _known(
    connection: apsw.Connection, caller: Caller, event: Event, made: Attempt, line: str
) -> Seen | None:
    """What lessons say; an empty answer when the session was told already, None for none."""
    signature = failures.signature(made, line)
    found = _lessons(connection, caller, signature, made.command_class, line)
    if not found:
        return None
    shown = _shown(connection, caller, event)
    items = [item for item in map(_item, found) if item.id not in shown]
    return Seen(tuple(items[:MOST_SHOWN]), HEADING)


def _lessons(
    connection: apsw.Connection, caller: Caller, signature: str, command_class: str, line: str
) -> list[Lesson]:
    """Lessons about this failure: of the same signature, else same command and a like error."""
    exact = _trusted(lessons.by_signature(connection, caller.scope, signature))
    if exact:
        return exact
    near = _trusted(lessons.by_class(connection, caller.scope, command_class))
    return [one for one in near if failures.likeness(one.error, line) >= learning.ALIKE]


def _is_about(memory: Memory, made: Attempt, line: str) -> bool:
    """Whether a memory that reads alike is about this failure: an error has many neighbours.

    What lessons and solutions know was looked for by command and error already.
    """
    if "lesson" in memory.source or ("session" in memory.source and "solution" in memory.tags):
        return False
    if memory.kind not in {"failure", "solution"}:
        return True
    told = [memory.content, *memory.content.splitlines()]
    alike = any(failures.likeness(one, line) >= learning.ALIKE for one in told)
    named = rf"(?<![\w-]){re.escape(made.command_class)}(?![\w-])"
    return alike or bool(made.command_class and re.search(named, memory.content))


def _trusted(found: Iterable[Lesson]) -> list[Lesson]:
    """Candidates count too: seen once, for exactly this failure, is better than nothing."""
    return [
        one
        for one in found
        if one.status in {"candidate", "promoted"} and one.confidence >= learning.LEAST_CONFIDENCE
    ]


def _item(lesson: Lesson) -> Item:
    times = "once" if lesson.evidence == 1 else f"{lesson.evidence} times"
    text = f"{learning.wording(lesson)}\nSeen {times}."
    name = lesson.memory if lesson.status == "promoted" and lesson.memory else lesson.ulid
    return Item(name, "lesson", text, lesson.updated_at, "earlier sessions", "this project")


def _shown(connection: apsw.Connection, caller: Caller, event: Event) -> frozenset[str]:
    """What was shown beside a failure or a prompt. Rules loaded at the start do not count: next to
    the error they are read.
    """
    return exposures.present(connection, caller.home, event.session, ("injected",))
