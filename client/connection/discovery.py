"""Is there a daemon, and is it ours? One look: record, connect, hello on the same socket.

`look` never starts anything and never waits longer than it is told to. Its answer is either a
proven connection or the reason why there is none; only what no daemon could mend (modes, owners) is
raised.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from ...auth import hello, record
from ...auth.errors import (
    Busy,
    DaemonUnreachable,
    ImposterDetected,
    StorageTrouble,
    UnsafePermissions,
)
from ...auth.paths import Layout
from ...auth.record import Record, StaleRecord
from . import greeting
from .deadline import Deadline
from .greeting import Hello
from .wire import Broken, Silence, Wire

CONNECT_SECONDS = 0.3
"""Loopback connects in microseconds; longer means a full backlog or a port that drops packets."""

HELLO_SECONDS = 2.0
"""How long a daemon may take to prove itself while it is busy (a fresh one answers in 2 ms)."""


class Live(NamedTuple):
    """A proven daemon and the connection it was proven on."""

    wire: Wire
    record: Record
    hello: Hello


class Absent(NamedTuple):
    """Why there is no connection: the phase that failed, a sentence, and the record if any."""

    phase: str
    reason: str
    record: Record | None = None


def look(layout: Layout, deadline: Deadline, *, patience: float = HELLO_SECONDS) -> Live | Absent:
    """One attempt to find the daemon, waiting at most `patience` seconds for its hello.

    Raises UnsafePermissions when the daemon's folder cannot be trusted, and DaemonUnreachable when
    the daemon is proven to be ours but talks nonsense.
    """
    try:
        found = record.read(layout)
    except StaleRecord as error:
        return Absent("discovery", error.reason)
    except UnsafePermissions:
        raise
    except StorageTrouble as error:  # absurdly long, or unreadable: to be written over
        return Absent("discovery", error.message)
    if found is None:
        return Absent("discovery", "no daemon has published itself")
    try:
        wire = Wire.dial(found.host, found.port, deadline.within(CONNECT_SECONDS))
    except OSError as error:
        why = error.strerror or str(error)
        return Absent("connect", f"port {found.port} of the discovery record: {why}", found)
    return _prove(wire, found, Deadline(deadline.within(patience)))


def _prove(wire: Wire, found: Record, deadline: Deadline) -> Live | Absent:
    nonce = hello.new_nonce()
    try:
        answer = wire.ask("POST", greeting.TARGET, body=greeting.body(nonce), deadline=deadline)
        said = greeting.judge(found, nonce, answer)
    except Silence:
        wire.close()
        return Absent("hello", f"port {found.port} took the connection but did not answer", found)
    except Broken:
        wire.close()
        return Absent("hello", f"port {found.port} closed the connection without answering", found)
    except (ImposterDetected, Busy) as error:
        wire.close()
        return Absent("hello", error.message, found)
    except DaemonUnreachable:
        wire.close()
        raise
    if said.phase == "draining" or not wire.reusable:
        wire.close()
        return Absent("draining", f"the daemon (pid {found.pid}) is on its way out", found)
    return Live(wire, found, said)


def signature(layout: Layout) -> tuple[int, int] | None:
    """What changes when the record is replaced, for waiting without reading it over and over."""
    try:
        found = os.stat(layout.record, follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
