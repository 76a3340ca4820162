"""Advisory locks between clients: spawn.lock (who starts the daemon) and grant.lock (who mints).

The files are never unlinked: whoever opened the old inode would hold "the" lock beside whoever
created the new one. flock has no time-out, so waiting is polling, 2 ms doubling to 100 ms.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from ...auth.errors import DeadlineExceeded, StorageTrouble
from ...auth.paths import ensure_private_dir
from .deadline import Deadline

T = TypeVar("T")

_FIRST_PAUSE = 0.002
_LAST_PAUSE = 0.1


@contextmanager
def held(path: str, deadline: Deadline) -> Generator[None]:
    """Hold this lock for the length of the block; raises DeadlineExceeded when it stays taken."""
    fd = opened(path)
    try:
        if acquire(fd, deadline, lambda: None) is False:
            raise DeadlineExceeded(
                f"Another recalld held {path} for {deadline.seconds:g} s.",
                hint="Run: recalld doctor",
            )
        yield
    finally:
        os.close(fd)


def opened(path: str) -> int:
    """The lock file, created 0600 in a private folder if need be; close it to let go."""
    run = os.path.dirname(path)
    ensure_private_dir(os.path.dirname(run))  # the data folder first, or it gets the umask's modes
    ensure_private_dir(run)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        raise StorageTrouble(
            f"{path} cannot be opened: {error.strerror}.", hint="Run: recalld doctor"
        ) from error


def acquire(fd: int, deadline: Deadline, meanwhile: Callable[[], T | None]) -> T | bool:
    """Wait for the lock: True when it is ours, False when the time is up.

    `meanwhile` is asked between attempts, and what it answers ends the wait: the daemon may be up
    long before the process that started it lets go of the lock.
    """
    pause = _FIRST_PAUSE
    while True:
        if tried(fd):
            return True
        found = meanwhile()
        if found is not None:
            return found
        if deadline.over:
            return False
        time.sleep(deadline.within(pause))
        pause = min(pause * 2, _LAST_PAUSE)


def tried(fd: int) -> bool:
    """One attempt, without waiting."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
