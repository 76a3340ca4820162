"""Phrases in quotation marks: hits that contain them word for word come first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .request import Hit

LOOKED_AT: Final = 64
"""The index keeps no positions, so this many of the best hits are read and looked through."""
_LIFT = 1.0
"""More than any other signal: who quotes means it."""


def lifted(hits: Sequence[Hit], phrases: Sequence[str]) -> list[Hit]:
    """The hits, those first that contain most of the phrases (casefolded, single blanks)."""
    scored: list[Hit] = []
    for hit in hits:
        text = " ".join(f"{hit.memory.content} {hit.memory.detail or ''}".casefold().split())
        share = sum(phrase in text for phrase in phrases) / len(phrases)
        why = hit.why if hit.why is None else {**hit.why, "phrase": _LIFT * share}
        scored.append(replace(hit, score=hit.score + _LIFT * share, why=why))
    return sorted(scored, key=lambda hit: -hit.score)
