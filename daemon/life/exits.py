"""Why the last daemon ended: `run/last-exit.json`, read by clients that find nobody at home."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from typing import NoReturn

from ...auth.paths import write_private


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


def leave(code: int) -> NoReturn:
    """End the process with this code, also when a thread is stuck where nothing can end it.

    Python would wait for it at the exit, with the data folder's lock still held.
    """
    main = threading.main_thread()
    if any(thread is not main and not thread.daemon for thread in threading.enumerate()):
        logging.shutdown()
        os._exit(code)
    raise SystemExit(code)
