"""Which embedder the settings ask for."""

from __future__ import annotations

from typing import Protocol

from .none import NoEmbedder
from .protocol import Embedder
from .static import StaticEmbedder


class EmbedderSettings(Protocol):
    """The part of the daemon's settings that decides."""

    @property
    def embedder(self) -> str:
        """`static` or `none`."""
        ...


def choose(settings: EmbedderSettings) -> Embedder:
    """The embedder the settings name, with its weights not loaded yet.

    Raises ValueError for a name that does not exist; settings refuse it earlier.
    """
    if settings.embedder == "static":
        return StaticEmbedder()
    if settings.embedder == "none":
        return NoEmbedder()
    raise ValueError(f"there is no embedder {settings.embedder!r}")
