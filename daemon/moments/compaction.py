"""The host compacts the session's context: what it was shown before is gone from it.

Some hosts tell the beginning only, and Claude Code starts the session anew between the two.
"""

from __future__ import annotations

from ...storage import agent_sessions, exposures
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from .noted import UNSAID, Noted
from .session_start import STARTED


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Everything may be shown again, but for what the session was given since the beginning."""
    if event.kind == "pre_compact" or not _given_since(tx, caller, event):
        agent_sessions.refresh(tx, caller.namespace, event.session)
    return UNSAID


def _given_since(tx: Transaction, caller: Caller, event: Event) -> bool:
    known = agent_sessions.find(tx.connection, caller.home, event.session)
    if known is None or known.refreshed_at == known.started_at:
        return False
    return bool(exposures.present(tx.connection, caller.home, event.session, (STARTED,)))
