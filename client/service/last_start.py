"""What the log says about the last attempt to start a daemon, where none is running.

The store is the daemon's alone: whether it can be opened is not tried here, but read where the
daemon that tried has written it down.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from ...auth.errors import AlreadyRunning
from ...auth.paths import Layout, read_plain
from ..connection.documents import document, parse, text

_TAIL = 65_536
_SAID = "recalld: "
_WELL = ("ready", "ended")


class Failure(NamedTuple):
    """Why no daemon came up: its words, and the error's code where the log has one."""

    said: str
    code: str


def failure(layout: Layout) -> Failure | None:
    """The failure the log ends with; None when the last daemon got up, or when there is no log.

    A process that gives up says so on stderr, which is the log; its code is in the line before.
    """
    said = ""
    for line in reversed(_tail(layout.log)):
        entry = document(parse(line))
        message, code = text(entry, "message"), text(entry, "code")
        if message == "start failed" and code != AlreadyRunning.code:
            return Failure(said or code, code)
        if message in _WELL:
            break
        spoken = line.decode("utf-8", "replace")
        # Whoever finds another daemon at home says so too, and nothing is wrong with that.
        if not said and spoken.startswith(_SAID) and "owns this data folder" not in spoken:
            said = spoken.removeprefix(_SAID).strip()
    return Failure(said, "") if said else None


def ending(layout: Layout) -> str:
    """Why and when the last daemon ended, as it noted itself; empty where it did not get to it."""
    note = document(parse(read_plain(layout.last_exit) or b""))
    at, reason = text(note, "at"), text(note, "reason")
    return f"the last one ended at {at}: {reason}" if reason else ""


def _tail(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL))
            return log.read().splitlines()
    except OSError:
        return []
