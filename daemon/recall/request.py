"""What recall is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...storage.memories import Memory

MOST_HITS: Final = 100


@dataclass(frozen=True)
class RecallRequest:
    """A question and what its answers must satisfy; times in milliseconds since 1970.

    `limit` is clamped to 1..100. `kinds` and `tags` empty mean any; a memory needs one of the
    kinds and all of the tags. `since` (included) and `until` (excluded) bound when it happened,
    `as_of` asks what was known and valid then, `budget` is a number of tokens to pack hits into.
    """

    query: str
    limit: int = 10
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    as_of: int | None = None
    budget: int | None = None
    explain: bool = False


@dataclass(frozen=True)
class Hit:
    """A memory that answers, its score (comparable within one answer only) and what made it.

    `why` maps each signal to its contribution and is None unless asked for. `closeness` is the
    cosine to the question where that was read closely, None where it was not; it compares across
    questions.
    """

    memory: Memory
    score: float
    why: Mapping[str, float] | None = None
    closeness: float | None = None


@dataclass(frozen=True)
class RecallAnswer:
    """Hits, best first; `degraded` says what could not take part, `took_ms` is wall time."""

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...]
    took_ms: float
