"""A slow embedder behind a guard: a question waits for it a moment, then recall goes on without.

The question is embedded in a thread of the guard's own. What a provider does with it, in a second
or in an hour, holds that thread and no worker; after a failure nobody even waits for a while.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from typing import TYPE_CHECKING

from ..protocol import Embedder, VectorsUnavailable
from .circuit import Circuit

if TYPE_CHECKING:
    from ..protocol import Vectors

# As many as there are workers by default: they never queue up behind one another.
_THREADS = 4


class Guarded:
    """The embedder `inner`, whose `query` answers or fails within `patience` seconds."""

    close_reader = None

    def __init__(self, inner: Embedder, patience: float) -> None:
        self._inner = inner
        self._patience = patience
        self._circuit = Circuit()
        self._loaded = False
        self._starting = threading.Lock()
        self._asked: queue.SimpleQueue[tuple[Future[Vectors], str]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    @property
    def space(self) -> str:
        """The space of the inner embedder, once loaded."""
        return self._inner.space

    @property
    def model(self) -> str:
        """The model's public name."""
        return self._inner.model

    @property
    def dimension(self) -> int:
        """Numbers per vector; 0 until loaded, where only the provider knows."""
        return self._inner.dimension

    @property
    def prefix(self) -> str:
        """What is put before every document."""
        return self._inner.prefix

    @property
    def batch(self) -> int:
        """Texts at once."""
        return self._inner.batch

    @property
    def trouble(self) -> str | None:
        """Why questions are not embedded just now, or None."""
        return self._circuit.trouble

    def load(self) -> None:
        """Load the inner embedder. Raises VectorsUnavailable."""
        self._inner.load()
        self._loaded = True

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of documents, taking the time it takes. Raises VectorsUnavailable."""
        made = self._inner.documents(texts)
        self._circuit.may_have_recovered()
        return made

    def query(self, text: str) -> Vectors:
        """The vector of a question. Raises VectorsUnavailable, within the time allowed."""
        if not self._loaded:
            raise VectorsUnavailable(f"{self.model} is not loaded yet.")
        if not self._circuit.admits():
            raise VectorsUnavailable(self._circuit.trouble or "The provider is not asked now.")
        self._start()
        future: Future[Vectors] = Future()
        self._asked.put((future, text))
        try:
            vector = future.result(self._patience)
        except TookTooLong:
            future.cancel()
            trouble = f"{self.model} took longer than {self._patience * 1000:.0f} ms."
            self._circuit.failed(trouble)
            raise VectorsUnavailable(trouble) from None
        except VectorsUnavailable as error:
            self._circuit.failed(str(error))
            raise
        self._circuit.succeeded()
        return vector

    def _start(self) -> None:
        with self._starting:
            if self._threads:
                return
            for number in range(_THREADS):
                # Daemon threads: a provider that never answers must not keep the process alive.
                thread = threading.Thread(target=self._work, name=f"ask-{number}", daemon=True)
                thread.start()
                self._threads.append(thread)

    def _work(self) -> None:
        while True:
            future, text = self._asked.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(self._inner.query(text))
            except VectorsUnavailable as error:
                future.set_exception(error)
            except Exception as error:
                # Whatever it throws, the thread must live on and the waiting worker must know.
                future.set_exception(VectorsUnavailable(f"{type(error).__name__}: {error}"))
