"""A tool is about to be called: only a rule the user marked as hard has a say in it."""

from __future__ import annotations

from ...storage import hard_rules
from ..intake.event import Event
from ..rules import hard
from .desk import Desk, Seen


async def answer(desk: Desk, event: Event) -> Seen:
    """The hard rules that forbid the call."""
    marked = await desk.read(lambda connection: hard_rules.marked(connection, desk.caller.scope))
    return Seen(marks=tuple(hard.forbidding(marked, event)))
