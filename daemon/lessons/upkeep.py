"""What is done every hour about things learned: stale candidates rejected, old records dropped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from ...storage import (
    episodes,
    exposures,
    lessons,
    namespaces,
    outcomes,
    taken_events,
    task_checkpoints,
)
from ...storage.scope import Scope
from ...storage.timestamps import from_unix_ms
from ...storage.transaction import Transaction
from ..rules import promotion

STALE_DAYS: Final = 7
"""A candidate nobody has seen again for so long is rejected; seen again later it counts anew."""
RECORD_DAYS: Final = 90
"""Outcomes, episodes and exposures are kept so long; lessons and rules stay."""
CHECKPOINT_DAYS: Final = 14
"""A checkpoint read off a session that nobody came back to for so long; by-hand ones stay."""
EVENT_DAYS: Final = 30
"""Ids of events: a spool older than that is of no interest."""


def tidy(tx: Transaction, *, demote_unused: bool) -> None:
    """One round; `demote_unused` is the user's setting."""
    lessons.reject_stale(tx, _before(tx, STALE_DAYS))
    outcomes.expire(tx, _before(tx, RECORD_DAYS))
    episodes.expire(tx, _before(tx, RECORD_DAYS))
    exposures.expire(tx, _before(tx, RECORD_DAYS))
    task_checkpoints.expire(tx, _before(tx, CHECKPOINT_DAYS))
    taken_events.expire(tx, _before(tx, EVENT_DAYS))
    if demote_unused:
        everywhere = namespaces.names(tx.connection).values()
        if everywhere:
            before = _before(tx, promotion.UNUSED_DAYS)
            promotion.demote_unused(tx, Scope(everywhere), before)


def _before(tx: Transaction, days: int) -> str:
    when = datetime.fromisoformat(tx.now).astimezone(UTC) - timedelta(days=days)
    return from_unix_ms(int(when.timestamp() * 1000))
