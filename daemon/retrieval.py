"""Recall and embedding, loaded behind the listener's back.

numpy and the model take about as long to load as everything before the first answer; so they load
in a thread of their own once the daemon answers, and the first recall waits for them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from ..auth.errors import Busy, RecalldError
from ..storage.engine import Store
from .settings import Settings

if TYPE_CHECKING:
    from .embed.backlog import Backlog
    from .recall.pipeline import Recall

log = logging.getLogger("recalld.retrieval")
_LOOK_SECONDS = 30.0
_LOADING_SECONDS = 1.0


class Loaded(NamedTuple):
    """What the thread brings up: the pipeline, and the job that fills in vectors."""

    recall: Recall
    backlog: Backlog


class Retrieval:
    """The pipeline once it is loaded, and its state meanwhile."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._future: Future[Loaded] = Future()
        self._thread = threading.Thread(target=self._load, name="retrieval-loader", daemon=True)

    def start(self) -> None:
        """Begin to load."""
        self._thread.start()

    async def recall(self, within: float) -> Recall:
        """The pipeline, waiting up to `within` seconds for it.

        Raises:
            RecalldError: it could not be loaded.
        """
        if self._future.done():  # always but at first; a wrapped future costs a turn of the loop
            return self._future.result().recall
        waiting = asyncio.shield(asyncio.wrap_future(self._future))
        async with asyncio.timeout(within):
            return (await waiting).recall

    def state(self) -> dict[str, object]:
        """The embedding part of `status`."""
        if not self._future.done():
            return {"model": None, "dim": None, "pending": 0, "state": "loading"}
        error = self._future.exception()
        if error is not None:
            state = {"model": None, "dim": None, "pending": 0, "state": "failed"}
            return {**state, "last_error": type(error).__name__}
        return dict(self._future.result().backlog.state())

    def words(self) -> str:
        """The state of the full-text index: `ok`, `rebuilding` or `damaged`."""
        loaded = self._loaded()
        return "ok" if loaded is None else loaded.recall.words.state

    def mend_words(self) -> None:
        """The full-text index turned out damaged: write it anew."""
        loaded = self._loaded()
        if loaded is not None:
            loaded.recall.words.mend()

    def reembed(self) -> None:
        """Embed every row anew. Raises RecalldError while recall is loading or could not be."""
        if not self._future.done():
            raise Busy("Recall is still loading.", retry_after_ms=500)
        self._future.result().backlog.reembed()

    def stop(self) -> None:
        """End the background work; a load that takes long is left to end with the process."""
        if self._thread.is_alive():
            # It may be about to open the store, whose log is emptied by whoever closes it last.
            self._thread.join(_LOADING_SECONDS)
        loaded = self._loaded()
        if loaded is not None:
            loaded.backlog.stop()
            loaded.recall.close()

    def _loaded(self) -> Loaded | None:
        if self._future.done() and self._future.exception() is None:
            return self._future.result()
        return None

    def _load(self) -> None:
        try:
            self._future.set_result(self._build())
        except Exception as error:
            log.exception("recall could not be loaded")
            failure = RecalldError("Recall could not be loaded; see the log.")
            failure.__cause__ = error
            self._future.set_exception(failure)

    def _build(self) -> Loaded:
        # The only place that knows recall and embed by name.
        from .embed.backlog import Backlog
        from .embed.choice import choose
        from .embed.standing import standing
        from .recall.pipeline import Recall

        choice = choose(self._settings)
        with self._store.reader().until(time.monotonic() + _LOOK_SECONDS) as connection:
            now = standing(connection, choice.chosen, choice.others, self._store.has_vectors)
        recall = Recall(self._store, now, self._settings, near=choice.near)
        backlog = Backlog(self._store, choice.chosen, recall.switch, choice.others)
        backlog.start()
        recall.words.check()
        return Loaded(recall, backlog)
