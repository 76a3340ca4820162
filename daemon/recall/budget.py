"""Fitting hits into a number of tokens of somebody's context window."""

from __future__ import annotations

from collections.abc import Iterable

from .request import Hit

# Language models average four letters a token for English and code; an ideograph is about one.
_LETTERS_PER_TOKEN = 4
# Kind, date and a line break around each item.
_PER_HIT = 8


def tokens_of(text: str) -> int:
    """Estimated tokens of a text, rounded up."""
    wide = 0 if text.isascii() else sum(char > "\u2e80" for char in text)
    return wide + -(-(len(text) - wide) // _LETTERS_PER_TOKEN)


def pack(hits: Iterable[Hit], budget: int) -> list[Hit]:
    """The hits that fit, best first: whole ones only, and a smaller one may follow one too big."""
    left = budget
    packed: list[Hit] = []
    for hit in hits:
        cost = tokens_of(hit.memory.content) + _PER_HIT
        if cost <= left:
            packed.append(hit)
            left -= cost
    return packed
