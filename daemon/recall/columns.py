"""The numbers a shelf keeps for every row, in parallel arrays that grow by doubling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Bytes, Flags, Floats, Longs, Slots, Small

FOREVER = (1 << 63) - 1
"""The end of what has no end, in milliseconds."""
NOWHERE = -1
"""No session, no actor, no neighbour."""
BLOCK = 4096
"""Rows worked on at once: as float32 they fit the second-level cache, and one takes 0.2 ms."""


class Columns:
    """Parallel arrays, one element a slot. Slots are only ever appended.

    A recall may read while another thread appends: it looks at slots below a count it took before,
    whose numbers stay, and growing replaces an array by a longer copy. Only `alive`, the neighbour
    links and a vector that arrives late change in place, and any mixture of before and after is a
    right answer for a recall that runs at that moment.
    """

    def __init__(self, dimension: int, capacity: int = 64) -> None:
        self.dimension = dimension
        self.rid: Longs = np.zeros(capacity, np.int64)
        self.at: Longs = np.zeros(capacity, np.int64)
        self.created: Longs = np.zeros(capacity, np.int64)
        self.begins: Longs = np.zeros(capacity, np.int64)
        self.ends: Longs = np.zeros(capacity, np.int64)
        self.importance: Floats = np.zeros(capacity, np.float32)
        self.kind: Small = np.zeros(capacity, np.uint8)
        self.status: Small = np.zeros(capacity, np.uint8)
        self.session: Slots = np.full(capacity, NOWHERE, np.int32)
        self.turn: Longs = np.full(capacity, NOWHERE, np.int64)
        self.actor: Slots = np.full(capacity, NOWHERE, np.int32)
        self.after: Slots = np.full(capacity, NOWHERE, np.int32)
        self.before: Slots = np.full(capacity, NOWHERE, np.int32)
        self.by_user: Flags = np.zeros(capacity, np.bool_)
        self.by_assistant: Flags = np.zeros(capacity, np.bool_)
        self.words: Floats = np.zeros(capacity, np.float32)
        self.facts: Floats = np.zeros((capacity, 4), np.float32)
        self.vectors: Bytes = np.zeros((capacity, dimension), np.int8)
        self.inverse_length: Floats = np.zeros(capacity, np.float32)
        self.alive: Flags = np.zeros(capacity, np.bool_)

    @property
    def capacity(self) -> int:
        """Slots there is room for."""
        return len(self.alive)

    def reserve(self, slots: int) -> None:
        """Make room for `slots` slots."""
        if slots <= self.capacity:
            return
        room = max(slots, 2 * self.capacity) - self.capacity
        for name, array in self.arrays().items():
            more = np.full((room, *array.shape[1:]), NOWHERE if name in _LINKS else 0, array.dtype)
            setattr(self, name, np.concatenate([array, more]))

    def set_vectors(self, slots: Slots, vectors: Bytes) -> None:
        """Give slots their stored vectors, shape (len(slots), dimension)."""
        self.vectors[slots] = vectors
        for first in range(0, len(slots), BLOCK):
            part = slice(first, first + BLOCK)
            squares = np.square(vectors[part].astype(np.float32)).sum(axis=1)
            # Written last: until then the slots count as ones without a vector. A text without
            # any known word has the zero vector: that is a vector, and its length must not be 0.
            self.inverse_length[slots[part]] = 1 / np.sqrt(np.maximum(squares, 1))

    def put(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take these arrays instead, one for every name in `arrays()`, all of the same length."""
        for name, array in self.arrays().items():
            given = arrays[name]
            if given.dtype != array.dtype or given.shape != (len(given), *array.shape[1:]):
                raise ValueError(f"{name} is of another kind")
            setattr(self, name, given)

    def bytes_used(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays by their names."""
        return {name: value for name, value in vars(self).items() if name != "dimension"}


_LINKS = frozenset({"session", "turn", "actor", "after", "before"})
