"""The host has compacted the session's context: what it was shown before is gone from it."""

from __future__ import annotations

from ...storage import agent_sessions
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from .noted import UNSAID, Noted


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Everything may be shown again."""
    agent_sessions.refresh(tx, caller.namespace, event.session)
    return UNSAID
