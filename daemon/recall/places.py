"""Where a row lies in a shelf, by its row id, and where a turn of a session does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Slots
from .columns import NOWHERE, Columns


class Places:
    """Slots by row id. Settled rows are looked up in the columns, which are in the order of row
    ids as far as they are settled; only rows that came later take 100 bytes each in a dict.
    """

    def __init__(self) -> None:
        self._settled = 0
        self._later: dict[int, int] = {}

    def settle(self, columns: Columns, size: int) -> None:
        """Look rows up in the columns from now on, if they lie there in order."""
        if bool((np.diff(columns.rid[:size]) > 0).all()):
            self._settled, self._later = size, {}

    def put(self, rid: int, slot: int) -> None:
        """The row lies in this slot now."""
        self._later[rid] = slot

    def find(self, columns: Columns, rids: Sequence[int]) -> Slots:
        """The slots of living rows, NOWHERE for others."""
        wanted = np.array(rids, np.int64)
        slots = np.fromiter((self._later.get(r, NOWHERE) for r in rids), np.int32, len(rids))
        if self._settled:
            settled = columns.rid[: self._settled]
            at = np.minimum(np.searchsorted(settled, wanted), self._settled - 1).astype(np.int32)
            # A settled row that was edited since is dead, and has its new slot in the dict.
            here = (slots == NOWHERE) & (settled[at] == wanted) & columns.alive[at]
            slots[here] = at[here]
        return slots

    def remove(self, columns: Columns, rids: Sequence[int]) -> Slots:
        """Forget rows; the slots of those that were here. The caller marks the slots dead."""
        slots = self.find(columns, rids)
        for rid in rids:
            self._later.pop(rid, None)
        return np.unique(slots[slots != NOWHERE])

    def bytes_used(self) -> int:
        """Roughly the memory this takes apart from the columns."""
        return 110 * len(self._later)


class Turns:
    """Slots by session number and turn; made from the columns when first needed."""

    def __init__(self) -> None:
        self._slots: dict[tuple[int, int], int] | None = None

    def link(self, columns: Columns, slot: int) -> None:
        """Make the turn in this slot, the last one filled, a neighbour of those beside it."""
        if self._slots is None:
            self._slots = _read(columns, slot)
        session, turn = int(columns.session[slot]), int(columns.turn[slot])
        self._slots[session, turn] = slot
        earlier = self._slots.get((session, turn - 1), NOWHERE)
        later = self._slots.get((session, turn + 1), NOWHERE)
        columns.before[slot], columns.after[slot] = earlier, later
        if earlier != NOWHERE:
            columns.after[earlier] = slot
        if later != NOWHERE:
            columns.before[later] = slot

    def settle(self) -> None:
        """Let go of what can be made again."""
        self._slots = None

    def bytes_used(self) -> int:
        """Roughly the memory this takes."""
        return 180 * len(self._slots or ())


def _read(columns: Columns, size: int) -> dict[tuple[int, int], int]:
    """Later slots win: an edited turn lies in its last one."""
    slots = np.flatnonzero(columns.turn[:size] != NOWHERE)
    pairs = zip(columns.session[slots].tolist(), columns.turn[slots].tolist(), strict=True)
    return dict(zip(pairs, slots.tolist(), strict=True))
