"""Thin clients: discovery, SDK, command line, hooks.

`from recalld.client import Memory` is the SDK. Its names are loaded on first use: the command line
and hooks live in this package too and must not pay for httpx.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..auth.errors import RecalldError
    from .sdk.async_memory import AsyncMemory
    from .sdk.memory import Memory
    from .sdk.models import (
        Embedding,
        Entry,
        Found,
        Hit,
        NamespaceStats,
        Page,
        Recalled,
        Receipt,
        Status,
        Version,
    )

__all__ = [
    "AsyncMemory",
    "Embedding",
    "Entry",
    "Found",
    "Hit",
    "Memory",
    "NamespaceStats",
    "Page",
    "RecalldError",
    "Recalled",
    "Receipt",
    "Status",
    "Version",
]

_HOMES = {
    "AsyncMemory": ".sdk.async_memory",
    "Memory": ".sdk.memory",
    "RecalldError": "..auth.errors",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use; raises AttributeError for anything else."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, ".sdk.models"), __name__), name)
