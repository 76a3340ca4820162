"""What recording an event came to, as far as somebody should be told."""

from __future__ import annotations

from typing import NamedTuple

from ..injection.block import Item


class Noted(NamedTuple):
    """Items for the agent, before all others, a line for the person, and the memories retired."""

    items: tuple[Item, ...] = ()
    notice: str | None = None
    retired: tuple[str, ...] = ()


UNSAID = Noted()
