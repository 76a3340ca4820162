"""What may be sent again, and when: one policy for the command line, hooks and both SDK clients.

Sent again: reads and keyed writes after a broken connection (the daemon recognises the key), a
handful of times with growing pauses, because whatever ended one daemon may end the next as well;
anything that was answered 503 draining, which means "not executed"; anything answered 429, after
the time the daemon asked for. Nothing else, ever, and nothing beyond the call's deadline.
"""

from __future__ import annotations

from ...auth.errors import Busy, Draining, RecalldError

_BREAK_PAUSES = (0.0, 0.05, 0.1, 0.2, *[0.4] * 4)
"""Seconds before each repetition. A request that ends every daemon ends eight more, not all."""
_BUSY_ROUNDS = 5
_DRAINING_ROUNDS = 20
_LONGEST_PAUSE = 2.0


class Retries:
    """Counts the attempts of one request."""

    def __init__(self, *, repeatable: bool) -> None:
        self._break_pauses = iter(_BREAK_PAUSES if repeatable else ())
        self._busy_left = _BUSY_ROUNDS
        self._draining_left = _DRAINING_ROUNDS

    def after_break(self) -> float | None:
        """Seconds to wait before sending again after the connection broke with the outcome unknown,
        or None when that is final.
        """
        return next(self._break_pauses, None)

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
