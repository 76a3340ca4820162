"""Making something a rule by hand, putting one away, and putting unused ones away if asked to."""

from __future__ import annotations

from typing import Final

from ...auth.errors import Conflict
from ...storage import edits, lessons, memories, rules
from ...storage.faults import MissingRow
from ...storage.memories import Memory
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from ..lessons import learning
from . import preferences
from .selection import GROUPS

UNUSED_SESSIONS: Final = 20
"""Sessions a rule was relevant in without ever being cited before it counts as unused."""
UNUSED_DAYS: Final = 7


def promote(tx: Transaction, scope: Scope, ulid: str, *, by: str, only_own: bool) -> Memory:
    """Make a rule active again, or a rule of a lesson; `ulid` names either.

    Raises MissingRow, ForeignRow; Conflict for a memory that is no rule, or a lesson that names
    no fix.
    """
    lesson = lessons.find(tx.connection, scope, ulid)
    if lesson is None:
        memory = memories.get(tx.connection, scope, ulid)
        if memory.kind not in GROUPS:
            raise Conflict(
                f"A {memory.kind} is no rule.",
                hint=f"Change its kind first: recalld edit {ulid} --kind preference",
            )
        known = lessons.by_memory(tx.connection, Scope([memory.namespace]), ulid)
        if known is not None:
            lessons.change(tx, memory.namespace, known, {"status": "promoted"})
        return preferences.restore(tx, scope, ulid, by=by, only_own=only_own)
    namespace = home_of_lesson(tx, scope, ulid)
    made = learning.promote(tx, namespace, lesson, by=by, only_own=only_own)
    return memories.get(tx.connection, scope, made.memory or "")


def demote(tx: Transaction, scope: Scope, ulid: str, *, by: str, only_own: bool) -> Memory:
    """Put a rule away; `promote` brings it back. Raises MissingRow, or Conflict for no rule."""
    memory = memories.get(tx.connection, scope, ulid)
    if memory.kind not in GROUPS:
        raise Conflict(f"A {memory.kind} is no rule.", hint="Use: recalld forget")
    known = lessons.by_memory(tx.connection, Scope([memory.namespace]), ulid)
    if known is not None:
        lessons.change(tx, memory.namespace, known, {"status": "archived"})
    return edits.update(tx, scope, ulid, {"status": "archived"}, by=by, only_own=only_own)


def home_of(tx: Transaction, scope: Scope, ulid: str) -> str:
    """The namespace of a rule or lesson. Raises MissingRow."""
    memory = memories.find(tx.connection, scope, ulid)
    return home_of_lesson(tx, scope, ulid) if memory is None else memory.namespace


def home_of_lesson(tx: Transaction, scope: Scope, ulid: str) -> str:
    """The namespace of a lesson. Raises MissingRow."""
    for name in scope:
        if lessons.find(tx.connection, Scope([name]), ulid) is not None:
            return name
    raise MissingRow("There is no such rule.")


def demote_unused(tx: Transaction, scope: Scope, before: str) -> list[str]:
    """Put away rules stored before `before` that were relevant often enough and never cited."""
    found = rules.unused(tx.connection, scope, before=before, sessions=UNUSED_SESSIONS)
    for memory in found:
        demote(tx, scope, memory.ulid, by="auto-demotion", only_own=False)
    return [memory.ulid for memory in found]
