"""The session is over: its last episode is closed, and open ends become a checkpoint."""

from __future__ import annotations

from ...storage import agent_sessions
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from . import open_ends
from .noted import UNSAID, Noted
from .stop import close_episode


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Close what is open."""
    close_episode(tx, caller, event)
    open_ends.leave(tx, caller, event)
    agent_sessions.end(tx, caller.namespace, event.session)
    return UNSAID
