"""Where to look in a very large namespace: the signs of its vectors' numbers, in memory.

Reading such a namespace from end to end takes 300 ms a million rows. The signs take a 32nd of it
(32 bytes a row), and rows whose signs agree with the question's are close to it: so the signs say
which rows to read, and those are compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...storage.chunks import Place
from ...storage.vectors import CHUNK_ROWS
from .arrays import Bytes, Floats, Longs

AGREEING: Final = 1024
"""Rows read for a question, 10 microseconds each. Of the ten rows truly closest 98 in 100 are among
them at 33,000 texts and 93 at 400,000; 512 find 95 and 89 (`scripts/bench signs`)."""
_BLOCK: Final = 1 << 16
_Bits = npt.NDArray[np.uint64]


class Signatures:
    """The signs of the vectors in some chunks, in the chunks' order, `CHUNK_ROWS` places each.

    A place whose vector was deleted keeps its signs, and is found empty when it is read; one whose
    vector was replaced keeps them until the next start, and is compared by its new one.
    """

    def __init__(self, dimension: int) -> None:
        self._chunks: Longs = np.zeros(0, np.int64)
        self._bits: _Bits = np.zeros((-(-dimension // 64), 0), np.uint64)

    def __len__(self) -> int:
        """How many chunks are here."""
        return len(self._chunks)

    def with_more(self, chunks: Sequence[int], vectors: Bytes) -> Signatures:
        """These and more; `vectors` has the shape (len(chunks) * CHUNK_ROWS, dimension).

        Chunks that are here already get their signs anew.
        """
        grown = Signatures(vectors.shape[1])
        kept = ~np.isin(self._chunks, np.array(chunks, np.int64))
        grown._chunks = np.concatenate([self._chunks[kept], np.array(chunks, np.int64)])
        grown._bits = np.concatenate(
            [self._bits[:, np.repeat(kept, CHUNK_ROWS)], _signs(vectors)], axis=1
        )
        return grown

    def newest(self, count: int) -> list[int]:
        """The highest ids of the chunks here, at most so many."""
        highest: list[int] = np.sort(self._chunks)[-count:].tolist()
        return highest

    def missing(self, chunks: Sequence[int]) -> list[int]:
        """Those of the chunks that are not here."""
        found: list[int] = np.setdiff1d(np.array(chunks, np.int64), self._chunks).tolist()
        return found

    def promising(self, question: Floats) -> list[Place]:
        """The places whose signs agree best with the question's, `AGREEING` or a few more."""
        apart = self._apart(question)
        best = np.arange(len(apart))
        if len(apart) > AGREEING:
            limit = np.partition(apart, AGREEING)[AGREEING]
            nearer = np.flatnonzero(apart < limit)
            # Any number may be just as far: the same words said again and again.
            equal = np.flatnonzero(apart == limit)[: 2 * AGREEING - len(nearer)]
            best = np.concatenate([nearer, equal])
        chunks: list[int] = self._chunks[best // CHUNK_ROWS].tolist()
        return list(zip(chunks, (best % CHUNK_ROWS).tolist(), strict=True))

    def bytes_used(self) -> int:
        """Memory of the signs."""
        return self._bits.nbytes + self._chunks.nbytes

    def _apart(self, question: Floats) -> npt.NDArray[np.uint16]:
        """In how many numbers each place's sign is not the question's; 4 ms a million."""
        wanted = _signs(question.reshape(1, -1))[:, 0]
        apart = np.zeros(self._bits.shape[1], np.uint16)
        for first in range(0, len(apart), _BLOCK):
            part = slice(first, first + _BLOCK)
            for word, signs in zip(wanted, self._bits, strict=True):
                apart[part] += np.bitwise_count(signs[part] ^ word)
        return apart


def _signs(vectors: Bytes | Floats) -> _Bits:
    """One bit a number, 64 of them a word: shape (words, vectors)."""
    packed = np.packbits(vectors > 0, axis=1)
    whole = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(whole.view(np.uint64).T)
