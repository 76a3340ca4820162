"""From "I need the daemon" to a proven connection, starting the daemon if nobody did.

The fast path is one look, 1-2 ms, and takes no lock. Everything else (single-flight start,
replacing an older daemon, waiting for one that is leaving) lives in `starting` and is imported when
needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...auth.errors import DaemonUnreachable
from ...auth.paths import Layout
from .deadline import Deadline
from .discovery import Absent, Live, look
from .skew import too_old


def connect(
    layout: Layout, environ: Mapping[str, str], deadline: Deadline, *, start: bool = True
) -> Live:
    """A connection to a proven daemon that speaks our API, before the deadline.

    With `start` false nothing is started or replaced. Raises DaemonUnreachable and its kin (each
    naming phase, reason, log and remedy), ClientTooOld, UnsafePermissions, or what a starting
    daemon reported.
    """
    found = look(layout, deadline)
    if isinstance(found, Live):
        if not too_old(found):
            return found
        found.wire.close()
    if not start:
        raise _refused(found, layout)
    from .starting import Starting  # locks and processes: only a cold start pays for them

    return Starting(layout, environ, deadline).run(found)


def _refused(found: Live | Absent, layout: Layout) -> DaemonUnreachable:
    if isinstance(found, Live):
        return DaemonUnreachable(
            f"The daemon (recalld {found.hello.version}) is too old for this client.",
            hint="Run: recalld restart",
        )
    return DaemonUnreachable(
        f"No daemon is running for {layout.data} ({found.phase}: {found.reason}).",
        hint="Run: recalld start",
    )
