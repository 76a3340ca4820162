"""How long a piece of work may take, and whether anybody still waits for it."""

from __future__ import annotations

import time

from ..auth.errors import DeadlineExceeded


class Deadline:
    """A point in monotonic time after which nobody wants the answer, or an earlier cancellation.

    Made on the event loop, carried into a worker thread and read there by SQLite's progress
    handler: plain attribute writes do, a late reader only works a few microseconds longer.
    """

    __slots__ = ("at", "cancelled")

    def __init__(self, at: float) -> None:
        self.at = at
        self.cancelled = False

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """A deadline `seconds` from now."""
        return cls(time.monotonic() + seconds)

    def cancel(self) -> None:
        """Say that the answer is no longer wanted."""
        self.cancelled = True

    def is_over(self) -> bool:
        """Whether the work should end now: time is up, or the client has gone."""
        return self.cancelled or time.monotonic() >= self.at

    def remaining(self) -> float:
        """Seconds left, never negative, 0 once cancelled."""
        return 0.0 if self.cancelled else max(0.0, self.at - time.monotonic())

    def check(self) -> None:
        """Raise DeadlineExceeded when the work should end; call it between large steps."""
        if self.is_over():
            raise DeadlineExceeded("The work did not end within its time.")
