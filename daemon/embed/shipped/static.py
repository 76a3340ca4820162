"""The default embedder: one vector per word piece, added up; numpy only, nothing to download.

Recipe (measured on code search, notes and conversations, see the retrieval study): a document is
the sum over its distinct pieces of sqrt(count) x row, so that a word repeated in boilerplate does
not drown the rest; a question is the plain sum; both are scaled to length 1. A question takes about
0.1 ms, a document 0.05 ms; the table takes 8 MB of memory.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..protocol import VectorsUnavailable
from .wordpiece import WordPiece

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..protocol import Vectors

_WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights")
# Beyond this many pieces more text no longer moves the sum; 64 KiB of text would be 16,000.
_LONGEST_DOCUMENT = 4096
_LONGEST_QUERY = 512


class _Table:
    """The loaded weights: int8 rows, one scale a row, and the vocabulary they belong to."""

    def __init__(self, folder: str) -> None:
        import numpy as np  # 165 ms: only when vectors are first wanted

        path = os.path.join(folder, "static_minilm_256_int8.npz")
        # Opened here: numpy leaves a file open that turns out to be broken.
        with open(path, "rb") as file, np.load(file) as stored:
            self.rows: npt.NDArray[np.int8] = stored["q"]
            self.scales: npt.NDArray[np.float32] = stored["s"].astype(np.float32).reshape(-1)
        self.words = WordPiece.read(os.path.join(folder, "vocab.txt"))

    def total(self, ids: Sequence[int], weights: npt.NDArray[np.float32]) -> Vectors:
        """The weighted sum of rows, scaled to length 1; zero if there is nothing to add."""
        import numpy as np

        at = np.asarray(ids, dtype=np.intp)
        summed = ((weights * self.scales[at]) @ self.rows[at].astype(np.float32)).astype(np.float32)
        length = float(np.sqrt(summed @ summed)) or 1.0
        unit: Vectors = (summed / length).astype(np.float32)
        return unit


class StaticEmbedder:
    """The 256-dimensional table shipped in `weights/`; see its NOTICE for where it comes from."""

    space = "static-minilm-256-sqrt-c9ba5440"
    model = "static-minilm-256"
    dimension = 256
    prefix = ""
    batch = 64
    trouble = None
    close_reader = None

    def __init__(self, folder: str = _WEIGHTS) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._table: _Table | None = None

    def load(self) -> None:
        """Read the table from disk (about 30 ms), once. Raises VectorsUnavailable."""
        self._loaded()

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of documents, shape (len(texts), 256). Raises VectorsUnavailable."""
        import numpy as np

        table = self._loaded()
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            counts = Counter(table.words.ids(text, _LONGEST_DOCUMENT))
            if counts:
                weights = np.sqrt(np.fromiter(counts.values(), np.float32, len(counts)))
                out[row] = table.total(list(counts), weights)
        return out

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (256,). Raises VectorsUnavailable."""
        import numpy as np

        table = self._loaded()
        ids = table.words.ids(text, _LONGEST_QUERY)
        if not ids:
            return np.zeros(self.dimension, dtype=np.float32)
        return table.total(ids, np.ones(len(ids), dtype=np.float32))

    def _loaded(self) -> _Table:
        table = self._table
        if table is not None:
            return table
        # A worker may ask while the backlog thread is still loading: it waits, rather than load
        # the weights a second time.
        with self._loading:
            if self._table is None:
                self._table = _read(self._folder)
            return self._table


def _read(folder: str) -> _Table:
    try:
        return _Table(folder)
    except Exception as error:  # zipfile, zlib and numpy each have their own for damage
        raise VectorsUnavailable(f"The static weights are unusable: {error}") from error
