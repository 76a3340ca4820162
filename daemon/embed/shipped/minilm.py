"""MiniLM on the processor, shipped with the product: a small transformer for better meaning.

A question takes 5 to 9 ms and a note about 15, the loaded weights 22 MB. A text longer than one
chunk is the mean of its chunks' vectors: on long conversation turns that is worth 11 MRR points
over cutting it off (.591 against .482, see the retrieval study).
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..protocol import VectorsUnavailable
from .wordpiece import WordPiece

if TYPE_CHECKING:
    from ..protocol import Vectors
    from .transformer import Transformer

_WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weights")
_FIRST, _LAST = 101, 102
_WHOLE = 96
"""Word pieces up to which a text is read in one go; 64 pieces are about 48 words."""
_CHUNK = 64
_LONGEST = 24 * _CHUNK
"""Pieces read of one text: 1,100 words, 0.6 s."""
_AT_ONCE = 256
"""Pieces worked on at a time; more falls out of the cache."""
_MEMORY = 96 << 20


class MiniLm:
    """all-MiniLM-L6-v2, 8-bit; see the NOTICE beside the weights for where it comes from."""

    space = "minilm-l6-384-chunk64-2a9798ab"
    model = "all-minilm-l6-v2"
    dimension = 384
    prefix = ""
    batch = 8
    trouble = None
    close_reader = None

    def __init__(self, folder: str = _WEIGHTS) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: tuple[Transformer, WordPiece] | None = None

    def load(self) -> None:
        """Read the weights (about 85 ms), once. Raises VectorsUnavailable."""
        self._parts()

    def fits(self, text: str) -> bool:
        """Whether the text is read in one go, in 30 ms at most. Raises VectorsUnavailable."""
        _, words = self._parts()
        return len(words.ids(text, _WHOLE + 1)) <= _WHOLE

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of documents, shape (len(texts), 384). Raises VectorsUnavailable."""
        import numpy as np

        transformer, words = self._parts()
        chunks: list[list[int]] = []
        owner: list[int] = []
        for number, text in enumerate(texts):
            for chunk in _chunks(words.ids(text, _LONGEST)):
                chunks.append(chunk)
                owner.append(number)
        total = np.zeros((len(texts), self.dimension), np.float32)
        for batch in _batches([len(chunk) for chunk in chunks]):
            made = _unit(transformer(np.array([chunks[at] for at in batch], np.intp)))
            np.add.at(total, [owner[at] for at in batch], made)
        return _unit(total)

    def read(self, text: str) -> tuple[Vectors, Vectors | None]:
        """A text's unit vector, shape (384,), and what each of its pieces means in it, unit vectors
        of shape (pieces, 384); None for a text that is not read in one go.

        Raises VectorsUnavailable.
        """
        import numpy as np

        transformer, words = self._parts()
        chunks = list(_chunks(words.ids(text, _LONGEST)))
        if len(chunks) != 1:
            return self.documents([text])[0], None
        states = transformer.states(np.array(chunks, np.intp))[0]
        return _unit(states.mean(axis=0)), _unit(states[1:-1])

    def query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (384,). Raises VectorsUnavailable."""
        vector: Vectors = self.documents([text])[0]
        return vector

    def _parts(self) -> tuple[Transformer, WordPiece]:
        if self._loaded is not None:
            return self._loaded
        # A worker may ask while the backlog thread is still loading: it waits, rather than load
        # the weights a second time.
        with self._loading:
            if self._loaded is None:
                self._loaded = _read(self._folder)
            return self._loaded


def _read(folder: str) -> tuple[Transformer, WordPiece]:
    from .transformer import Transformer

    _require_memory()
    try:
        transformer = Transformer(os.path.join(folder, "minilm_q8.npz"))
        return transformer, WordPiece.read(os.path.join(folder, "vocab.txt"))
    except Exception as error:  # zipfile, zlib and numpy each have their own for damage
        raise VectorsUnavailable(f"The MiniLM weights are unusable: {error}") from error


def _require_memory() -> None:
    """Raise VectorsUnavailable where the process may not have so much memory: OpenBLAS would end
    the whole process when it gets none.
    """
    try:
        mmap.mmap(-1, _MEMORY).close()
    except OSError as error:
        raise VectorsUnavailable(
            f"MiniLM needs {_MEMORY >> 20} MB of memory, more than this process may have."
        ) from error


def _chunks(pieces: list[int]) -> Iterator[list[int]]:
    """A text's pieces in equal parts with their marks; none for a text without a known word."""
    if not pieces:
        return
    count = 1 if len(pieces) <= _WHOLE else -(-len(pieces) // _CHUNK)
    size = -(-len(pieces) // count)
    for start in range(0, len(pieces), size):
        yield [_FIRST, *pieces[start : start + size], _LAST]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of equal lengths, few enough at a time to stay in the cache."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[at]
        if batch and (length != lengths[batch[0]] or (len(batch) + 1) * length > _AT_ONCE):
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def _unit(vectors: Vectors) -> Vectors:
    """The rows scaled to length 1; a zero row stays zero."""
    import numpy as np

    lengths = np.sqrt(np.square(vectors).sum(axis=-1, keepdims=True))
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit
