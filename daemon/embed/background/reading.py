"""The thread that has memories read closely, one by one, while nobody asks or stores.

Until one has been read it is found by the vector that was made at once; so this may take its
time. Rows still to be read are named in the store, a restart goes on where the last one ended.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ....storage import unread, vectors
from ....storage.engine import Store
from ....storage.faults import Closed
from ....storage.reader import Reader
from ....storage.transaction import Change, Transaction
from ....storage.unread import Made, Unread, Waiting
from ....storage.vectors import Item, Space
from ...life.memory import give_back
from .. import standing
from ..protocol import CloseReader, Embedder, VectorsUnavailable
from .quantisation import to_int8

log = logging.getLogger("recalld.embed")
QUIET_SECONDS: Final = 0.5
"""Nobody asked or stored for so long: a session's next question is rarely closer."""
LONGEST_SECONDS: Final = 5.0
"""With a daemon that is never left alone a note is read this often all the same."""
REST: Final = 1.0
"""Pause after a note, in times of what it took: half a processor at most."""
_BATCH: Final = 8
_READ_SECONDS: Final = 30.0
_AFTER_TROUBLE_SECONDS: Final = 60.0
# One note of the greatest length takes 0.6 s.
_STOP_SECONDS: Final = 2.0


class Reading:
    """Reads what is unread in the space of `embedder` until nothing is, then waits for more."""

    def __init__(self, store: Store, embedder: Embedder, closely: CloseReader) -> None:
        self._store = store
        self._embedder = embedder
        self._closely = closely
        self._disturbed = time.monotonic()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._rid = 0
        self._looked = self._wanted = False
        self._state = "working"
        self._unread = 0
        self._last_error: str | None = None
        self._unsubscribe = store.writer.subscribe(self._changed)
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """End after the note under way."""
        self._stopping.set()
        self._wake.set()
        self._unsubscribe()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def disturb(self) -> None:
        """Somebody asks: reading can wait."""
        self._disturbed = time.monotonic()

    def state(self) -> dict[str, object]:
        """For status: rows to be read (counted to 100,000), done, working or failed, and why."""
        state = "working" if self._state == "done" and self._wake.is_set() else self._state
        return {"unread": self._unread, "state": state, "last_error": self._last_error}

    def _changed(self, changes: Sequence[Change]) -> None:
        """On the writer thread, after a commit."""
        if any(change.op == "embed" and change.rid != self._rid for change in changes):
            self._wake.set()
        if any(change.op != "embed" for change in changes):
            self.disturb()

    def _run(self) -> None:
        reader: Reader | None = None
        while not self._stopping.is_set():
            self._state = "failed" if self._state == "failed" else "working"
            try:
                reader = reader or self._store.reader()
                if self._read_all(reader):
                    give_back()
                self._state, self._last_error = "done", None
                if not self._stopping.is_set():  # its wake may have been cleared for a look
                    self._wake.wait()
            except Closed:
                return
            except Exception as error:
                # Whatever it is, vectors made at once serve on.
                log.warning("memories could not be read closely: %s", error)
                self._state, self._last_error = "failed", str(error) or type(error).__name__
                self._stopping.wait(_AFTER_TROUBLE_SECONDS)

    def _read_all(self, reader: Reader) -> bool:
        """Read until nothing is left; whether there was anything."""
        begun = False
        while not self._stopping.is_set():
            # Cleared before looking: a vector written while we look sets it again. And the state is
            # `working` by then, or somebody would see too early that there is nothing to do.
            self._wake.clear()
            looked = self._look(reader)
            if self._wanted and not self._closely.is_ready:
                self._await_quiet()
                self._closely.load()
                give_back()  # what the weights were made of
            if looked is None:
                return begun
            begun = True
            space, found = looked
            self._strike_off(space, found.gone)
            for row in found.rows:
                self._await_quiet()
                if self._stopping.is_set():
                    return begun
                self._read(space, row)
                if self._wake.is_set():
                    break  # what was stored a moment ago comes before the rest
        return begun

    def _look(self, reader: Reader) -> tuple[Space, Unread] | None:
        """What to read next; None for nothing."""
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            name = standing.newest(connection, self._embedder.space)
            space = vectors.find_space(connection, name)
            if space is None:
                return None
            if not self._looked:
                # Later ones are told by being unread; walking through a large store takes seconds.
                self._wanted = self._closely.is_thorough or unread.has_notes(connection)
                self._looked = True
            found = unread.newest(connection, space, _BATCH)
            self._unread = unread.count(connection, space)
        self._wanted = self._wanted or bool(found.rows)
        return (space, found) if found.rows or found.gone else None

    def _read(self, space: Space, row: Waiting) -> None:
        """Read one row and write its vector; one that cannot be read keeps the one it has."""
        begun = time.monotonic()
        try:
            text = self._embedder.prefix + row.content
            read = self._closely.document(text, is_turn=row.is_turn)
            vector = to_int8(read.vector)
        except (VectorsUnavailable, MemoryError):
            raise
        except Exception:
            log.exception("a memory could not be read closely")
            self._strike_off(space, [row.rid])
            return
        item = Item(row.rid, row.ulid, row.version, vector.tobytes())
        # Chats with an assistant gain nothing from their pieces, which take 4 kB a turn.
        pieces = read.pieces if row.is_talk else None
        made = Made(item, b"" if pieces is None else pieces.tobytes())
        # Told to us before the future resolves: our own vector is no reason to look again.
        self._rid = row.rid
        self._put(partial(unread.put_read, space=space, read=[made], gone=()))
        self._rid = 0
        self._state, self._last_error = "working", None
        self._stopping.wait(REST * (time.monotonic() - begun))

    def _strike_off(self, space: Space, rids: Sequence[int]) -> None:
        if rids:
            self._put(partial(unread.put_read, space=space, read=(), gone=rids))

    def _put(self, job: Callable[[Transaction], None]) -> None:
        self._store.writer.submit(job, background=True).result()

    def _await_quiet(self) -> None:
        """Wait until nobody asked or stored for a moment, within limits."""
        end = time.monotonic() + LONGEST_SECONDS
        while not self._stopping.is_set():
            now = time.monotonic()
            left = min(self._disturbed + QUIET_SECONDS, end) - now
            if left <= 0:
                return
            self._stopping.wait(left)
