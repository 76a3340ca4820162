"""Ending the daemon by asking it, and being sure that it is gone.

No pid is signalled, ever: the number in the record may be somebody else's process by now. The
daemon is asked over a proven connection, and gone means that the kernel has released its lock.
"""

from __future__ import annotations

import fcntl
import os
import time

from ...auth.errors import DaemonSilent
from ...auth.paths import Layout
from .deadline import Deadline
from .discovery import Absent, Live, look
from .request import Request, encode
from .wire import Broken, Silence

_PAUSE = 0.03


def stop(layout: Layout, deadline: Deadline, reason: str) -> int | None:
    """Stop the daemon and wait until it has let go of the data folder; its pid, or None.

    Raises DaemonSilent when something holds the folder and does not leave before the deadline.
    """
    stopped: int | None = None
    last = Absent("discovery", "no daemon has published itself")
    while not deadline.over:
        found = look(layout, deadline)
        if isinstance(found, Live):
            stopped = found.record.pid
            ask_to_stop(found, deadline, reason)
        else:
            last = found
            if not owned(layout):
                return stopped
        time.sleep(deadline.within(_PAUSE))
    raise silent(layout, deadline, last, stopped)


def ask_to_stop(live: Live, deadline: Deadline, reason: str) -> None:
    """Ask a proven daemon to leave; it unpublishes before it answers. The connection is used up."""
    request = Request("POST", "/v1/stop", encode({"reason": reason}), owner=True)
    try:
        live.wire.ask(
            request.method,
            request.target,
            headers=request.headers(live.record.secret),
            body=request.body,
            deadline=deadline,
        )
    except (Broken, Silence):
        pass  # it left before it could answer, or the deadline is over and the caller says so
    finally:
        live.wire.close()


def owned(layout: Layout) -> bool:
    """Whether a process holds the data folder's lock.

    The look takes the lock for a moment, shared; a daemon that starts in that moment tries again.
    """
    try:
        fd = os.open(layout.lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def silent(layout: Layout, deadline: Deadline, last: Absent, pid: int | None) -> DaemonSilent:
    """The error for a daemon that holds the data folder and does not react."""
    pid = pid or (last.record.pid if last.record else _holder(layout))
    whom = "The daemon" if pid is None else f"The daemon (pid {pid})"
    hint = "Run: recalld doctor"
    if pid is not None and last.record is None:
        hint = (
            "After an upgrade a large store may take minutes to be brought up to date: see the log,"
            f" and try again. If it stands still, wake it with kill -CONT {pid}."
        )
    elif pid is not None:
        hint = (
            f"Look with: ps -p {pid}; if that is recalld, wake it with kill -CONT {pid}"
            f" or end it with kill -9 {pid}."
        )
    return DaemonSilent(
        f"{whom} did not react within {deadline.seconds:g} s"
        f" (phase {last.phase}: {last.reason}). Log: {layout.log}.",
        hint=hint,
    )


def _holder(layout: Layout) -> int | None:
    """The pid in the lock file: written for people, and only ever shown to people."""
    try:
        with open(layout.lock, encoding="ascii", errors="replace") as file:
            return int(file.read(20))
    except (OSError, ValueError):
        return None
