"""The host of a bridge as seen from inside: its words, its ear, and whether it lives."""

from __future__ import annotations

import os
import select
from typing import NoReturn


def leave(code: int = 0) -> NoReturn:
    """End at once: threads that wait for the daemon are not waited for."""
    os._exit(code)


class Host:
    """The two ends of us that a host holds, and the host itself: when it is gone, so are we."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._parent = os.getppid()
        self._poll = select.poll()
        self._poll.register(output, 0)  # its errors alone: the reader has closed it
        self._poll.register(0, select.POLLIN)

    def speaks(self, within_ms: int) -> bool:
        """Whether there is something on stdin, its end included; waits no longer than this."""
        events = dict(self._poll.poll(within_ms))
        if self._output in events or os.getppid() != self._parent:
            leave()
        return 0 in events

    def ended(self) -> None:
        """Stdin has ended: from now on it is not waited for."""
        self._poll.unregister(0)
