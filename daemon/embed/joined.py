"""Two embedders as one: their vectors side by side, both asked by the transformer's reading.

The static table knows the words of engineering texts and keeps its head in long ones, MiniLM what
sentences mean; together they beat either one on every judged set, and one longer vector needs no
second search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from .alignment import Alignment
from .protocol import Embedder

if TYPE_CHECKING:
    from .protocol import Vectors

SHARE: Final = 0.5
"""Of each in the cosine, on the development sets. Less of MiniLM costs paraphrases (hit@5 .78 here,
.60 with none of it), more costs long conversations (longmemeval's MRR .653 here, .643 with .6 of
it); the table's own reading of the question beside it brings nothing more."""


class Joined:
    """The static table and MiniLM; `alignment` says the latter's question to the former."""

    trouble = None
    close_reader = None

    def __init__(self, table: Embedder, reader: Embedder, alignment: Alignment) -> None:
        self._table, self._reader, self._alignment = table, reader, alignment
        self.space = f"{table.space}+{reader.space}*{SHARE:g}"
        self.model = f"{table.model}+{reader.model}"
        self.dimension = table.dimension + reader.dimension
        self.prefix = table.prefix
        self.batch = min(table.batch, reader.batch)

    def load(self) -> None:
        """Load both. Raises VectorsUnavailable."""
        self._table.load()
        self._reader.load()
        self._alignment.load()

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of documents, of length 1 unless a part is zero. Raises VectorsUnavailable."""
        return _beside(self._table.documents(texts), self._reader.documents(texts))

    def query(self, text: str) -> Vectors:
        """The vector of a question. Raises VectorsUnavailable."""
        read = self._reader.query(text)
        return _beside(self._alignment(read), read)


def _beside(one: Vectors, other: Vectors) -> Vectors:
    """Both in one vector each, so that cosines are the mean of theirs."""
    import numpy as np

    parts = [one * np.float32(SHARE**0.5), other * np.float32((1 - SHARE) ** 0.5)]
    return np.concatenate(parts, axis=-1)
