"""Identifiers of memories: ULIDs that never go backwards within a process."""

from __future__ import annotations

import os
import re
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# Two letters at a time: every row needs an id.
_PAIRS: Final = [first + second for first in _ALPHABET for second in _ALPHABET]
_PATTERN: Final = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_RANDOM_BITS: Final = 80
_STEP_BITS: Final = 32


class UlidSource:
    """Makes ULIDs; each is greater than the one before, also when the clock stands or goes back.

    Not thread-safe: the writer thread owns it.
    """

    def __init__(self) -> None:
        self._last = 0

    def next(self, unix_ms: int) -> str:
        """A new ULID for this time (milliseconds since 1970)."""
        if unix_ms > self._last >> _RANDOM_BITS:
            self._last = (unix_ms << _RANDOM_BITS) | int.from_bytes(os.urandom(10), "big")
        else:
            # Same millisecond or an earlier one: step on from the last by a random amount, so
            # that ids stay hard to guess.
            self._last += 1 + int.from_bytes(os.urandom(_STEP_BITS // 8), "big")
        return encode(self._last)


def encode(value: int) -> str:
    """A 128-bit number as 26 Crockford base-32 letters."""
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in range(120, -1, -10)])


def is_ulid(text: str) -> bool:
    """Whether the text is a ULID in its one canonical spelling (upper case)."""
    return _PATTERN.fullmatch(text) is not None
