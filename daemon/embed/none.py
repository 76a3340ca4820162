"""The embedder of those who want keyword recall only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .protocol import VectorsUnavailable

if TYPE_CHECKING:
    from .protocol import Vectors

_REASON = "Vectors are switched off (embedder = 'none')."


class NoEmbedder:
    """Has no space and no vectors; every request for one raises VectorsUnavailable."""

    space = ""
    model = "none"
    dimension = 0
    prefix = ""
    batch = 1
    trouble = None
    close_reader = None

    def load(self) -> None:
        """Nothing to load."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Raise VectorsUnavailable."""
        raise VectorsUnavailable(_REASON)

    def query(self, text: str) -> Vectors:
        """Raise VectorsUnavailable."""
        raise VectorsUnavailable(_REASON)
