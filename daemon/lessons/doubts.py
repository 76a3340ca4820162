"""Taking back what was learned too soon: the fix failed itself, or the user says it fixed nothing.

Nothing is removed. A lesson loses confidence and that piece of evidence; below the least it is no
longer shown, and its rule is put away until the fix has proved itself again. A solution of the
session is put away at once.
"""

from __future__ import annotations

from typing import Final

from ...storage import edits, lessons, memories, rules
from ...storage.faults import ForeignRow
from ...storage.lessons import Lesson
from ...storage.outcomes import Outcome
from ...storage.transaction import Transaction
from ..caller import Caller
from . import commands, failures, learning
from .attempts import Attempt

DOUBT: Final = 0.3
"""Taken off the confidence each time."""


def fix_failed(tx: Transaction, caller: Caller, session: str, made: Attempt, line: str) -> None:
    """A fix of this session failed with the error it was for: it was none.

    That what failed before fails again (without the option that is the fix) says nothing.
    """
    for lesson in lessons.by_fix(tx.connection, caller.home, made.command_class, session):
        again = made.text == lesson.failing != lesson.fix
        if not again and failures.likeness(lesson.error, line) >= learning.ALIKE:
            _doubt(tx, caller, lesson)


def refute(tx: Transaction, caller: Caller, failure: Outcome) -> None:
    """The user came back about a failure that counted as fixed: neither lesson nor solution."""
    fix = failure.fix or ""
    exact = lessons.by_signature(tx.connection, caller.home, failure.signature)
    near = [
        one
        for one in lessons.by_class(tx.connection, caller.home, failure.command_class)
        if failures.likeness(one.error, failure.error) >= learning.ALIKE
    ]
    for lesson in {one.ulid: one for one in [*exact, *near]}.values():
        if lesson.fix == fix or lesson.fix_class in commands.classes(fix):
            _doubt(tx, caller, lesson)
    for rule in rules.candidates(tx.connection, caller.home, "solution"):
        of_session = rule.memory.source.get("session") == failure.session
        if of_session and f"`{fix}`" in rule.memory.content.splitlines()[0]:
            _put_away(tx, caller, rule.memory.ulid)


def _doubt(tx: Transaction, caller: Caller, lesson: Lesson) -> None:
    less = round(max(0.0, lesson.confidence - DOUBT), 2)
    changes: dict[str, object] = {"confidence": less, "evidence": max(0, lesson.evidence - 1)}
    if less < learning.LEAST_CONFIDENCE and lesson.status == "promoted" and lesson.memory:
        _put_away(tx, caller, lesson.memory)
        changes["status"] = "candidate"
    lessons.change(tx, caller.namespace, lesson, changes)


def _put_away(tx: Transaction, caller: Caller, ulid: str) -> None:
    """Archive the rule, unless it is another grant's or gone: a doubt is no reason to fail."""
    if memories.find(tx.connection, caller.home, ulid) is None:
        return
    try:
        edits.update(
            tx, caller.home, ulid, {"status": "archived"}, by=caller.by, only_own=caller.only_own
        )
    except ForeignRow:
        return
