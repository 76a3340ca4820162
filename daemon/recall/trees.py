"""Small decision trees, all of them asked at once.

A tree of at most four leaves asks three yes-or-no questions. Written as a table of what each of
the eight answers to them is worth, 300 trees over 100 rows take half a millisecond in numpy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Slots

QUESTIONS = 3
"""A tree asks so many; one that asks fewer repeats itself."""
_BITS = np.array([1, 2, 4], np.uint8).reshape(1, QUESTIONS, 1)


class Unusable(Exception):
    """A file of trees could not be read."""


class Trees(NamedTuple):
    """`columns` and `limits`, shape (trees, 3): is the number in that column at most that much?
    `worth`, shape (trees, 8): what the answers are worth, the first question's the lowest bit.
    """

    columns: Slots
    limits: Floats
    worth: Floats

    @classmethod
    def read(cls, path: str, width: int) -> Trees:
        """Trees over rows of `width` numbers, from a file that `save` wrote. Raises Unusable."""
        try:
            with open(path, "rb") as file, np.load(file) as stored:
                trees = cls(stored["columns"], stored["limits"], stored["worth"])
            trees._check(width)
        except Exception as error:  # zipfile, zlib and numpy each have their own for damage
            raise Unusable(str(error)) from error
        return trees

    def save(self, path: str) -> None:
        """Write them to a file."""
        np.savez_compressed(path, **self._asdict())

    def value(self, rows: Floats) -> Floats:
        """What all trees together give each row of numbers, shape (len(rows),)."""
        asked = rows.T[self.columns]
        yes = (asked <= self.limits[:, :, None]).astype(np.uint8)
        answers = (yes * _BITS).sum(axis=1, dtype=np.intp)
        given: Floats = np.take_along_axis(self.worth, answers, axis=1).sum(axis=0)
        return given

    def _check(self, width: int) -> None:
        """Raise Unusable unless it can be asked about rows of `width` finite numbers."""
        count = len(self.columns)
        shapes = ((count, QUESTIONS), (count, QUESTIONS), (count, 1 << QUESTIONS))
        if tuple(array.shape for array in self) != shapes:
            raise Unusable("its arrays do not belong together")
        if "".join(array.dtype.char for array in self) != "iff":
            raise Unusable("its numbers are of another kind")
        if not count or not 0 <= self.columns.min() <= self.columns.max() < width:
            raise Unusable("it asks for columns that do not exist")
        if not np.isfinite(self.worth).all():
            raise Unusable("its values are no numbers")
