"""A TCP transport that sends a response's head and body in one piece, and closes politely."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

LINGER = 1.0
"""Seconds a refused sender gets to read the refusal before the connection is cut."""
PATIENCE = 10.0
"""Seconds in which a receiver has to take something of what it is sent, unless settings differ."""


class Coalescing(asyncio.Transport):
    """Collects what is written during one turn of the loop and hands it on at once.

    uvicorn writes head, body and end separately: three system calls and two packets for a 300-byte
    answer. Only what uvicorn's protocol uses is passed through.
    """

    def __init__(
        self,
        inner: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        unread: Callable[[], bool],
        patience: float = PATIENCE,
    ) -> None:
        super().__init__()
        self._inner = inner
        self._loop = loop
        self._unread = unread
        self._patience = patience
        self._parts: list[bytes] = []
        self._written = 0
        self._watch: asyncio.TimerHandle | None = None
        self.lingering = False
        """Closed for writing; what still arrives is to be thrown away."""

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Send `data` at the end of this turn of the loop; nothing once a refusal has ended it."""
        if not data or self.lingering:
            return
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(bytes(data))

    def _flush(self) -> None:
        if self._parts and not self._inner.is_closing():
            whole = b"".join(self._parts)
            self._inner.write(whole)
            self._written += len(whole)
            if self._watch is None and self.unsent:
                self._expect_progress()
        self._parts.clear()

    @property
    def unsent(self) -> int:
        """Bytes that wait for the receiver to read what came before."""
        return self._inner.get_write_buffer_size()

    def _expect_progress(self) -> None:
        taken = self._written - self.unsent
        self._watch = self._loop.call_later(self._patience, self._look_after, taken)

    def _look_after(self, taken: int) -> None:
        """Cut off a receiver that took nothing: a closed transport, too, waits for it for ever."""
        self._watch = None
        if not self.unsent:
            return
        if self._written - self.unsent == taken:
            self.abort()
        else:
            self._expect_progress()

    def close(self) -> None:
        """Send what is left, then close; while input is unread, for writing only at first.

        Closing a socket with unread input resets it, and the reset can overtake the answer: a
        client in the middle of sending a body that is too large would never learn why.
        """
        self._flush()
        if self.lingering or self._inner.is_closing():
            return
        if not self._unread():
            self._inner.close()
            return
        self.lingering = True
        self._inner.write_eof()
        self._inner.resume_reading()
        self._loop.call_later(LINGER, self._inner.close)

    def is_closing(self) -> bool:
        """Whether nothing more will be sent."""
        return self.lingering or self._inner.is_closing()

    def abort(self) -> None:
        """Close at once, dropping what was not sent."""
        self._parts.clear()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._inner.abort()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the socket knows."""
        return self._inner.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Stop receiving."""
        if not self._inner.is_closing():
            self._inner.pause_reading()

    def resume_reading(self) -> None:
        """Receive again."""
        if not self._inner.is_closing():
            self._inner.resume_reading()
