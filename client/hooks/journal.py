"""The hooks' own log: which event came to nothing and why, and never a word of its text."""

from __future__ import annotations

import contextlib
import os
import time

from ...auth.errors import RecalldError
from ...auth.paths import Layout, ensure_private_dir

MOST_BYTES = 262_144
"""Size at which the log becomes hooks.log.1, replacing the one before."""


def path(layout: Layout) -> str:
    """Where it is."""
    return os.path.join(layout.run, "hooks.log")


def note(layout: Layout, host: str, event: str, outcome: str) -> None:
    """Append one line; a log that cannot be written is no reason for anything to fail.

    `event` comes from outside, so only a name is taken from it.
    """
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    name = "".join(letter for letter in event[:40] if letter.isalnum()) or "-"
    with contextlib.suppress(OSError, RecalldError):
        ensure_private_dir(layout.data)
        ensure_private_dir(layout.run)
        _append(path(layout), f"{moment} {host} {name} {' '.join(outcome.split())[:300]}\n")


def _append(place: str, line: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(place, flags, 0o600)
    try:
        os.write(fd, line.encode("utf-8", "backslashreplace"))
        full = os.fstat(fd).st_size > MOST_BYTES
    finally:
        os.close(fd)
    if full:
        os.replace(place, place + ".1")
