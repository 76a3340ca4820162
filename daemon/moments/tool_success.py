"""A tool call worked: perhaps it is the fix of what failed before."""

from __future__ import annotations

from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.event import Event
from ..lessons import recording
from .noted import UNSAID, Noted


def record(tx: Transaction, caller: Caller, event: Event) -> Noted:
    """Pair it with the failures that wait."""
    recording.succeeded(tx, caller, event)
    return UNSAID
