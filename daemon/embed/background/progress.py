"""How far embedding has come, as status tells it."""

from __future__ import annotations

from ..protocol import Embedder


class Progress:
    """Written by the backlog's thread, read by anybody: plain numbers, each right by itself."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.state = "loading"
        self.is_loaded = False
        self.pending = 0
        self.total = 0
        self.last_error: str | None = None

    def failed(self, trouble: str) -> None:
        """Nothing can be embedded just now."""
        self.state, self.last_error = "failed", trouble

    def working(self, pending: int) -> None:
        """Rows are being embedded, so many are left; after a failure that is a try until one is."""
        self.pending = max(0, pending)
        if self.state != "failed":
            self.state = "working"

    def loaded(self) -> None:
        """The embedder is loaded, which it may have been before."""
        if not self.is_loaded:
            self.is_loaded = True
            self.succeeded()

    def succeeded(self) -> None:
        """What was wrong is over."""
        self.state = "working" if self.state == "failed" else self.state
        self.last_error = None

    def asked(self) -> None:
        """Everything shall be embedded anew: what failed before may not fail again."""
        if self.state == "failed":
            self.state = "working" if self.is_loaded else "loading"
        if self.state == "ready":
            self.pending = self.total

    def told(self, refused: int, last_trouble: str | None, waiting: int) -> dict[str, object]:
        """Model, dimension, rows in all, pending and refused ones, state (loading, ready, working,
        failed, off, unavailable) and the last error; `questions` says whether the embedder gives
        them vectors. `waiting` rows were stored since they were last counted.
        """
        pending = max(self.pending, waiting)
        trouble = self._embedder.trouble
        in_vain = trouble is not None or (self.state == "failed" and not self.is_loaded)
        return {
            "model": self._embedder.model,
            "dim": self._embedder.dimension,
            "pending": pending,
            "total": max(self.total, pending),
            "refused": refused,
            "state": self.state,
            "questions": "failing" if in_vain else "ok",
            "last_error": self.last_error or last_trouble or trouble,
        }
