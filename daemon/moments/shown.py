"""How a memory looks where it is shown to an agent."""

from __future__ import annotations

from ...storage.memories import Memory
from ..injection.block import Item


def show(memory: Memory) -> Item:
    """The memory as an item of a block."""
    agent = memory.source.get("agent")
    source = agent if isinstance(agent, str) else "an earlier session"
    return Item(
        memory.ulid, memory.kind, memory.content, memory.created_at, source, memory.namespace
    )
