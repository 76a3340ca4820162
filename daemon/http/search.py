"""Keyword search: every word must occur, the best match comes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import apsw

from ...storage import analyser, fulltext, memories
from ...storage.memories import Memory
from ...storage.own_words import OwnWords
from ...storage.scope import Scope
from ..deadline import Deadline

MOST_MATCHES = 10_000
"""Matches looked at for one request; deeper pages cannot be asked for."""
BLOCK = 500
"""Rows fetched between two looks at the deadline."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to search for; times are RFC 3339 UTC, `since` included, `until` excluded."""

    query: str
    kinds: frozenset[str]
    tags: frozenset[str]
    since: str | None
    until: str | None
    offset: int
    limit: int

    @property
    def filters(self) -> bool:
        """Whether matching words is not enough."""
        return bool(self.kinds or self.tags or self.since or self.until)

    def accepts(self, memory: Memory) -> bool:
        """Whether a match passes the filters."""
        at = memory.observed_at or memory.created_at
        return (
            (not self.kinds or memory.kind in self.kinds)
            and self.tags <= set(memory.tags)
            and (self.since is None or at >= self.since)
            and (self.until is None or at < self.until)
        )


class Found(NamedTuple):
    """One page of matches with their scores, and how many there are (None: more than we count).

    A score only tells the place: the best match has 1, the second 1/2, and so on. The full-text
    index weighs words by how often they occur in the whole store; a weight would tell each caller
    what others store.
    """

    hits: list[tuple[Memory, float]]
    total: int | None


def find(connection: apsw.Connection, scope: Scope, wanted: Wanted, deadline: Deadline) -> Found:
    """The page of active memories that contain every word themselves: in text, detail, tags or
    their speaker's name. Superseded and archived ones are left out.
    """
    terms = list(dict.fromkeys(analyser.tokens(wanted.query)))
    matches = fulltext.match(
        connection, scope, terms, require_all=True, own=True, limit=MOST_MATCHES
    )
    own_words = OwnWords(connection, scope, terms, (rid for rid, _ in matches))
    passed: list[tuple[Memory, float]] = []
    seen = 0
    enough = wanted.offset + wanted.limit
    for start in range(0, len(matches), BLOCK):
        deadline.check()
        block = matches[start : start + BLOCK]
        rows = memories.fetch(connection, scope, [rid for rid, _ in block])
        for rid, _ in block:
            memory = rows.get(rid)
            if memory is None or memory.status != "active" or not wanted.accepts(memory):
                continue
            if own_words.contain(memory):
                seen += 1
                if wanted.offset < seen <= enough:
                    passed.append((memory, 1 / seen))
    return Found(passed, seen if len(matches) < MOST_MATCHES else None)
