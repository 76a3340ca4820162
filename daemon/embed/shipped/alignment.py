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

from ..protocol import VectorsUnavailable

if TYPE_CHECKING:
    from ..protocol import Vectors

_WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights")
_FILE = "minilm_to_static.npy"
FROM, TO = 384, 256


class Alignment:
    """The map in `weights/`; safe to share between threads."""

    space = "aligned-b74304e5"

    def __init__(self, folder: str = _WEIGHTS) -> None:
        self._path = os.path.join(folder, _FILE)
        self._map: Vectors | None = None

    def load(self) -> None:
        """Read the map from disk (200 kB), once. Raises VectorsUnavailable."""
        self._loaded()

    def __call__(self, vector: Vectors) -> Vectors:
        """The unit vector, shape (256,), for one of shape (384,); zero for zero.

        Raises VectorsUnavailable.
        """
        import numpy as np

        turned = self._loaded()
        if not vector.any():
            return np.zeros(TO, np.float32)
        # The last row is the constant of the regression.
        moved: Vectors = vector @ turned[:-1] + turned[-1]
        unit: Vectors = (moved / np.sqrt(moved @ moved)).astype(np.float32)
        return unit

    def _loaded(self) -> Vectors:
        # Two threads may both read it: the second result is the same.
        if self._map is None:
            self._map = _read(self._path)
        return self._map


def _read(path: str) -> Vectors:
    import numpy as np

    try:
        with open(path, "rb") as file:
            stored: Vectors = np.load(file).astype(np.float32)
    except Exception as error:  # numpy has many for damage
        raise VectorsUnavailable(f"The alignment is unusable: {error}") from error
    if stored.shape != (FROM + 1, TO):
        raise VectorsUnavailable(f"The alignment is unusable: it has the shape {stored.shape}.")
    return stored
