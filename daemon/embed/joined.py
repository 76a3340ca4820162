"""Two embedders as one: their vectors side by side, each with its share of the cosine.

The static table knows the words of engineering texts, MiniLM what sentences mean; together they
beat either one on every judged set, and one longer vector needs no second search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .protocol import Embedder

if TYPE_CHECKING:
    from .protocol import Vectors


class Joined:
    """`shares` are weights of the two cosines, in the order of the embedders; they sum up to 1."""

    trouble = None

    def __init__(self, one: Embedder, other: Embedder, shares: tuple[float, float]) -> None:
        self._parts = ((one, shares[0] ** 0.5), (other, shares[1] ** 0.5))
        self.space = f"{one.space}*{shares[0]:g}+{other.space}*{shares[1]:g}"
        self.model = f"{one.model}+{other.model}"
        self.dimension = one.dimension + other.dimension
        self.prefix = one.prefix
        self.batch = min(one.batch, other.batch)

    def load(self) -> None:
        """Load both. Raises VectorsUnavailable."""
        for part, _ in self._parts:
            part.load()

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of documents, of length 1 unless a part is zero. Raises VectorsUnavailable."""
        import numpy as np

        made = [part.documents(texts) * np.float32(share) for part, share in self._parts]
        return np.concatenate(made, axis=1)

    def query(self, text: str) -> Vectors:
        """The vector of a question. Raises VectorsUnavailable."""
        import numpy as np

        made = [part.query(text) * np.float32(share) for part, share in self._parts]
        return np.concatenate(made)
