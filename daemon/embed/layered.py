"""The default embedder: the static table at once, MiniLM's close reading of notes when it is quiet.

Both make vectors of one space: what MiniLM read is turned into the table's by the alignment, so a
question needs no transformer to find what one has read. Where the words of a question say little
recall has it read closely too (see daemon/recall/question.py). On the development sets that takes
paraphrases from .58 to .81 (hit@5), code search from .70 to .75 (hit@10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from .alignment import Alignment
from .protocol import Embedder

if TYPE_CHECKING:
    from .protocol import Vectors

SHARE: Final = 0.85
"""Of MiniLM in the vector of a note. Paraphrases want all of it (hit@5 .67 at .5, .72 at .85), code
search and abstracts some of the table's knowledge of words (MRR .448 at 1, .451 here)."""


class Layered:
    """The table, with a close reader for the same space."""

    trouble = None

    def __init__(self, table: Embedder, reader: Embedder, alignment: Alignment) -> None:
        self._table = table
        self.close_reader = Closely(table, reader, alignment)
        self.space = f"{table.space}+{reader.space}/{SHARE:g}"
        self.model = f"{table.model}, then {reader.model}"
        self.dimension = table.dimension
        self.prefix = table.prefix
        self.batch = table.batch

    def load(self) -> None:
        """Load the table. Raises VectorsUnavailable."""
        self._table.load()

    def documents(self, texts: Sequence[str]) -> Vectors:
        """What the table makes of documents. Raises VectorsUnavailable."""
        return self._table.documents(texts)

    def query(self, text: str) -> Vectors:
        """What the table makes of a question. Raises VectorsUnavailable."""
        return self._table.query(text)


class Closely:
    """What MiniLM reads, said in the table's space; 10 to 40 ms a note, 8 ms a question."""

    def __init__(self, table: Embedder, reader: Embedder, alignment: Alignment) -> None:
        self._table, self._reader, self._alignment = table, reader, alignment
        self.is_ready = False

    def load(self) -> None:
        """Load everything (0.1 s, 53 MB). Raises VectorsUnavailable."""
        self._table.load()
        self._reader.load()
        self._alignment.load()
        self.is_ready = True

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Mixed vectors, of length 1 unless zero. Raises VectorsUnavailable."""
        import numpy as np

        read = np.stack([self._alignment(one) for one in self._reader.documents(texts)])
        mixed = SHARE * read + (1 - SHARE) * self._table.documents(texts)
        length = np.sqrt(np.square(mixed).sum(axis=1, keepdims=True))
        unit: Vectors = (mixed / np.where(length > 0, length, 1)).astype(np.float32)
        return unit

    def query(self, text: str) -> Vectors:
        """The vector of a question, MiniLM's alone. Raises VectorsUnavailable."""
        return self._alignment(self._reader.query(text))
