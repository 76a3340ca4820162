"""What may be sent again, and when: one policy for the command line, hooks and both SDK clients.

Sent again: reads and keyed writes once after a broken connection (the daemon recognises the key);
anything that was answered 503 draining, which means "not executed"; anything answered 429, after
the time the daemon asked for. Nothing else, ever.
"""

from __future__ import annotations

from ..auth.errors import Busy, Draining, RecalldError

_BUSY_ROUNDS = 5
_DRAINING_ROUNDS = 20
_LONGEST_PAUSE = 2.0


class Retries:
    """Counts the attempts of one request."""

    def __init__(self, *, repeatable: bool) -> None:
        self._breaks_left = 1 if repeatable else 0
        self._busy_left = _BUSY_ROUNDS
        self._draining_left = _DRAINING_ROUNDS

    def after_break(self) -> bool:
        """Whether to send again after the connection broke with the outcome unknown."""
        self._breaks_left -= 1
        return self._breaks_left >= 0

    def after_refusal(self, error: RecalldError) -> float | None:
        """Seconds to wait before sending again, or None when the answer is final."""
        asked = (error.retry_after_ms or 50) / 1000
        if isinstance(error, Draining):
            self._draining_left -= 1
            return 0.01 if self._draining_left >= 0 else None
        if isinstance(error, Busy):
            self._busy_left -= 1
            return min(asked, _LONGEST_PAUSE) if self._busy_left >= 0 else None
        return None
