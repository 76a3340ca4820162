"""Embedding rows in batches, and finding out which row is to blame when a batch fails.

A text the provider refuses is given up at once; one it fails on without a reason is tried a few
times more. But first a harmless text is tried: if that fails too, no row is to blame.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....storage.vectors import Item, Pending
from ..protocol import Embedder, TextRefused, VectorsUnavailable
from .quantisation import to_int8

PROBE = "recalld"
MOST_TRIES = 8
"""With a provider that drops every second request one row in 7,000 is given up wrongly."""
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 15.0


@dataclass(slots=True)
class _Blame:
    """What a row did so far: when it may try again, None for never."""

    tries: int = 0
    again_at: float | None = 0.0


class Sieve:
    """Used by one thread, except for `forgive`, which only removes entries.

    What it knows of rows is forgotten with the process: a new start tries everything once more.
    `clock` gives seconds.
    """

    def __init__(self, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._clock = clock
        self._blamed: dict[int, _Blame] = {}
        self._size = embedder.batch
        self._last_trouble: str | None = None

    @property
    def last_trouble(self) -> str | None:
        """What became of the row that failed last; None once no row waits or was refused."""
        return self._last_trouble if self._blamed else None

    @property
    def size(self) -> int:
        """How many rows to give `made` next: fewer after a failure, as each may need long."""
        return self._size

    def refused(self) -> int:
        """Rows that will get no vector."""
        return sum(blame.again_at is None for blame in list(self._blamed.values()))

    def due(self, rows: Sequence[Pending]) -> list[Pending]:
        """Those of the rows that may be tried now."""
        now = self._clock()
        return [row for row in rows if self._is_due(row.rid, now)]

    def forgive(self, rid: int) -> None:
        """The row has another text now, or is gone."""
        self._blamed.pop(rid, None)

    def forgive_all(self) -> None:
        """Try everything once more."""
        self._blamed.clear()

    def made(self, rows: Sequence[Pending]) -> list[Item]:
        """The vectors of the rows; those that are to blame for a failure are missing.

        Raises VectorsUnavailable when it is the provider's trouble, whatever the text.
        """
        try:
            items = self._embed(rows)
        except VectorsUnavailable:
            self._size = max(1, self._size // 2)
            if not self._answers():
                raise
            return self._one_by_one(rows)
        self._size = min(self._embedder.batch, 2 * self._size)
        return items

    def _one_by_one(self, rows: Sequence[Pending]) -> list[Item]:
        made: list[Item] = []
        for row in rows:
            try:
                made += self._embed([row])
            except VectorsUnavailable as error:
                if not self._answers():
                    if made:
                        return made
                    raise
                self._blame(row, error)
        return made

    def _blame(self, row: Pending, error: VectorsUnavailable) -> None:
        blame = self._blamed.setdefault(row.rid, _Blame())
        blame.tries += 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (blame.tries - 1))
        is_final = isinstance(error, TextRefused) or blame.tries >= MOST_TRIES
        blame.again_at = None if is_final else self._clock() + pause
        self._last_trouble = str(error)

    def _is_due(self, rid: int, now: float) -> bool:
        blame = self._blamed.get(rid)
        return blame is None or (blame.again_at is not None and blame.again_at <= now)

    def _answers(self) -> bool:
        try:
            self._embedder.documents([PROBE])
        except VectorsUnavailable:
            return False
        return True

    def _embed(self, rows: Sequence[Pending]) -> list[Item]:
        prefix = self._embedder.prefix
        vectors = to_int8(self._embedder.documents([prefix + row.content for row in rows]))
        for row in rows:
            self._blamed.pop(row.rid, None)
        return [
            Item(row.rid, row.ulid, row.version, vector.tobytes())
            for row, vector in zip(rows, vectors, strict=True)
        ]
