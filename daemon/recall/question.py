"""What is asked, as a vector: made at once, or read closely where the words of it say little.

Reading takes 8 ms of processor time, twice what the rest of a recall takes. Where words match well
it changes little; where they do not, in paraphrases above all, meaning is all there is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from ..deadline import Deadline
from ..embed.protocol import Read, VectorsUnavailable
from ..embed.standing import VECTORS_UNAVAILABLE, Standing
from .arrays import Bytes, Floats

T = TypeVar("T")
log = logging.getLogger("recalld.recall")

LITTLE: Final = 0.2
"""The best word match, as a share of the ideal one, below which a question is read: so are nineteen
of twenty paraphrases and one in a hundred of the questions of code search and conversations."""
LEAST_TIME: Final = 0.1
"""Seconds a recall must have left: reading takes 30 ms at most, on a crowded machine several times
that."""
READING_UNAVAILABLE: Final = "reading_unavailable"
"""The weights for close reading could not be loaded; vectors made at once serve."""


class Question:
    """`quick` is the vector made at once, None for none; `read` makes the other one, if any can.

    `is_read` says whether what `vector` gave last was read closely; `pieces` are there if turns can
    be compared with it piece by piece.
    """

    def __init__(
        self,
        quick: Floats | None,
        read: Callable[[], Read] | None = None,
        *,
        is_read: bool = False,
        pieces: Bytes | None = None,
    ) -> None:
        self.quick = quick
        self.is_read = is_read
        self.pieces = pieces
        self._read = read

    @classmethod
    def of(cls, text: str, standing: Standing, degraded: set[str], *, vectors: bool) -> Question:
        """The question for the vectors that serve; what is wrong with them is added to `degraded`.

        `vectors` is False for a store that has none.
        """
        embedder = standing.embedder
        if not embedder.dimension:
            return cls(None)
        if not vectors:
            degraded.add(VECTORS_UNAVAILABLE)
            return cls(None)
        closely = embedder.close_reader
        if closely is not None and closely.trouble is not None:
            degraded.add(READING_UNAVAILABLE)
        if closely is None or not closely.is_ready:
            return cls(_vector(embedder.query, text, degraded))
        if not closely.is_thorough:
            return cls(_vector(embedder.query, text, degraded), partial(closely.query, text))
        read = _made(closely.query, text, degraded)
        if read is None or not read.vector.any():
            return cls(None)
        return cls(read.vector, is_read=True, pieces=read.pieces)

    def vector(self, match: float, deadline: Deadline) -> Floats | None:
        """The vector to ask notes by whose best word match is this share of the ideal one.

        Turns are asked by the quick one as long as they are not read closely (see
        embed/shipped/layered.py).
        """
        if self.quick is None or self._read is None or match >= LITTLE:
            return self.quick
        if deadline.remaining() < LEAST_TIME:
            return self.quick
        try:
            read = self._read()
        except Exception as error:
            # A question that has one vector is never refused another.
            log.info("the question was not read: %s", error)
            return self.quick
        if not read.vector.any():
            return self.quick
        self.is_read = True
        return read.vector


def _vector(embed: Callable[[str], Floats], text: str, degraded: set[str]) -> Floats | None:
    vector = _made(embed, text, degraded)
    return vector if vector is not None and vector.any() else None


def _made(make: Callable[[str], T], text: str, degraded: set[str]) -> T | None:
    try:
        return make(text)
    except VectorsUnavailable as error:
        log.info("the question was not embedded: %s", error)
    except Exception:
        # Whatever a provider throws, words alone still find most things.
        log.exception("the question could not be embedded")
    degraded.add(VECTORS_UNAVAILABLE)
    return None
