"""Starting a daemon behind the hook's back: the hook does not wait, and ending it ends nothing.

`recalld start` does the work as a process of its own, with the single flight, the service manager
and the replacement of older daemons that it has anyway. It inherits the lock of this module, so
that as long as it runs no other hook starts another one, whatever becomes of the first hook.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from ...auth.paths import Layout
from ..connection import lock

PAUSE = 5.0
"""Seconds between two starts: where the daemon cannot start, each event would cost a process."""


def start(layout: Layout, environ: Mapping[str, str]) -> None:
    """Have a daemon started unless that is under way or was just tried; does not wait.

    Raises OSError or StorageTrouble when not even that is possible.
    """
    fd = lock.opened(os.path.join(layout.run, "hook-start.lock"))
    try:
        if lock.tried(fd) and not _just_tried(fd):
            _launch(environ, fd)
            # Its modification time is the time of the last start. Only now: a hook whose time ends
            # before this has started nothing, and the next one must not believe that it has.
            os.pwrite(fd, b"1", 0)
    finally:
        os.close(fd)


def _just_tried(fd: int) -> bool:
    found = os.fstat(fd)
    return found.st_size > 0 and 0 <= time.time() - found.st_mtime < PAUSE


def _launch(environ: Mapping[str, str], held: int) -> None:
    import subprocess  # 15 ms that only a missing daemon costs

    from ..connection.spawn import daemon_environment

    subprocess.Popen(
        [sys.executable, "-P", "-m", "recalld", "start"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(held,),
        cwd="/",
        env=daemon_environment(environ),
        start_new_session=True,
    )
