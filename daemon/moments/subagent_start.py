"""A sub-agent begins, with an empty context of its own: it gets the rules."""

from __future__ import annotations

from ..intake.event import Event
from ..rules import selection
from .desk import Desk, Seen

BUDGET = 1_000
"""Tokens: half of a session's, for a task that is a part of it."""


async def answer(desk: Desk, event: Event) -> Seen:
    """The most useful rules; a checkpoint is the main agent's business."""
    chosen = await desk.read(
        lambda connection: selection.select(connection, desk.caller.scope, BUDGET)
    )
    return Seen(
        items=tuple(map(selection.item, chosen.rules)),
        heading=selection.HEADING,
        how="loaded",
        unshown=chosen.counts["dropped"],
    )
