"""Lessons grow from pairs of failure and fix: first a candidate, with enough evidence a rule.

A lesson names what fails and what works. One that cannot is never promoted, however often it is
seen: "check the command's syntax" helped nobody.
"""

from __future__ import annotations

from typing import Final

from ...auth.errors import Conflict
from ...storage import drafts, edits, lessons, memories
from ...storage.drafts import Draft
from ...storage.lessons import Lesson
from ...storage.outcomes import Outcome
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from . import failures
from .pairing import Fix

LEAST_CONFIDENCE: Final = 0.7
"""Below it a pair does not even make a candidate's evidence count."""
ENOUGH_EVIDENCE: Final = 2
ALIKE: Final = 0.6
"""Share of words two error lines must have in common to be the same trouble."""
REGAINED: Final = 0.2
"""Given back to a doubted lesson when its fix settles another failure: trust returns slowly."""
REGAINED_AGAIN: Final = 0.1
"""The same where the user had come back about the failure: the fix has disappointed once."""


def learn(
    tx: Transaction, namespace: str, failure: Outcome, fix: Fix, *, severe: bool, by: str
) -> Lesson | None:
    """Take one pair in: a new candidate, or more evidence for a lesson there is; maybe a rule.

    A fix that cannot be named or is too unsure teaches nothing.
    """
    if not fix.names or fix.confidence < LEAST_CONFIDENCE:
        return None
    known = _known(tx, namespace, failure, fix)
    if known is None:
        lesson = lessons.add(tx, namespace, _candidate(failure, fix, severe))
    else:
        # Seen again, a lesson that was given up or put away counts once more.
        again = "candidate" if known.status == "rejected" else known.status
        lesson = lessons.change(
            tx,
            namespace,
            known,
            {
                "evidence": known.evidence + 1,
                "confidence": _trust(known, failure, fix),
                "severe": known.severe or severe,
                "status": again,
            },
        )
    return promote(tx, namespace, lesson, by=by) if _is_ripe(lesson) else lesson


def is_doubted(lesson: Lesson) -> bool:
    """Whether the fix has disappointed; no lesson starts below the least confidence."""
    return lesson.confidence < LEAST_CONFIDENCE


def promote(
    tx: Transaction, namespace: str, lesson: Lesson, *, by: str, only_own: bool = False
) -> Lesson:
    """Make the lesson a rule, or bring its rule back.

    Raises Conflict for one that does not name the failing thing and the working fix, ForeignRow
    (`only_own`) when its rule was made under another grant.
    """
    if not (lesson.command_class and lesson.failing and lesson.error and lesson.fix):
        raise Conflict("The lesson does not say what fails and what works; it makes no rule.")
    scope = Scope([namespace])
    if lesson.memory is not None and memories.find(tx.connection, scope, lesson.memory):
        edits.update(tx, scope, lesson.memory, {"status": "active"}, by=by, only_own=only_own)
        return lessons.change(tx, namespace, lesson, {"status": "promoted"})
    draft = Draft(
        namespace,
        wording(lesson),
        kind="failure",
        tags=("lesson",),
        importance=0.7,
        evidence=lesson.evidence,
        source={"session": lesson.session, "lesson": lesson.ulid},
    )
    stored = drafts.insert(tx, draft, by=by)
    return lessons.change(tx, namespace, lesson, {"status": "promoted", "memory": stored.ulid})


def wording(lesson: Lesson) -> str:
    """The lesson as a fact: what fails, how it shows, and what worked instead."""
    return f"`{lesson.failing}` fails here: {lesson.error}\nWhat worked: `{lesson.fix}`"


def _is_ripe(lesson: Lesson) -> bool:
    """Whether it becomes a rule by itself; one the user archived does not come back that way."""
    enough = lesson.evidence >= ENOUGH_EVIDENCE or lesson.severe
    return lesson.status == "candidate" and enough and lesson.confidence >= LEAST_CONFIDENCE


def _trust(known: Lesson, failure: Outcome, fix: Fix) -> float:
    """The confidence of a lesson seen again."""
    if not is_doubted(known):
        return max(known.confidence, fix.confidence)
    regained = REGAINED_AGAIN if failure.reasked else REGAINED
    return round(min(known.confidence + regained, fix.confidence), 2)


def _known(tx: Transaction, namespace: str, failure: Outcome, fix: Fix) -> Lesson | None:
    """The lesson about the same failure with the same kind of fix, if there is one."""
    scope = Scope([namespace])
    exact = lessons.by_signature(tx.connection, scope, failure.signature)
    near = [
        one
        for one in lessons.by_class(tx.connection, scope, failure.command_class)
        if is_same(one.error, one.fix, failure.error, fix.text)
    ]
    same = [one for one in [*exact, *near] if one.fix_class == fix.command_class]
    # What is doubted is that very command, not all of its kind.
    return next((one for one in same if not is_doubted(one) or one.fix == fix.text), None)


def is_same(error: str, fix: str, other: str, other_fix: str) -> bool:
    """Whether two errors alike are one trouble: what they differ in is nothing that a fix names.

    "Cannot find module 'a'" and the same for b are two, where each was installed.
    """
    if failures.likeness(error, other) < ALIKE:
        return False
    differing = failures.words_of(error) ^ failures.words_of(other)
    return not differing & (failures.words_of(fix) | failures.words_of(other_fix))


def _candidate(failure: Outcome, fix: Fix, severe: bool) -> Lesson:
    return Lesson(
        ulid="",
        signature=failure.signature,
        command_class=failure.command_class,
        failing=failure.attempt,
        error=failure.error,
        fix=fix.text,
        fix_class=fix.command_class,
        confidence=fix.confidence,
        evidence=1,
        severe=severe,
        status="candidate",
        memory=None,
        session=failure.session,
        created_at="",
        updated_at="",
    )
