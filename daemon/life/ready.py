"""The ready pipe: one JSON line to the client that started us, then silence."""

from __future__ import annotations

import contextlib
import json
import os

from ...auth.errors import RecalldError


class ReadyPipe:
    """The inherited descriptor a starting client waits on; says how the start went, once."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        if fd is not None:
            with contextlib.suppress(OSError):
                os.set_inheritable(fd, False)

    def succeeded(self, instance: str) -> None:
        """Requests are answered."""
        self._say({"ok": True, "instance": instance})

    def failed(self, error: RecalldError) -> None:
        """The start came to nothing, and why."""
        self._say(
            {"ok": False, "code": error.code, "message": error.message, "hint": error.hint or ""}
        )

    def _say(self, line: dict[str, object]) -> None:
        if self._fd is None:
            return
        with contextlib.suppress(OSError):  # the client may have given up waiting
            os.write(self._fd, json.dumps(line).encode() + b"\n")
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self._fd = None
