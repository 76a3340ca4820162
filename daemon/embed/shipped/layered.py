"""The default embedder: the static table at once, MiniLM's close reading when it is quiet.

Both make vectors of one space: what MiniLM read is turned into the table's by the alignment, so a
question needs no transformer to find what one has read. Where the words of a question say little
recall has it read closely too (see daemon/recall/question.py). On the development sets that takes
paraphrases from .58 to .86 (hit@5), code search from .70 to .75 (hit@10).

`thorough` has turns of conversations and every question read too, for 8 ms a question, and keeps
what each word piece means in a text, for turns of people are compared piece by piece (see
daemon/recall/late_interaction.py): code search .79, longmemeval's MRR .63 to .66, LOCOMO's .63 to
.68.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..protocol import Embedder, Read, VectorsUnavailable
from .alignment import Alignment
from .minilm import MiniLm
from .projection import Projection

if TYPE_CHECKING:
    from ..protocol import Vectors

NOTES: Final = 0.85
"""MiniLM's share in the vector of a note. Paraphrases want all of it (hit@5 .67 at .5, .72 here),
code search and abstracts some of the table's knowledge of words (MRR .448 at 1, .451 here)."""
TURNS: Final = 0.35
"""Its share in the vector of a turn. MiniLM keeps its head in short ones only: on LOCOMO's, 30
pieces long, .7 is best (MRR .655, .652 here), on longmemeval's, 124 long, it costs 2 points."""


class Layered:
    """The table, with a close reader for the same space."""

    trouble = None

    def __init__(
        self, table: Embedder, reader: MiniLm, alignment: Alignment, *, thorough: bool = False
    ) -> None:
        self._table = table
        projection = Projection() if thorough else None
        self.close_reader = Closely(table, reader, alignment, projection)
        parts = [table.space, reader.space, alignment.space, f"{NOTES:g}"]
        if projection is not None:
            parts += [f"{TURNS:g}", projection.space]
        self.space = "+".join(parts)
        self.model = f"{table.model}, {'all' if thorough else 'notes'} by {reader.model}"
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
    """What MiniLM reads, said in the table's space.

    10 to 40 ms a note of up to a hundred words, half a second one of six hundred; 8 ms a question
    of ten words, 30 ms at most. Pieces are kept with a `projection` for them.
    """

    def __init__(
        self, table: Embedder, reader: MiniLm, alignment: Alignment, projection: Projection | None
    ) -> None:
        self._table, self._reader, self._alignment = table, reader, alignment
        self._projection = projection
        self.is_thorough = projection is not None
        self.is_ready = False
        self.trouble: str | None = None

    def load(self) -> None:
        """Load everything (0.1 s, 25 MB). Raises VectorsUnavailable."""
        try:
            self._table.load()
            self._reader.load()
            self._alignment.load()
            if self._projection is not None:
                self._projection.load()
        except VectorsUnavailable as error:
            self.trouble = str(error)
            raise
        self.is_ready, self.trouble = True, None

    def document(self, text: str, *, is_turn: bool) -> Read:
        """The mixed vector, of length 1 unless zero, shape (256,). Raises VectorsUnavailable."""
        import numpy as np

        share = TURNS if is_turn else NOTES
        read = self._read(text)
        mixed = share * read.vector + (1 - share) * self._table.documents([text])[0]
        length = float(np.sqrt(mixed @ mixed)) or 1.0
        return read._replace(vector=(mixed / length).astype(np.float32))

    def query(self, text: str) -> Read:
        """The vector of a question, MiniLM's alone. Raises VectorsUnavailable.

        Of a long one it is the table's: a page pasted into a prompt would take half a second, and
        has words enough for the table.
        """
        if not self._reader.fits(text):
            return Read(self._table.query(text))
        return self._read(text)

    def _read(self, text: str) -> Read:
        vector, states = self._reader.read(text)
        if states is None or self._projection is None:
            return Read(self._alignment(vector))
        return Read(self._alignment(vector), self._projection(states))
