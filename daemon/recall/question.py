"""What is asked, as a vector: made at once, or read closely where the words of it say little.

Reading takes 8 ms of processor time, twice what the rest of a recall takes. Where words match well
it changes little; where they do not, in paraphrases above all, meaning is all there is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final

from ..embed.protocol import VectorsUnavailable
from .arrays import Floats
from .shelf import State

log = logging.getLogger("recalld.recall")

LITTLE: Final = 0.2
"""The best word match, as a share of the ideal one, below which a question is read: so are nineteen
of twenty paraphrases and one in a hundred of the questions of code search and conversations."""


class Question:
    """`quick` is the vector made at once, None for none; `read` makes the other one, if any can."""

    def __init__(self, quick: Floats | None, read: Callable[[], Floats] | None = None) -> None:
        self.quick = quick
        self._read = read

    def vector(self, states: Iterable[State], match: float) -> Floats | None:
        """The vector to ask these shelves by, whose best word match is this share of the ideal.

        Only notes are read closely (see embed/layered.py): turns are asked by the quick vector.
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
