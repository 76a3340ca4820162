"""Whether matches of the full-text index contain every word themselves.

The index also holds labels that are added for recall: without this every turn of a user would
contain "user", and every memory of this year its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from . import fulltext, labels
from .memories import Memory
from .scope import Scope


class OwnWords:
    """Judges the matches of a search for all of its terms."""

    def __init__(
        self,
        connection: apsw.Connection,
        scope: Scope,
        terms: Sequence[str],
        matches: Iterable[int],
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._stems = {term: labels.stems([term]) for term in terms}
        self._matches = frozenset(matches)
        self._texts: dict[str, frozenset[int]] = {}

    def contain(self, memory: Memory) -> bool:
        """Whether this match has each term in its text, detail, tags or speaker's name."""
        added = labels.added(memory)
        doubtful = [term for term, stems in self._stems.items() if not stems.isdisjoint(added)]
        return all(
            self._stems[term] <= labels.own(memory) or memory.rid in self._in_text(term)
            for term in doubtful
        )

    def _in_text(self, term: str) -> frozenset[int]:
        """The matches with the term in their text: asking the index beats analysing each anew."""
        found = self._texts.get(term)
        if found is None:
            rows = fulltext.in_text(self._connection, self._scope, term)
            found = self._texts[term] = self._matches.intersection(rows)
        return found
