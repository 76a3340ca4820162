"""The slow way to a daemon: exactly one client starts it, all others wait for the same one.

One round: take spawn.lock (looking at the record meanwhile), look again because somebody may have
been faster, replace a daemon that is too old, start one, look. Every wait counts against one
Deadline, and whoever runs out of it says which phase it was in. No pid is ever signalled but our
own child's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from ...auth.errors import DaemonUnreachable
from ...auth.paths import Layout
from ..service import unit as service
from ..service.wording import starter
from ..version import VERSION
from . import lock
from .deadline import Deadline
from .discovery import Absent, Live, look, signature
from .skew import too_old
from .spawn import ENOUGH, Killed, spawn
from .stopping import ask_to_stop, silent

_IMPATIENT = 0.5
"""Seconds for a hello while something else (a starting process) is waited for as well."""

_MOST_KILLED = 5
"""Starts that may end by a signal from outside before that is told as an error."""

_LOOK_AGAIN = 1.0
"""Seconds after which an unchanged record is tried again: its daemon may have been busy."""


class Starting:
    """One client's attempt to get a daemon up, from its first failed look to a connection."""

    def __init__(self, layout: Layout, environ: Mapping[str, str], deadline: Deadline) -> None:
        self._layout = layout
        self._environ = environ
        self._deadline = deadline
        self._seen = signature(layout)
        self._looked_at = time.monotonic()
        self._last = Absent("discovery", "no daemon has published itself")
        # A replacement that does not help must not be repeated: that is how restart loops begin.
        self._replaced = False
        self._killed = 0

    def run(self, found: Live | Absent) -> Live:
        """A usable connection; raises DaemonSilent, StartFailed or what the daemon reported."""
        self._note(found)
        pause = 0.02
        while not self._deadline.over:
            live = self._round()
            if live is not None:
                if not too_old(live):
                    return live
                live.wire.close()
            time.sleep(self._deadline.within(pause))
            pause = min(pause * 2, 1.0)
        raise silent(self._layout, self._deadline, self._last, None)

    def _round(self) -> Live | None:
        fd = lock.opened(self._layout.spawn_lock)
        try:
            taken = lock.acquire(fd, self._deadline, self._appeared)
            if isinstance(taken, Live):
                return taken
            return self._start() if taken else None
        finally:
            os.close(fd)

    def _start(self) -> Live | None:
        """With spawn.lock held: look once more, make room, start, look."""
        live = self._look()
        if live is not None:
            if not too_old(live):
                return live
            self._replace(live)
        if service.serves(self._layout, self._environ) and service.start(
            self._environ, self._deadline
        ):
            return self._look()
        if self._deadline.left() < ENOUGH:
            return None
        try:
            live = spawn(self._layout, self._environ, self._deadline, self._appeared)
        except Killed as killed:
            self._killed += 1
            if self._killed > _MOST_KILLED:
                raise killed.error from killed
            return None
        return live or self._look()

    def _replace(self, live: Live) -> None:
        """Ask an older daemon to leave; the successor waits for its lock, so nothing overlaps."""
        if self._replaced or live.record.managed_by != "spawn":
            live.wire.close()
            raise DaemonUnreachable(
                f"The daemon (pid {live.record.pid}, recalld {live.hello.version},"
                f" {starter(live.record.managed_by)}) is too old for this client ({VERSION}).",
                hint="Run: recalld restart",
            )
        self._replaced = True
        ask_to_stop(live, self._deadline, f"replaced by recalld {VERSION}")

    def _appeared(self) -> Live | None:
        """A cheap look inside waits: only a changed record, or a second gone by, costs a hello."""
        now, changed = time.monotonic(), signature(self._layout)
        if changed is None or (changed == self._seen and now - self._looked_at < _LOOK_AGAIN):
            return None
        live = self._look(_IMPATIENT)
        if live is not None and too_old(live):
            live.wire.close()
            return None
        return live

    def _look(self, patience: float = 2.0) -> Live | None:
        self._seen = signature(self._layout)
        found = look(self._layout, self._deadline, patience=patience)
        self._looked_at = time.monotonic()
        self._note(found)
        return found if isinstance(found, Live) else None

    def _note(self, found: Live | Absent) -> None:
        if isinstance(found, Absent):
            self._last = found
