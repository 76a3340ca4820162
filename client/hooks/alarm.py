"""The last resort against a hook that takes too long: the kernel's timer, whatever we wait for.

Every wait of a hook has a deadline of its own. The timer is for what has none: a file system that
hangs, a host that does not read its pipe, a machine so busy that we hardly run, a mistake of ours.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

FIRST = 1.15
"""Seconds after which delivering is given up, so that the event can still be spooled."""

LAST = 1.35
"""Seconds after which the host gets its process back; the interpreter's own start counts into the
1.5 as well."""

_AFTERLIFE = 10
"""Seconds in which a child may finish what the hook could not."""


class Overrun(BaseException):
    """The time for delivering is over; no `except Exception` may swallow it."""


def _pass(_number: int, _frame: FrameType | None) -> None:
    """Let a signal go by."""


class Alarm:
    """Rings at FIRST, which raises Overrun inside `rescuing`, and at LAST, which calls `last`."""

    def __init__(self, last: Callable[[], None]) -> None:
        self._last = last
        self._rescues = False
        self._rung = False

    def set(self) -> None:
        """Start the clock. Ctrl-C in the host's terminal is for the host, not for us."""
        signal.signal(signal.SIGINT, _pass)  # not SIG_IGN: a daemon we start would inherit that
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, FIRST, LAST - FIRST)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._rung:
            self._last()
            return
        self._rung = True
        if self._rescues:
            self._rescues = False
            raise Overrun

    @contextmanager
    def rescuing(self) -> Generator[None]:
        """The block that the first ring ends; one that came before ends it at once."""
        if self._rung:
            raise Overrun
        self._rescues = True
        try:
            yield
        finally:
            self._rescues = False


def left_to_child() -> None:
    """End this process with 0, and return in a child of its own session that is soon killed.

    The host has its process back in time, and an event that is not yet on disk is not lost: a
    starved machine needs seconds for what takes us milliseconds.
    """
    try:
        if os.fork():
            os._exit(0)
    except OSError:
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_AFTERLIFE)
