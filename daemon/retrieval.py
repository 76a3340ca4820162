"""Recall and embedding, loaded behind the listener's back.

numpy and the model take about as long to load as everything before the first answer; so they load
in a thread of their own once the daemon answers, and the first recall waits for them.

What is missing may come back (descriptors, memory, the disk): loading is tried again until then.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from ..auth.errors import Busy, InvalidRequest, RecalldError, StorageTrouble
from ..storage.engine import Store
from ..storage.faults import Busy as StoreBusy
from ..storage.faults import DiskTrouble, Interrupted
from .settings import Settings

if TYPE_CHECKING:
    from ..storage.reader import Reader
    from .embed.background.backlog import Backlog
    from .embed.background.reading import Reading
    from .recall.pipeline import Recall

log = logging.getLogger("recalld.retrieval")
_LOOK_SECONDS = 30.0
_LOADING_SECONDS = 1.0
# What was stored before a question shall be found by it: a few rows take 10 ms, a model that is
# being loaded half a second.
_CATCH_UP_SECONDS = 1.0
_CATCH_UP_LOOK = 0.003
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 10.0
# Embedders that no question waits long for, whatever else is wrong with the machine.
_AT_HAND = frozenset({"layered", "static", "minilm"})
_SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EIO})


_NOT_LOADED: dict[str, object] = {
    "model": None,
    "dim": None,
    "pending": None,
    "total": None,
    "refused": None,
    "questions": "ok",
    "last_error": None,
    "serving": None,
    "reading": None,
}
"""What there is to say of the vectors before recall is loaded, beside its state."""


class Loaded(NamedTuple):
    """What the thread brings up: the pipeline, and the jobs that make vectors and better ones."""

    recall: Recall
    backlog: Backlog
    reading: Reading | None


class Retrieval:
    """The pipeline once it is loaded, and its state meanwhile."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._future: Future[Loaded] = Future()
        self._trouble: str | None = None
        self._reader: Reader | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._load, name="retrieval-loader", daemon=True)

    def start(self) -> None:
        """Begin to load."""
        self._thread.start()

    async def recall(self, within: float) -> Recall:
        """The pipeline, waiting up to `within` seconds for it.

        Raises:
            Busy: it could not be loaded so far.
            RecalldError: it cannot be loaded.
        """
        if not self._future.done():  # only at first; a wrapped future costs a turn of the loop
            if self._trouble is not None:
                raise Busy("Recall could not be loaded; trying again.", retry_after_ms=1000)
            waiting = asyncio.shield(asyncio.wrap_future(self._future))
            async with asyncio.timeout(within):
                await waiting
        loaded = self._future.result()
        if loaded.reading is not None:
            loaded.reading.disturb()
        if self._settings.embedder in _AT_HAND:
            await _catch_up(loaded.backlog, min(within / 2, _CATCH_UP_SECONDS))
        return loaded.recall

    def state(self) -> dict[str, object]:
        """The embedding part of `status`."""
        chosen = {"embedder": self._settings.embedder}
        nothing = {**chosen, **_NOT_LOADED}
        if not self._future.done():
            if self._trouble is None:
                return {**nothing, "state": "loading"}
            return {**nothing, "state": "failed", "last_error": self._trouble}
        error = self._future.exception()
        if error is not None:
            cause = type(error.__cause__ or error).__name__
            return {**nothing, "state": "failed", "last_error": cause}
        loaded = self._future.result()
        reading = None if loaded.reading is None else loaded.reading.state()
        told = loaded.backlog.state()
        return {**chosen, **told, "serving": _serving(loaded.recall, told), "reading": reading}

    def words(self) -> str:
        """The state of the full-text index: `ok`, `rebuilding` or `damaged`."""
        loaded = self._loaded()
        return "ok" if loaded is None else loaded.recall.words.state

    def ranking(self) -> str:
        """The state of the second ranking: `ok` or `unavailable`."""
        loaded = self._loaded()
        return "ok" if loaded is None or loaded.recall.is_ranked_twice else "unavailable"

    def mend_words(self) -> None:
        """The full-text index turned out damaged: write it anew."""
        loaded = self._loaded()
        if loaded is not None:
            loaded.recall.words.mend()

    def reembed(self) -> None:
        """Embed every row anew.

        Raises RecalldError while recall is loading or could not be, and where nothing is embedded.
        """
        if not self._future.done():
            raise Busy("Recall is still loading.", retry_after_ms=500)
        backlog = self._future.result().backlog
        state = backlog.state()["state"]
        if state == "off":
            raise InvalidRequest(
                'There are no vectors to make: embedder is "none".',
                hint="Choose another one in config.toml, then run: recalld restart",
            )
        if state == "unavailable":
            raise StorageTrouble(
                "No vectors can be made: the vector extension (sqlite-vec) could not be loaded.",
                hint="Run: recalld logs",
            )
        backlog.reembed()

    def stop(self) -> None:
        """End the background work; a load that takes long is left to end with the process."""
        self._stopping.set()
        if self._thread.is_alive():
            # It may be about to open the store, whose log is emptied by whoever closes it last.
            self._thread.join(_LOADING_SECONDS)
        loaded = self._loaded()
        if loaded is not None:
            if loaded.reading is not None:
                loaded.reading.stop()
            loaded.backlog.stop()
            loaded.recall.close()

    def _loaded(self) -> Loaded | None:
        if self._future.done() and self._future.exception() is None:
            return self._future.result()
        return None

    def _load(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                self._future.set_result(self._build())
                # As at the end of the start, for what was imported since.
                gc.freeze()
                return
            except Exception as error:
                if not _may_pass(error):
                    self._give_up(error)
                    return
                log.warning("recall could not be loaded yet: %s", error)
                self._trouble = type(error).__name__
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _give_up(self, error: Exception) -> None:
        log.exception("recall could not be loaded")
        failure = RecalldError("Recall could not be loaded; see the log.")
        failure.__cause__ = error
        self._future.set_exception(failure)

    def _build(self) -> Loaded:
        # The only place that knows recall and embed by name.
        from .embed.background.backlog import Backlog
        from .embed.background.reading import Reading
        from .embed.choice import choose
        from .embed.standing import standing
        from .recall.pipeline import Recall

        choice = choose(self._settings)
        # One reader, however often it takes: the store keeps each to its end.
        self._reader = self._reader or self._store.reader()
        with self._reader.until(time.monotonic() + _LOOK_SECONDS) as connection:
            now = standing(connection, choice.chosen, choice.others, self._store.has_vectors)
        recall = Recall(self._store, now, self._settings, near=choice.near)
        backlog = Backlog(self._store, choice.chosen, recall.switch, choice.others)
        backlog.start()
        recall.words.check()
        closely = choice.chosen.close_reader
        reading = None
        if closely is not None and self._store.has_vectors:
            reading = Reading(self._store, choice.chosen, closely)
            reading.start()
        return Loaded(recall, backlog, reading)


def _serving(recall: Recall, told: Mapping[str, object]) -> str | None:
    """The model whose vectors answer questions just now; None where only words do."""
    serving = recall.standing.embedder
    if not serving.dimension:
        return None
    # Those that serve until the chosen one can are shipped: they are always at hand.
    in_vain = serving.model == told["model"] and told["questions"] == "failing"
    return None if in_vain else serving.model


async def _catch_up(backlog: Backlog, within: float) -> None:
    """Wait a moment for vectors that are about to be there."""
    end = time.monotonic() + within
    is_done = backlog.hasten()
    while is_done is not None and not is_done() and time.monotonic() < end:
        await asyncio.sleep(_CATCH_UP_LOOK)


def _may_pass(error: BaseException | None) -> bool:
    """Whether the error, or one behind it, is about something that is scarce only for a while."""
    if isinstance(error, OSError):
        return error.errno in _SCARCE
    if isinstance(error, MemoryError | DiskTrouble | StoreBusy | Interrupted):
        return True
    return error is not None and _may_pass(error.__cause__ or error.__context__)
