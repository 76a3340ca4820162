"""The same text twice is one answer.

Anything stronger was measured and left out: maximal marginal relevance moved hit@10 by at most 0.1
points in either direction.
"""

from __future__ import annotations

from ...storage.memories import Memory


class Distinct:
    """Tells new texts from repeated ones, in the order they are shown to it."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def admits(self, memory: Memory) -> bool:
        """Whether this text is new, in any namespace; letter case and blanks do not count.

        Turns of conversations are always new: who said the same thing when is what was asked for.
        """
        if memory.kind == "conversation":
            return True
        text = " ".join(memory.content.split()).casefold()
        if text in self._seen:
            return False
        self._seen.add(text)
        return True
