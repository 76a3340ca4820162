"""How far embedding has come, as status tells it."""

from __future__ import annotations

from ..protocol import Embedder


class Progress:
    """Written by the backlog's thread, read by anybody: plain numbers, each right by itself."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.state = "loading"
        self.pending = 0
        self.total = 0
        self.last_error: str | None = None

    def failed(self, trouble: str) -> None:
        """Nothing can be embedded just now."""
        self.state, self.last_error = "failed", trouble

    def working(self, pending: int) -> None:
        """Rows are being embedded, so many are left."""
        self.state, self.pending = "working", max(0, pending)

    def told(self, refused: int, last_trouble: str | None, waiting: int) -> dict[str, object]:
        """Model, dimension, rows in all, pending and refused ones, state (loading, ready, working,
        failed, off, unavailable) and the last error; for questions see `questions`. `waiting`
        rows were stored since they were last counted.
        """
        pending = max(self.pending, waiting)
        trouble = self._embedder.trouble
        return {
            "model": self._embedder.model,
            "dim": self._embedder.dimension,
            "pending": pending,
            "total": max(self.total, pending),
            "refused": refused,
            "state": self.state,
            "questions": "ok" if trouble is None else "failing",
            "last_error": self.last_error or last_trouble or trouble,
        }
