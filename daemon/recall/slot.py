"""The place of one namespace among the shelves: its shelf, and what changed since."""

from __future__ import annotations

import threading

from ...storage.transaction import Change
from .shelf import Shelf


class Marks:
    """Row ids that a shelf must read again: whole rows, and rows that only got their vector."""

    def __init__(self) -> None:
        self.rows: set[int] = set()
        self.vectors: set[int] = set()

    def add(self, change: Change) -> None:
        """Note one committed change."""
        (self.vectors if change.op == "embed" else self.rows).add(change.rid)

    def merge(self, other: Marks) -> None:
        """Note everything another one notes."""
        self.rows |= other.rows
        self.vectors |= other.vectors

    def __len__(self) -> int:
        return len(self.rows) + len(self.vectors)


class Slot:
    """Holds a shelf and the marks of changes that are not in it yet.

    Two locks: `lock` is held by whoever reads rows into the shelf, `_noting` only for the moment of
    adding to or taking the marks, because the writer thread must not wait for a reader.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self.shelf: Shelf | None = None
        self.building = False
        self.used = 0.0
        self.bytes_used = 0
        self._noting = threading.Lock()
        self._following = False
        self._marks = Marks()
        self._since_build = Marks()

    def mark(self, change: Change) -> None:
        """A row of this namespace was written, removed or given its vector."""
        with self._noting:
            if self._following:
                self._marks.add(change)
            if self.building:
                self._since_build.add(change)

    def look(self) -> tuple[Shelf | None, bool]:
        """The shelf, and whether a recall must bring this slot up to date before it searches.

        Both of one moment: a build that ends after the question whether there is work would
        otherwise hand out a shelf whose changes nobody has read.
        """
        with self._noting:
            if self.shelf is None:
                return None, not self.building
            return self.shelf, len(self._marks) > 0

    def take(self) -> Marks:
        """The marks so far, for a caller whose read transaction has not begun yet.

        From now on changes are noted even if there is no shelf: the caller may be about to make
        one from a state of the store that does not contain them.
        """
        with self._noting:
            taken, self._marks, self._following = self._marks, Marks(), True
        return taken

    def put_back(self, marks: Marks) -> None:
        """The reading failed: somebody else will have to."""
        with self._noting:
            self._marks.merge(marks)

    def begin_build(self) -> bool:
        """Note changes for a shelf about to be built elsewhere; False if one is being built."""
        with self._noting:
            if self.building:
                return False
            self.building, self._since_build = True, Marks()
        return True

    def install(self, shelf: Shelf) -> None:
        """Put a shelf in place that the holder of `lock` has just made."""
        with self._noting:
            self.shelf = shelf
        self.measure()

    def finish_build(self, shelf: Shelf | None) -> None:
        """End a build: what changed while it ran is read by the next recall. None: it failed."""
        with self.lock, self._noting:
            if shelf is not None:
                self.shelf, self._following = shelf, True
                self._marks = self._since_build
            self.building, self._since_build = False, Marks()
        self.measure()

    def drop(self) -> None:
        """Let go of the shelf. The caller holds `lock`."""
        with self._noting:
            self.shelf, self._following, self._marks = None, False, Marks()
        self.measure()

    def measure(self) -> None:
        """The shelf may have grown or gone."""
        shelf = self.shelf
        self.bytes_used = 0 if shelf is None else shelf.bytes_used()
