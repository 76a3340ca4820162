"""What the rest of the daemon needs from an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Pieces = npt.NDArray[np.int8]


class VectorsUnavailable(Exception):
    """The embedder cannot give vectors now; `str()` says why in one sentence."""


class TextRefused(VectorsUnavailable):
    """The provider refuses this text, and would again; `str()` says so in one sentence."""


class Read(NamedTuple):
    """What close reading makes of a text: its unit vector, shape (dimension,), and for texts that
    can be compared piece by piece what each word piece means in it, shape (pieces, 128).
    """

    vector: Vectors
    pieces: Pieces | None = None


class CloseReader(Protocol):
    """Makes better vectors for the space of another embedder, in a hundred times the time.

    Safe to call from several threads.
    """

    @property
    def is_thorough(self) -> bool:
        """Whether turns of conversations and all questions are read, not only what needs it."""
        ...

    @property
    def is_ready(self) -> bool:
        """Whether the weights are loaded."""
        ...

    def load(self) -> None:
        """Load the weights now. Raises VectorsUnavailable."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why the weights could not be loaded, in one sentence; None if they were or were not
        wanted yet.
        """
        ...

    def document(self, text: str, *, is_turn: bool) -> Read:
        """A note or a turn. Raises VectorsUnavailable."""
        ...

    def query(self, text: str) -> Read:
        """A question. Raises VectorsUnavailable."""
        ...


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
        """Numbers per vector; 0 if it never gives any, or not loaded and only the model knows."""
        ...

    @property
    def prefix(self) -> str:
        """What is put before every document."""
        ...

    @property
    def batch(self) -> int:
        """Texts to give `documents` at once: what it does in a second or so."""
        ...

    @property
    def close_reader(self) -> CloseReader | None:
        """What reads memories once more when there is time for it."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why questions are not embedded just now, in one sentence; None while they are."""
        ...

    def load(self) -> None:
        """Load the weights now. Raises VectorsUnavailable."""
        ...

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (zero for a text without a known word), shape (len(texts), dimension).

        Raises VectorsUnavailable; TextRefused if one of the texts is to blame.
        """
        ...

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,). Raises VectorsUnavailable."""
        ...
