"""Why the last daemon ended: `run/last-exit.json`, read by clients that find nobody at home."""

from __future__ import annotations

import contextlib
import json
import os
import time

from ..auth.paths import write_private


def leave_note(path: str, *, reason: str, version: str) -> None:
    """Write the reason of this process's end; failing to is not worth failing for."""
    note = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "pid": os.getpid(),
        "reason": reason,
        "version": version,
    }
    with contextlib.suppress(
        Exception
    ):  # the disk may be full or the folder gone: that is why we end
        write_private(path, json.dumps(note).encode() + b"\n")
