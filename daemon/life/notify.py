"""Talking to systemd: readiness, the end, and the watchdog, over $NOTIFY_SOCKET."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import MutableMapping


class Notifier:
    """Sends sd_notify messages, or nothing at all without a service manager."""

    def __init__(self, address: str | None, watchdog_s: float | None) -> None:
        self._address = address
        self.watchdog_s = watchdog_s
        """Seconds between watchdog messages (half of what systemd allows), None without one."""

    @classmethod
    def take(cls, environ: MutableMapping[str, str]) -> Notifier:
        """Read the variables and remove them, so that no child can speak in our name."""
        address = environ.pop("NOTIFY_SOCKET", None)
        microseconds = environ.pop("WATCHDOG_USEC", "")
        pid = environ.pop("WATCHDOG_PID", str(os.getpid()))
        for name in ("LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"):
            environ.pop(name, None)
        wanted = microseconds.isdecimal() and pid == str(os.getpid())
        return cls(address, int(microseconds) / 2e6 if wanted else None)

    def ready(self) -> None:
        """Requests are answered from now on."""
        self._send("READY=1\nSTATUS=Ready")

    def stopping(self, reason: str) -> None:
        """The process is on its way out."""
        self._send(f"STOPPING=1\nSTATUS=Stopping: {reason}")

    def alive(self) -> None:
        """The event loop turns; a stuck one stays silent and is restarted."""
        self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with (
            contextlib.suppress(OSError),  # a deaf manager must not take the daemon down
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel,
        ):
            channel.setblocking(False)
            channel.sendto(message.encode(), address)
