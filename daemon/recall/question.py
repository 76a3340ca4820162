"""What is asked, as a vector: made at once, or read closely where the words of it say little.

Reading takes 8 ms of processor time, twice what the rest of a recall takes. Where words match well
it changes little; where they do not, in paraphrases above all, meaning is all there is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from ..embed.protocol import VectorsUnavailable
from ..embed.standing import VECTORS_UNAVAILABLE, Standing
from .arrays import Floats
from .shelf import State

log = logging.getLogger("recalld.recall")

LITTLE: Final = 0.2
"""The best word match, as a share of the ideal one, below which a question is read: so are nineteen
of twenty paraphrases and one in a hundred of the questions of code search and conversations."""
_Read = Callable[[str], Floats]


class Question:
    """`quick` is the vector made at once, None for none; `read` makes the other one, if any can."""

    def __init__(self, quick: Floats | None, read: Callable[[], Floats] | None = None) -> None:
        self.quick = quick
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
        if closely is None or not closely.is_ready:
            return cls(_vector(embedder.query, text, degraded))
        if closely.is_thorough:
            return cls(_vector(closely.query, text, degraded))
        return cls(_vector(embedder.query, text, degraded), partial(closely.query, text))

    def vector(self, states: Iterable[State], match: float) -> Floats | None:
        """The vector to ask these shelves by, whose best word match is this share of the ideal.

        Turns are not read closely (see embed/layered.py), so without a note the quick one does.
        """
        if self.quick is None or self._read is None or match >= LITTLE:
            return self.quick
        if not any(state.has_notes for state in states):
            return self.quick
        try:
            read = self._read()
        except VectorsUnavailable as error:
            log.info("the question was not read: %s", error)
            return self.quick
        return read if read.any() else self.quick


def _vector(embed: _Read, text: str, degraded: set[str]) -> Floats | None:
    try:
        vector = embed(text)
    except VectorsUnavailable as error:
        log.info("the question was not embedded: %s", error)
    except Exception:
        # Whatever a provider throws, words alone still find most things.
        log.exception("the question could not be embedded")
    else:
        return vector if vector.any() else None
    degraded.add(VECTORS_UNAVAILABLE)
    return None
