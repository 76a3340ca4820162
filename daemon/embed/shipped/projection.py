"""From what a word piece means in its text, 384 numbers of MiniLM, to the 128 bytes that are kept.

The first 128 principal axes of such states, see scripts/train_static/projection.py. On LOCOMO,
where turns are compared piece by piece, they lose nothing against all 384 (hit@10 .890 and .887);
64 lose .4 points.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .matrix import WEIGHTS, Matrix

if TYPE_CHECKING:
    from ..protocol import Pieces, Vectors

_FILE = "minilm_pieces.npy"
_DIGEST = "ea995798"
FROM, TO = 384, 128


class Projection:
    """The axes in `weights/`; safe to share between threads."""

    space = f"pieces-{_DIGEST}"

    def __init__(self, folder: str = WEIGHTS) -> None:
        self._axes = Matrix(os.path.join(folder, _FILE), _DIGEST, "The projection")

    def load(self) -> None:
        """Read the axes from disk (100 kB), once. Raises VectorsUnavailable."""
        self._axes()

    def __call__(self, states: Vectors) -> Pieces:
        """(n, 384) to 8-bit integers (n, 128), 127 times the unit vectors.

        Raises VectorsUnavailable.
        """
        import numpy as np

        seen = states @ self._axes()
        lengths = np.sqrt(np.square(seen).sum(axis=1, keepdims=True))
        kept: Pieces = np.rint(127 * seen / np.maximum(lengths, 1e-6)).astype(np.int8)
        return kept
