"""Which namespaces are in memory: shelves built when asked for, kept right, dropped when too many.

The writer's change feed marks rows as changed before their writers are answered; the next recall
of that namespace reads them again before it searches. So whoever stored something finds it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

import apsw

from ...auth.errors import DeadlineExceeded
from ...storage import scope as scopes
from ...storage import shelf_rows
from ...storage.engine import Store
from ...storage.scope import Scope
from ...storage.transaction import Change
from ..deadline import Deadline
from .builder import Builder
from .kept import MOST_CHANGED, Kept
from .shelf import Shelf
from .slot import Marks, Slot
from .stored import build, refresh

BYTES_PER_ROW = 440
"""Estimate for deciding whether a namespace fits at all, with the vector's numbers on top: words
250, columns, dicts."""
BUILD_AT_ONCE = 1000
"""Up to this many rows a shelf is built while the recall waits (about 25 ms); a larger one is
read back if it was kept, else built behind the recall's back, and until then SQLite's own indexes
answer."""
SWEEP_SHARE = 0.25
"""A shelf with this share of dead slots is built anew."""


class Opened(NamedTuple):
    """The shelves of a scope by namespace, and the existing namespaces that have none now."""

    shelves: dict[str, Shelf]
    missing: list[str]


class Shelves:
    """The shelves in memory, at most `limit` bytes of them; `space` names the vectors they hold."""

    def __init__(self, store: Store, space: str, dimension: int, limit: int) -> None:
        self._space = space
        self._dimension = dimension
        self._most_rows = limit // (BYTES_PER_ROW + dimension)
        self._limit = limit
        self._slots: dict[str, Slot] = {}
        self._lock = threading.Lock()
        self._kept = Kept.beside(store.path, space, dimension)
        self._builder = Builder(store, space, dimension, self._kept)
        self._unsubscribe = store.writer.subscribe(self.changed)

    def changed(self, changes: Sequence[Change]) -> None:
        """Take note of committed changes. Called on the writer thread."""
        for change in changes:
            slot = self._slots.get(change.namespace)
            if slot is not None:
                slot.mark(change)

    def open(self, connection: apsw.Connection, scope: Scope, deadline: Deadline) -> Opened:
        """The up-to-date shelves of the scope, and the namespaces that have none.

        Must come before the first statement of the reader's transaction: changes marked until now
        are then in what it reads, and a change committed later is marked again for the next one.
        """
        looks = [(slot, *slot.look()) for slot in map(self._slot, sorted(scope.names))]
        shelves = {slot.name: shelf for slot, shelf, work in looks if shelf and not work}
        with ExitStack() as held:
            # Sorted names: two recalls over the same namespaces cannot wait for each other.
            todo = [slot for slot, _, work in looks if work]
            for slot in todo:
                _hold(held, slot, deadline)
            marks = [slot.take() for slot in todo]
            ids = {name: ns for ns, name in scopes.identify(connection, scope).items()}
            for slot, marked in zip(todo, marks, strict=True):
                shelf = self._serve(connection, slot, ids.get(slot.name), marked, deadline)
                if shelf is not None:
                    shelves[slot.name] = shelf
        self._evict(keep=scope)
        return Opened(shelves, [name for name in ids if name not in shelves])

    def get(self, name: str) -> Shelf | None:
        """The shelf of a namespace as it is now, if it has one; for inspection."""
        slot = self._slots.get(name)
        return None if slot is None else slot.shelf

    def close(self) -> None:
        """Stop building and following changes."""
        self._unsubscribe()
        self._builder.stop()

    def bytes_used(self) -> int:
        """Memory all shelves take, roughly."""
        return sum(slot.bytes_used for slot in list(self._slots.values()))

    def _slot(self, name: str) -> Slot:
        with self._lock:
            slot = self._slots.setdefault(name, Slot(name))
        slot.used = time.monotonic()
        return slot

    def _serve(
        self,
        connection: apsw.Connection,
        slot: Slot,
        ns: int | None,
        marks: Marks,
        deadline: Deadline,
    ) -> Shelf | None:
        """Bring a slot up to date, under its lock; on failure its marks are put back."""
        try:
            if ns is None or len(marks.rows) > MOST_CHANGED:
                slot.drop()
            if ns is not None and slot.shelf is not None:
                refresh(connection, slot.shelf, ns, marks, self._space, deadline.check)
                slot.measure()
                if slot.shelf.dead_share() > SWEEP_SHARE:
                    self._builder.ask(slot, ns)
            elif ns is not None:
                self._fill(connection, slot, ns, deadline)
        except BaseException:
            slot.put_back(marks)
            raise
        return slot.shelf

    def _fill(self, connection: apsw.Connection, slot: Slot, ns: int, deadline: Deadline) -> None:
        rows = shelf_rows.count(connection, ns)
        if rows <= min(BUILD_AT_ONCE, self._most_rows):
            slot.install(build(connection, ns, self._space, self._dimension, deadline.check))
            return
        if rows <= self._most_rows and self._restore(connection, slot, ns, deadline):
            return
        slot.drop()
        if rows <= self._most_rows:
            self._builder.ask(slot, ns)

    def _restore(
        self, connection: apsw.Connection, slot: Slot, ns: int, deadline: Deadline
    ) -> bool:
        """Take the shelf that was kept, if there is one of use."""
        restored = self._kept.restore(connection, ns, deadline.check)
        if restored is None:
            return False
        slot.install(restored.shelf)
        if restored.stale:
            self._builder.ask(slot, ns)
        return True

    def _evict(self, keep: Scope) -> None:
        """Drop the least recently used shelves while they take more than allowed."""
        if self.bytes_used() <= self._limit:
            return
        for slot in sorted(self._slots.values(), key=lambda one: one.used):
            if self.bytes_used() <= self._limit:
                return
            # One that is being read into is in use; there is always another recall to come.
            if slot.name not in keep and slot.lock.acquire(blocking=False):
                slot.drop()
                slot.lock.release()


def _hold(held: ExitStack, slot: Slot, deadline: Deadline) -> None:
    """Lock a slot until `held` ends; waiting for another recall's refresh has the same deadline."""
    if not slot.lock.acquire(timeout=deadline.remaining()):
        raise DeadlineExceeded("The work did not end within its time.")
    held.callback(slot.lock.release)
