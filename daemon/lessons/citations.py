"""Which rules an agent says it applied, found in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NAMED_ENOUGH = 0.5
"""Share of a citation's words a rule must contain to be the one that is meant."""

_BY_ID = re.compile(r"\[?recalld:\s?([0-7][0-9A-HJKMNP-TV-Z]{25})\b")
_IN_WORDS = re.compile(r"(?i)\(?applied from (?:memory|recalld):\s*([^)\n]{4,300})")
_WORD = re.compile(r"[^\W_]{2,}")


def cited(text: str, rules: Mapping[str, str]) -> list[str]:
    """The ids of those rules (id to content) that the text cites, by id or in words."""
    found = [ulid for ulid in _BY_ID.findall(text) if ulid in rules]
    for phrase in _IN_WORDS.findall(text):
        best = _meant(phrase, rules.items())
        found += [] if best is None else [best]
    return list(dict.fromkeys(found))


def _meant(phrase: str, rules: Iterable[tuple[str, str]]) -> str | None:
    said = _words(phrase)
    if not said:
        return None
    shares = [(len(said & _words(content)) / len(said), ulid) for ulid, content in rules]
    share, ulid = max(shares, default=(0.0, ""))
    return ulid if share >= NAMED_ENOUGH else None


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
