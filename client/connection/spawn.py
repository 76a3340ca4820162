"""Starting a daemon that outlives us and holds nothing of ours: no pipe, no folder, no environment.

The new process tells how its start went in one JSON line on an inherited pipe, so that a failure is
shown to whoever asked within a fraction of a second instead of after a time-out.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...auth.errors import AlreadyRunning, RecalldError, StartFailed, from_wire
from ...auth.paths import Layout
from .deadline import Deadline
from .discovery import Live
from .documents import Document, document, parse, text

if TYPE_CHECKING:
    import subprocess

_KEPT = frozenset({"HOME", "USER", "LOGNAME", "PATH", "LANG", "TZ", "TMPDIR"})
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)
_ALLOCATOR = {"PYTHONMALLOC": "malloc", "MALLOC_ARENA_MAX": "2"}
"""Python's own allocator keeps what a flood of requests took (a third more than before), glibc's
gives it back when told to. It takes 2-4 % more time, and 30 MB less at 20,000 rows."""
_FIRST_POLL = 0.02
_LAST_POLL = 0.5
_LINE_LIMIT = 65_536
_HEAD_START = 1.0
"""Seconds by which the new process gives up on the lock before we give up on it (0.5 of them it
needs to get that far): whoever ran out of time leaves no process behind that waits on."""

ENOUGH = 0.5
"""Seconds that must be left for starting a process to make sense."""


class Killed(Exception):
    """A signal from outside ended the daemon while it started: the next one may fare better.

    `error` is what to say when there shall be no next one.
    """

    def __init__(self, error: StartFailed) -> None:
        super().__init__(error.message)
        self.error = error


def daemon_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a daemon may know of its starter's environment: an allow-list, and never a token.

    Added is how its interpreter is to get memory, which can only be told it this way.
    """
    passed = {name: value for name, value in environ.items() if _may_pass(name)}
    return passed | _ALLOCATOR if sys.platform.startswith("linux") else passed


def _may_pass(name: str) -> bool:
    if name in _KEPT or name.startswith("LC_"):
        return True
    if name.startswith("XDG_"):
        return name.endswith("_HOME")
    return name.startswith("RECALLD_") and name != "RECALLD_TOKEN"


def spawn(
    layout: Layout,
    environ: Mapping[str, str],
    deadline: Deadline,
    appeared: Callable[[], Live | None],
) -> Live | None:
    """Start a daemon and wait until one answers; the caller holds spawn.lock.

    `appeared` is asked now and then: a daemon that lost its record publishes again while our
    process waits for the lock, and then there is no reason to wait on. None means: go round again
    (another daemon owns the folder, or ours is ready and can be looked up). Raises StartFailed,
    Killed, or the error that the new process reported.
    """
    ready, told = os.pipe()
    try:
        try:
            child = _launch(layout, environ, told, deadline)
        finally:
            os.close(told)
        return _await(child, ready, layout, deadline, appeared)
    finally:
        os.close(ready)


def _launch(
    layout: Layout, environ: Mapping[str, str], told: int, deadline: Deadline
) -> subprocess.Popen[bytes]:
    import subprocess  # 15 ms that only a cold start pays

    arguments = [sys.executable, "-P", "-m", "recalld.daemon", "--ready-fd", str(told)]
    wait = max(deadline.left() - _HEAD_START, 0.0)
    arguments += ["--wait-lock", f"{wait:.3f}", "--managed-by", "spawn"]
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    log = os.open(layout.log, flags, 0o600)
    try:
        return subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(told,),
            cwd="/",
            env=daemon_environment(environ),
            start_new_session=True,
        )
    except OSError as error:
        raise StartFailed(
            f"The daemon did not start: {sys.executable}: {error.strerror}.",
            hint="Reinstall recalld.",
        ) from error
    finally:
        os.close(log)


def _await(
    child: subprocess.Popen[bytes],
    ready: int,
    layout: Layout,
    deadline: Deadline,
    appeared: Callable[[], Live | None],
) -> Live | None:
    line = b""
    pause = _FIRST_POLL
    poll = select.poll()  # not select(): an SDK's process may have more than 1,024 files open
    poll.register(ready)
    while not deadline.over:
        if poll.poll(deadline.within(pause) * 1000):
            piece = os.read(ready, 4096)
            line += piece
            if not piece or line.endswith(b"\n") or len(line) > _LINE_LIMIT:
                _judge(child, line, layout, deadline)
                return None
            continue
        pause = min(pause * 2, _LAST_POLL)
        if (live := appeared()) is not None:
            # Ours may have published before its line was read. Any other one holds the lock that
            # ours still waits for, and must not be succeeded by it after a `recalld stop`.
            if live.record.pid != child.pid:
                child.terminate()
            _reap(child)
            return live
    # Too slow for us, but perhaps in the middle of a migration: it is left to finish, and its wait
    # for the lock ends by itself.
    _reap(child)
    return None


def _judge(child: subprocess.Popen[bytes], line: bytes, layout: Layout, deadline: Deadline) -> None:
    said = document(parse(line))
    if said:
        _reap(child)
        if said.get("ok") is True or text(said, "code") == AlreadyRunning.code:
            return
        raise _reported(said)
    ending = _ending(child, deadline)
    error = StartFailed(
        f"The daemon died while it was starting ({ending}): "
        f"{_last_line(layout.log)} Log: {layout.log}.",
        hint="Run: recalld doctor",
    )
    raise Killed(error) if child.returncode in _FROM_OUTSIDE else error


def _reported(said: Document) -> RecalldError:
    error = from_wire({"error": said}, StartFailed.status)
    if not error.message.startswith("The daemon"):
        error.message = f"The daemon did not start: {error.message}"
    return error


def _ending(child: subprocess.Popen[bytes], deadline: Deadline) -> str:
    import subprocess

    try:
        status = child.wait(timeout=deadline.within(2.0))
    except subprocess.TimeoutExpired:
        _reap(child)
        return "it closed its pipe"
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def _last_line(path: str) -> str:
    """The last line of the log, which after a crash is the exception."""
    try:
        with open(path, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 4096))
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return "there is no log."
    return lines[-1][:300] if lines else "the log is empty."


def _reap(child: subprocess.Popen[bytes]) -> None:
    """Collect the child whenever it ends: a client that lives long must not keep a zombie of it."""
    import threading

    threading.Thread(target=child.wait, name="recalld-reaper", daemon=True).start()
