"""The words a memory is indexed under besides its text: some it has itself, some are for recall."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from . import analyser, stemming
from .memories import Memory

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip


def of(memory: Memory) -> str:
    """All labels of a memory, for the index."""
    return f"{_own(memory)} {_added(memory)}"


def contains(memory: Memory, sought: frozenset[str]) -> bool:
    """Whether a memory whose text and labels have all these stems has them without what is added.

    Every turn of a user would contain "user", and every memory of this year its number.
    """
    doubtful = sought & _added_stems(_added(memory))
    if not doubtful:
        return True
    text = f"{_own(memory)} {memory.content} {memory.detail or ''}"
    return doubtful <= stems(analyser.tokens(text))


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of these index words."""
    return frozenset(stem for word in words for stem in _stem(word))


def _own(memory: Memory) -> str:
    return " ".join((*memory.tags, memory.actor or ""))


def _added(memory: Memory) -> str:
    return f"{memory.role or ''} {_spelled((memory.observed_at or memory.created_at)[:10])}"


@lru_cache(maxsize=256)
def _added_stems(added: str) -> frozenset[str]:
    """Many memories share a role and a day."""
    return stems(analyser.tokens(added))


@lru_cache(maxsize=8192)
def _stem(word: str) -> tuple[str, ...]:
    return tuple(stemming.stems(word))


@lru_cache(maxsize=64)
def _spelled(date: str) -> str:
    """`29 november 2026` for `2026-11-29`, so that dates are found by how people say them."""
    year, month, day = date[:4], date[5:7], date[8:10]
    if not (month.isdigit() and 1 <= int(month) <= 12 and day.isdigit()):
        return ""
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"
