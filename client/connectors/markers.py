"""One marked block in somebody else's text: put there, replaced and taken away again.

Everything outside the markers stays as it is, byte for byte, the absent line end at the end of a
file included: such a file gets a block without one, and that is how removing knows to take away the
line end it had to add.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Misplaced(ValueError):
    """The markers are not one pair in order; guessing could delete what people wrote."""


class Span(NamedTuple):
    """Where the block is, without the line end behind it, and the line end it uses."""

    start: int
    end: int
    newline: str


class Markers(NamedTuple):
    """The first and the last line of a block; each stands alone on its line."""

    begin: str
    end: str

    def find(self, text: str) -> Span | None:
        """The block; None when there is none. Raises Misplaced."""
        begins = list(_line(self.begin).finditer(text))
        ends = list(_line(self.end).finditer(text))
        if not begins and not ends:
            return None
        if len(begins) != 1 or len(ends) != 1 or begins[0].start() > ends[0].start():
            raise Misplaced(f"the lines {self.begin!r} and {self.end!r} are not one pair")
        newline = "\r\n" if text.startswith("\r\n", begins[0].end()) else "\n"
        return Span(begins[0].start(), ends[0].end(), newline)

    def put(self, text: str, body: str) -> str:
        """The text with `body` (lines ended by \\n) in the block, which is added at the end."""
        span = self.find(text)
        if span is not None:
            return text[: span.start] + self._block(body, span.newline) + text[span.end :]
        newline = "\r\n" if "\r\n" in text else "\n"
        block = self._block(body, newline)
        if not text:
            return block + newline
        if text.endswith("\n"):
            return text + newline + block + newline
        return text + newline * 2 + block

    def take(self, text: str) -> str:
        """The text without the block and the lines that came with it. Raises Misplaced."""
        span = self.find(text)
        if span is None:
            return text
        before, after = text[: span.start], text[span.end :]
        if not after:
            return before.removesuffix(span.newline).removesuffix(span.newline)
        after = after.removeprefix(span.newline)
        if before.endswith("\n" + span.newline):
            before = before.removesuffix(span.newline)
        return before + after

    def _block(self, body: str, newline: str) -> str:
        lines = [self.begin, *body.rstrip("\n").split("\n"), self.end]
        return newline.join(lines)


def _line(marker: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(marker)}(?=\r?$)", re.MULTILINE)
