"""Which rules a session is given: whole ones, the most useful first, within a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import apsw

from ...storage import rules
from ...storage.rules import Rule
from ...storage.scope import Scope
from ..injection import block
from ..injection.block import Item
from ..recall.budget import tokens_of

BUDGET: Final = 2_000
"""Tokens a session's rules may take if nobody says otherwise."""
GROUPS: Final = {
    "correction": "corrections",
    "solution": "solutions",
    "preference": "preferences",
    "devops": "devops",
    "failure": "failures",
}
"""Kinds in the order they are filled in, with their names in the counts."""
MOST_OF: Final[Mapping[str, int]] = {"failure": 3}
HEADING: Final = (
    "Rules recorded for this project. Work that follows one names it as [recalld:ID]; "
    "those marked replaced no longer hold."
)
_PER_ITEM: Final = 32
"""Tokens of the line above each item: id, kind, date, source, namespace."""
_AROUND: Final = 90
"""Tokens of heading, preamble and tags."""


class Selection(NamedTuple):
    """The rules that were chosen, their block, and how many of each kind there are in all.

    `counts` has the number shown of each group, their `total` and how many were `dropped`.
    """

    rules: tuple[Rule, ...]
    text: str
    counts: Mapping[str, int]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the rules in the block."""
        return tuple(rule.memory.ulid for rule in self.rules)


def select(
    connection: apsw.Connection,
    scope: Scope,
    budget: int = BUDGET,
    *,
    before: Iterable[Item] = (),
    heading: str = HEADING,
) -> Selection:
    """The rules of the scope for a budget of tokens; `before` are items that come first.

    Of each kind the most cited come first, then the newest; an item that does not fit is left out
    whole and smaller ones behind it still have their chance.
    """
    first = list(before)
    room = budget - _AROUND - sum(_cost(item.content) for item in first)
    chosen: list[Rule] = []
    existing = 0
    for kind in GROUPS:
        existing += rules.count(connection, scope, kind)
        fitting = _fitting(rules.candidates(connection, scope, kind), room, MOST_OF.get(kind))
        room -= sum(_cost(rule.memory.content) for rule in fitting)
        chosen += fitting
    return _rendered(first, chosen, existing, heading)


def item(rule: Rule) -> Item:
    """The rule as it is shown."""
    memory = rule.memory
    agent = memory.source.get("agent")
    source = agent if isinstance(agent, str) else "this project"
    return Item(
        memory.ulid, memory.kind, memory.content, memory.created_at, source, memory.namespace
    )


def _fitting(found: Iterable[Rule], room: int, most: int | None) -> list[Rule]:
    kept: list[Rule] = []
    for rule in found:
        cost = _cost(rule.memory.content)
        if cost <= room and (most is None or len(kept) < most):
            kept.append(rule)
            room -= cost
    return kept


def _cost(content: str) -> int:
    return tokens_of(content) + _PER_ITEM


def _rendered(first: list[Item], chosen: list[Rule], existing: int, heading: str) -> Selection:
    shown = block.render(
        [*first, *map(item, chosen)], heading=heading, unshown=existing - len(chosen)
    )
    present = set(shown.ids)
    kept = tuple(rule for rule in chosen if rule.memory.ulid in present)
    counts = dict.fromkeys(GROUPS.values(), 0)
    for rule in kept:
        counts[GROUPS[rule.memory.kind]] += 1
    counts["total"] = len(kept)
    counts["dropped"] = existing - len(kept)
    return Selection(kept, shown.text, counts)
