"""From a vector of MiniLM to the one the static table would have for the same text, in one product.

The table's memories can so be asked by a transformer that has read the question as a sentence. On
the development sets that beats the table's own reading of the question on most: MRR on LOCOMO
.650 against .631, longmemeval .670 against .634, code search .454 against .418. The map is a ridge
regression over the texts the table was taught with (scripts/train_static/alignment.py), moved a
little towards notes and questions that share no word with them (tuning.py there): paraphrases it
was not taught with go from .81 to .86 (hit@5, without the second ranking), everything else stays.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .matrix import WEIGHTS, Matrix

if TYPE_CHECKING:
    from ..protocol import Vectors

_FILE = "minilm_to_static.npy"
_DIGEST = "b74304e5"
TO = 256


class Alignment:
    """The map in `weights/`; safe to share between threads."""

    space = f"aligned-{_DIGEST}"

    def __init__(self, folder: str = WEIGHTS) -> None:
        self._map = Matrix(os.path.join(folder, _FILE), _DIGEST, "The alignment")

    def load(self) -> None:
        """Read the map from disk (200 kB), once. Raises VectorsUnavailable."""
        self._map()

    def __call__(self, vector: Vectors) -> Vectors:
        """The unit vector, shape (256,), for one of shape (384,); zero for zero.

        Raises VectorsUnavailable.
        """
        import numpy as np

        turned = self._map()
        if not vector.any():
            return np.zeros(TO, np.float32)
        # The last row is the constant of the regression.
        moved: Vectors = vector @ turned[:-1] + turned[-1]
        unit: Vectors = (moved / np.sqrt(moved @ moved)).astype(np.float32)
        return unit
