"""Hard-won solutions: what finally worked after at least two different ways had not.

They are active at once and nothing demotes them by itself: they cost somebody an afternoon.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...storage import drafts, rules
from ...storage.drafts import Draft
from ...storage.memories import Memory
from ...storage.outcomes import Outcome
from ...storage.scope import Scope
from ...storage.transaction import Transaction
from ..rules import merging
from . import learning
from .pairing import Fix

LEAST_ATTEMPTS: Final = 2
_WORKED: Final = "What worked: "
_FOR: Final = "For: "
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
    """Store the solution, or count it on one there is; returns its id.

    The goal is the prompt it was worked on for.
    """
    last = failures[-1]
    known = _known(tx, namespace, last, fix)
    vain = [f"`{one}`" for one in tried if one != fix.text][-MOST_TOLD:]
    told = [
        f"{_WORKED}`{fix.text}`",
        f"{_FOR}{last.error}",
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
    if known is not None:
        return drafts.merge(tx, known, draft, by=by, only_own=True).ulid
    return drafts.insert(tx, draft, by=by).ulid


def _known(tx: Transaction, namespace: str, failure: Outcome, fix: Fix) -> Memory | None:
    """The solution that says the same of the same trouble, whatever was tried before."""
    for rule in rules.candidates(tx.connection, Scope([namespace]), "solution"):
        worked, _, rest = rule.memory.content.partition("\n")
        told = rest.split("\n", 1)[0].removeprefix(_FOR)
        same = merging.folded(worked) == merging.folded(f"{_WORKED}`{fix.text}`")
        if same and learning.is_same(told, fix.text, failure.error, fix.text):
            return rule.memory
    return None
