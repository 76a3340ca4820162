"""The ownership lock: one flock, held for the life of the process, never unlinked.

An unlinked lock file gives two owners: two processes then hold "the" lock on two inodes of one
path. So the file stays for ever, and its inode is compared after locking and every few seconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from ...auth.errors import AlreadyRunning


class OwnerLock:
    """The lock on one data folder; the kernel releases it when the process ends, in any way."""

    def __init__(self, path: str, fd: int) -> None:
        self.path = path
        self._fd = fd

    @classmethod
    def take(cls, path: str, *, wait: float) -> OwnerLock:
        """Take the lock, waiting up to `wait` seconds.

        Raises:
            AlreadyRunning: another process holds it; the message names its pid.
        """
        until = time.monotonic() + wait
        pause = 0.002
        while True:
            fd = _try(path)
            if fd is not None:
                with contextlib.suppress(OSError):  # a full disk; the pid is for messages only
                    os.ftruncate(fd, 0)
                    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
                return cls(path, fd)
            if time.monotonic() >= until:
                raise AlreadyRunning(
                    f"Another recalld (pid {_holder(path)}) owns this data folder.",
                    hint="Use that one, or run `recalld stop` first.",
                )
            time.sleep(pause)  # flock has no time-out of its own
            pause = min(pause * 2, 0.1)

    def still_ours(self) -> bool:
        """Whether the path still leads to the inode we locked (nobody deleted the folder)."""
        try:
            return os.stat(self.path, follow_symlinks=False).st_ino == os.fstat(self._fd).st_ino
        except FileNotFoundError:
            return False


def _try(path: str) -> int | None:
    """A descriptor holding the lock, or None when somebody else does."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Between open and flock the file may have been replaced: the lock would be on a ghost.
        if os.fstat(fd).st_ino == os.stat(path, follow_symlinks=False).st_ino:
            return fd
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(fd)
    return None


def _holder(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read(20).strip() or "unknown"
    except OSError:
        return "unknown"
