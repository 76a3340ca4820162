"""The hook's standard streams: stdout belongs to the host's protocol and to nothing else."""

from __future__ import annotations

import contextlib
import os
import select

from ..cli.streams import open_streams
from ..connection.deadline import Deadline

MOST_BYTES = 16_777_216
"""Bytes of an event that are kept; a host that sends more is read to its end and not believed."""

_PIECE = 1_048_576
_IDLE = 0.05
"""Seconds of silence after which a whole object counts, for hosts that leave stdin open."""


def taken() -> int:
    """The host's stdout as a descriptor of our own; 1 and 2 then lead nowhere.

    A warning, a stray print or a library's message would otherwise spoil the JSON, or show up as a
    hook error in the person's terminal.
    """
    open_streams()
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return out


def received(deadline: Deadline) -> bytes:
    """What the host wrote to stdin, to its end or until nothing comes before the deadline.

    What lies in the pipe is read also when the deadline is over: it is there, and we are late.
    """
    data = bytearray()
    with contextlib.suppress(OSError):  # closed, or a terminal we are in the background of
        while piece := _piece(data, deadline):
            data += piece[: MOST_BYTES + 1 - len(data)]
            if deadline.over and len(data) > MOST_BYTES:
                break
    return bytes(data) if len(data) <= MOST_BYTES else b""


def _piece(data: bytearray, deadline: Deadline) -> bytes:
    """The next bytes; none at the end of the stream, of the time, or of a whole object."""
    while True:
        if select.select([0], [], [], deadline.within(_IDLE))[0]:
            return os.read(0, _PIECE)
        if deadline.over or data.rstrip().endswith(b"}"):
            return b""


def said(out: int, data: bytes) -> None:
    """Write all of it; a host that went away has no use for it."""
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(out, data) :]
