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


def own(memory: Memory) -> frozenset[str]:
    """The stems of the labels a memory has itself: its tags, its speaker's name."""
    return _label_stems(_own(memory))


def added(memory: Memory) -> frozenset[str]:
    """The stems of those that are added for recall: its role, its date."""
    return _label_stems(_added(memory))


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of these index words."""
    return frozenset(stem for word in words for stem in _stem(word))


def _own(memory: Memory) -> str:
    return " ".join((*memory.tags, memory.actor or ""))


def _added(memory: Memory) -> str:
    return f"{memory.role or ''} {_spelled((memory.observed_at or memory.created_at)[:10])}"


@lru_cache(maxsize=256)
def _label_stems(label: str) -> frozenset[str]:
    """Many memories share a speaker, a role, a day."""
    return stems(analyser.tokens(label))


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
