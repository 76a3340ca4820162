"""The last resort against a hook that takes too long: the kernel's timer, whatever we wait for.

Every wait of a hook has a deadline of its own. The timer is for what has none: a file system that
hangs, a host that does not read its pipe, a mistake of ours.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

FIRST = 1.15
"""Seconds after which whatever is going on is given up, so that the event can still be spooled."""

LAST = 1.35
"""Seconds after which the process ends; the interpreter's own start counts into the 1.5 as well."""


class Overrun(BaseException):
    """The time for reading and delivering is over; no `except Exception` may swallow it."""


def _pass(_number: int, _frame: FrameType | None) -> None:
    """Let a signal go by."""


class Alarm:
    """Rings at FIRST and at LAST: raises Overrun inside `rescuing`, else calls `end`."""

    def __init__(self, end: Callable[[], NoReturn]) -> None:
        self._end = end
        self._rescues = False

    def set(self) -> None:
        """Start the clock. Ctrl-C in the host's terminal is for the host, not for us."""
        signal.signal(signal.SIGINT, _pass)  # not SIG_IGN: a daemon we start would inherit that
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, FIRST, LAST - FIRST)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if not self._rescues:
            self._end()
        self._rescues = False
        raise Overrun

    @contextmanager
    def rescuing(self) -> Generator[None]:
        """Within this block the first ring raises Overrun, for which there is time then."""
        self._rescues = True
        try:
            yield
        finally:
            self._rescues = False
