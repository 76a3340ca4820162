"""Hard-won solutions: what finally worked after at least two different ways had not.

They are active at once and nothing demotes them by itself: they cost somebody an afternoon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...storage import drafts
from ...storage.drafts import Draft
from ...storage.outcomes import Outcome
from ...storage.transaction import Transaction
from .pairing import Fix

LEAST_ATTEMPTS: Final = 2
MOST_TOLD: Final = 4
"""Failed attempts that are listed; the last ones were the best informed."""


def attempts(failures: Sequence[Outcome], taken: Sequence[str]) -> list[str]:
    """The distinct ways that were tried in vain: commands, and steps before the same command."""
    tried = [one.attempt for one in failures]
    return list(dict.fromkeys([*tried, *taken]))


def keep(
    tx: Transaction,
    namespace: str,
    failures: Sequence[Outcome],
    tried: Sequence[str],
    fix: Fix,
    *,
    goal: str,
    by: str,
) -> str:
    """Store the solution; returns its id. The goal is the prompt it was worked on for."""
    last = failures[-1]
    vain = [f"`{one}`" for one in tried if one != fix.text][-MOST_TOLD:]
    told = [
        f"What worked: `{fix.text}`",
        f"For: {last.error}",
        f"Tried before without success: {', '.join(vain)}",
    ]
    draft = Draft(
        namespace,
        "\n".join(told),
        kind="solution",
        detail=f"Goal: {goal}" if goal else None,
        tags=("solution",),
        importance=0.8,
        source={"session": last.session},
    )
    return drafts.insert(tx, draft, by=by).ulid
