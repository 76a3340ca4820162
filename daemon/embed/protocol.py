"""What the rest of the daemon needs from an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]


class VectorsUnavailable(Exception):
    """The embedder cannot give vectors now; `str()` says why in one sentence."""


class Embedder(Protocol):
    """Turns texts into vectors of one space; safe to call from several threads.

    `space`, `model`, `dimension` and `prefix` together are the identity of the space: vectors of
    two different ones are never compared. Making an embedder is cheap; weights are loaded by
    `load`, or by the first call that needs them.
    """

    @property
    def space(self) -> str:
        """The name of the space in the store; changes whenever the vectors would."""
        ...

    @property
    def model(self) -> str:
        """The model's public name, for status."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers per vector; 0 if this embedder never gives any."""
        ...

    @property
    def prefix(self) -> str:
        """What is put before every document."""
        ...

    def load(self) -> None:
        """Load the weights now. Raises VectorsUnavailable."""
        ...

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (zero for a text without a known word), shape (len(texts), dimension).

        Raises VectorsUnavailable.
        """
        ...

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,). Raises VectorsUnavailable."""
        ...
