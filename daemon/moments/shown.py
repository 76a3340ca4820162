"""How a memory looks where it is shown to an agent."""

from __future__ import annotations

from ...storage.memories import Memory, spoken
from ..injection.block import Item


def show(memory: Memory) -> Item:
    """The memory as an item of a block: of a turn who said it, and each with its own date."""
    agent = memory.source.get("agent") or spoken(memory)["speaker"]
    source = agent if isinstance(agent, str) else "an earlier session"
    at = memory.observed_at or memory.created_at
    return Item(memory.ulid, memory.kind, memory.content, at, source, memory.namespace)
