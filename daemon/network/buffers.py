"""How many bytes of request bodies are in memory at once."""

from __future__ import annotations

from ...auth.errors import Busy


class Buffers:
    """A budget for bodies: 3,000 clients with a megabyte each must not become 3 GB."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    def take(self, size: int) -> None:
        """Hold `size` more bytes.

        Raises:
            Busy: there is no room now; nothing was taken.
        """
        if self.held + size > self._most:
            raise Busy("Too many large requests are under way.", retry_after_ms=250)
        self.held += size

    def give_back(self, size: int) -> None:
        """Let go of `size` bytes."""
        self.held -= size
