"""How far embedding has come, as status tells it."""

from __future__ import annotations

from ..protocol import Embedder


class Progress:
    """Written by the backlog's thread (before it starts, by whoever starts it), read by anybody:
    plain numbers, each right by itself. Only `asked` is for other threads.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.state = "loading"
        self.is_loaded = False
        self.pending = 0
        self.total = 0
        self.last_error: str | None = None
        self._asked = False

    @property
    def is_failing(self) -> bool:
        """Whether nothing has gone well since something failed, also while it is tried anew."""
        return self.last_error is not None

    @property
    def is_asked(self) -> bool:
        """Whether something is asked for that has not begun."""
        return self._asked

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
        """Everything shall be embedded anew; for any thread."""
        self._asked = True

    def begun(self) -> None:
        """What was asked for is under way: what failed before may not fail again."""
        if self.state == "ready":
            self.pending = self.total
        self.state = self._renewed(self.state)
        # Last, or somebody might see neither that it was asked for nor that it is under way.
        self._asked = False

    def _renewed(self, state: str) -> str:
        """What comes after this state when everything shall be embedded anew."""
        if state not in ("ready", "failed"):
            return state
        return "working" if self.is_loaded else "loading"

    def told(self, refused: int, last_trouble: str | None, waiting: int) -> dict[str, object]:
        """Model, dimension, rows in all, pending and refused ones, state (loading, ready, working,
        failed, off, unavailable) and the last error; `questions` says whether the embedder gives
        them vectors. `waiting` rows were stored since they were last counted.
        """
        asked = self._asked  # before the state, as it is written after it
        before = self.state
        state = self._renewed(before) if asked else before
        pending = self.total if asked and before == "ready" else max(self.pending, waiting)
        trouble = self._embedder.trouble
        in_vain = trouble is not None or (state == "failed" and not self.is_loaded)
        return {
            "model": self._embedder.model,
            "dim": self._embedder.dimension,
            "pending": pending,
            "total": max(self.total, pending),
            "refused": refused,
            "state": state,
            "questions": "failing" if in_vain else "ok",
            "last_error": self.last_error or last_trouble or trouble,
        }
