"""The thread that gives every stored row its vector: within a moment, and after a restart too.

A row without a vector in the space is pending, whatever happened before: a crash loses no work but
the batch under way. Vectors are written in small background jobs, and when no rows are coming in
(see arrivals), so that no store waits for them.
With a new model all rows are pending in its new space; recall is told once they all have theirs.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import apsw

from ....storage import namespaces, pieces, unread, vectors
from ....storage.engine import Store
from ....storage.faults import Closed, StorageFault
from ....storage.reader import Reader
from ....storage.transaction import Change
from ....storage.vectors import Pending, Space
from .. import standing
from ..protocol import Embedder, VectorsUnavailable
from ..standing import Standing
from .arrivals import FEW, Arrivals
from .progress import Progress
from .sieve import Sieve

log = logging.getLogger("recalld.embed")
# The change feed wakes the thread; this is for what it cannot see, such as a repaired store.
_LOOK_AGAIN_SECONDS = 30.0
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 15.0
# Changes come by the hundred, and each would be a reason to try a provider that just failed.
_LEAST_PAUSE = 0.5
_READ_SECONDS = 30.0
# Rows whose pieces go in one job: 5 ms, and whoever stores comes between two of them.
_CLEARED_AT_ONCE = 500
# A provider that is being asked cannot be hurried; its thread ends with the process.
_STOP_SECONDS = 2.0


def _nobody(_: Standing) -> None:
    """For those who need not know."""


class Backlog:
    """Embeds what is pending until nothing is, then waits for the next change.

    `settle` is called, in this thread, whenever recall should work with other vectors; `others` are
    embedders that may serve while the vectors of `embedder` are being made.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        settle: Callable[[Standing], None] = _nobody,
        others: Sequence[Embedder] = (),
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._settle = settle
        self._others = others
        self._sieve = Sieve(embedder)
        self._progress = Progress(embedder)
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._stopping = threading.Event()
        self._anew = False
        self._arrivals = Arrivals()
        self._caught_up = False
        self._space: Space | None = None
        self._unsubscribe = store.writer.subscribe(self._changed)
        self._thread = threading.Thread(target=self._run, name="embedding", daemon=True)

    def start(self) -> None:
        """Load the embedder and begin, in a thread of its own."""
        off = self._embedder.model == "none"
        if self._store.has_vectors and not off:
            self._thread.start()
            return
        self._unsubscribe()
        self._progress.state = "off" if off else "unavailable"

    def stop(self) -> None:
        """End after the batch under way, without waiting for a provider that does not answer."""
        self._stopping.set()
        self._wake.set()
        self._hurry.set()
        self._unsubscribe()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def reembed(self) -> None:
        """Embed every row anew with the chosen model; if that is under way, try all again now."""
        self._progress.asked()
        self._wake.set()

    def hasten(self) -> Callable[[], bool] | None:
        """Somebody asks: embed now what waits for a pause.

        What tells when everything stored so far has its vector; None when that takes long.
        """
        if self._is_starting():
            return lambda: not self._is_starting()
        batch = self._arrivals.hurry()
        if batch is None:
            return None
        self._hurry.set()
        return partial(self._arrivals.is_done, batch)

    def _is_starting(self) -> bool:
        """Whether the model is being loaded, or few rows are left of what a start found."""
        state = self._progress.state
        return state == "loading" or (state == "working" and self._progress.pending <= FEW)

    def state(self) -> dict[str, object]:
        """For status, see Progress.told."""
        waiting = self._arrivals.waiting()
        return self._progress.told(self._sieve.refused(), self._sieve.last_trouble, waiting)

    def _changed(self, changes: Sequence[Change]) -> None:
        """On the writer thread, after a commit."""
        fresh: list[int] = []
        for change in changes:
            if change.op == "upsert" and (change.version == 1 or change.vector_dropped):
                fresh.append(change.rid)
            if change.op != "embed":
                self._sieve.forgive(change.rid)
        if fresh:
            self._arrivals.add(fresh)
            self._wake.set()

    def _run(self) -> None:
        reader: Reader | None = None
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            # Cleared before looking: a change that comes while we look sets it again.
            self._wake.clear()
            self._await_pause()
            self._heed()
            try:
                reader = reader or self._store.reader()
                left = self._round(reader)
            except Closed:
                return
            except (VectorsUnavailable, StorageFault, apsw.Error, ValueError) as error:
                log.warning("rows could not be embedded: %s", error)
                self._fail(reader, error)
                left = True
            pause = min(_LONGEST_PAUSE, 2 * pause) if left else _FIRST_PAUSE
            if left:
                self._stopping.wait(_LEAST_PAUSE)
            # What was asked for during the round may have had its wake cleared by it.
            if self._progress.is_asked:
                continue
            if not self._wake.wait(pause if left else _LOOK_AGAIN_SECONDS):
                self._caught_up = False

    def _fail(self, reader: Reader | None, error: Exception) -> None:
        """Tell everybody that nothing can be embedded just now."""
        self._progress.failed(str(error) or type(error).__name__)
        with suppress(StorageFault, apsw.Error):  # it may be the store that fails
            if reader is not None:
                self._tell(reader)

    def _recover(self, reader: Reader) -> None:
        """Tell everybody that it is over, if something was wrong."""
        if self._progress.is_failing:
            self._progress.succeeded()
            self._tell(reader)

    def _await_pause(self) -> None:
        """Let whoever is storing finish first, within limits; nothing arrives during a start."""
        while (seconds := self._arrivals.pause()) > 0 and not self._stopping.is_set():
            # Cleared after the wait: a hurry that comes before it has already ended the pause.
            self._hurry.wait(seconds)
            self._hurry.clear()

    def _round(self, reader: Reader) -> bool:
        """Try every pending row once; whether some are left that must be tried again."""
        arrived = self._arrivals.take()
        caught_up, self._caught_up = self._caught_up, False
        if not (caught_up and self._embed_these(reader, arrived)) and self._look_through(reader):
            return True
        self._arrivals.done()
        self._caught_up = True
        return False

    def _heed(self) -> None:
        """Begin what was asked for."""
        if self._progress.is_asked:
            self._anew = True
            self._progress.begun()

    def _embed_these(self, reader: Reader, rids: Sequence[int] | None) -> bool:
        """Embed rows known by name; False when the store must be looked through after all."""
        space = self._space
        if rids is None or space is None or self._anew:
            return False
        while rids and not self._stopping.is_set():
            some, rids = rids[: self._sieve.size], rids[self._sieve.size :]
            with reader.until(time.monotonic() + _READ_SECONDS) as connection:
                rows = vectors.lacking(connection, space, some)
                self._progress.total = sum(namespaces.sizes(connection).values())
            if rows and self._put(reader, space, self._sieve.due(rows)) < len(rows):
                return False
        return not rids

    def _look_through(self, reader: Reader) -> bool:
        """Embed whatever lacks its vector; whether some rows are left that must be tried again."""
        if self._space is None:
            self._foresee(reader)
            self._space = self._open(reader, anew=False)
            self._heed()  # loading may have taken long
        if self._anew:
            self._sieve.forgive_all()
            self._space = self._open(reader, anew=True)
            self._anew = False
        space = self._space
        self._pass(reader, space)
        left = self._count(reader, space) - self._sieve.refused()
        self._progress.pending = max(0, left)
        if left > 0:
            return True
        self._recover(reader)
        self._complete(reader, space)
        self._progress.state, self._progress.last_error = "ready", None
        return False

    def _foresee(self, reader: Reader) -> None:
        """Tell how much there is to do, before the model, which may be out of reach, is loaded."""
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            known = [s for s in vectors.spaces(connection) if s.model == self._embedder.model]
            self._progress.total = sum(namespaces.sizes(connection).values())
            self._progress.pending = (
                vectors.pending_count(connection, known[-1]) if known else self._progress.total
            )

    def _open(self, reader: Reader, *, anew: bool) -> Space:
        """The space to fill; a new generation if `anew` and the present one is complete."""
        embedder = self._embedder
        embedder.load()
        self._progress.loaded()
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            name = standing.newest(connection, embedder.space)
            present = vectors.find_space(connection, name)
            if anew and present is not None and vectors.is_complete(connection, present):
                name = standing.next_generation(name)
        ensure = partial(
            vectors.ensure_space,
            name=name,
            model=embedder.model,
            dim=embedder.dimension,
            prefix=embedder.prefix,
        )
        space = self._store.writer.submit(ensure, background=True).result()
        self._tell(reader)
        return space

    def _tell(self, reader: Reader) -> None:
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            failing = self._progress.is_failing
            now = standing.standing(connection, self._embedder, self._others, failing=failing)
        self._settle(now)

    def _pass(self, reader: Reader, space: Space) -> None:
        """Embed what is pending, newest first, each row at most once."""
        below = vectors.MAX_RID
        while not self._stopping.is_set():
            if self._wake.is_set():  # what was stored a moment ago comes before a long re-embedding
                self._wake.clear()
                self._arrivals.take()  # found by looking, and done with when this is
                below = vectors.MAX_RID
            with reader.until(time.monotonic() + _READ_SECONDS) as connection:
                rows = vectors.pending(connection, space, self._sieve.size, below)
                count = vectors.pending_count(connection, space) if rows else 0
                self._progress.total = count + vectors.stored_count(connection, space)
            if not rows:
                return
            below = rows[-1].rid
            due = self._sieve.due(rows)
            if due:
                self._progress.working(count - self._sieve.refused())
                self._put(reader, space, due)

    def _put(self, reader: Reader, space: Space, due: Sequence[Pending]) -> int:
        """Embed the rows and write their vectors; how many could be."""
        items, closely = self._sieve.made(due), self._embedder.close_reader
        put = partial(vectors.put, space=space, items=items)
        if closely is not None:
            put = partial(unread.put_first, space=space, items=items, turns=closely.is_thorough)
        written = self._store.writer.submit(put, background=True).result()
        if written:
            self._recover(reader)
        return written

    def _count(self, reader: Reader, space: Space) -> int:
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            return vectors.pending_count(connection, space)

    def _complete(self, reader: Reader, space: Space) -> None:
        """Every row has its vector: let recall use them, then drop those of other models."""
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            if vectors.is_complete(connection, space):
                return
        writer = self._store.writer
        writer.submit(partial(vectors.set_complete, space=space), background=True).result()
        self._tell(reader)
        with reader.until(time.monotonic() + _READ_SECONDS) as connection:
            old = standing.outdated(connection, space)
        for one in old:
            clear = partial(pieces.drop, space=one.id, most=_CLEARED_AT_ONCE)
            while writer.submit(clear, background=True).result():
                pass
            writer.submit(partial(vectors.drop_space, space=one), background=True).result()
