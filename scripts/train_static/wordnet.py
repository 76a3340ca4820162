"""WordNet: a word and its gloss, a word's gloss and its examples."""

import re
from collections.abc import Iterator

from .prose import Block, squeeze

_MARKER = re.compile(r"\(.*\)")


def glosses(data: str) -> Iterator[Block]:
    """The synsets of a `data.*` file: synonyms with their definition, then each example."""
    for line in data.split("\n"):
        if line.startswith("  ") or "|" not in line:
            continue
        head, gloss = line.split("|", 1)
        fields = head.split()
        words = [
            _MARKER.sub("", fields[4 + 2 * at]).replace("_", " ")
            for at in range(int(fields[3], 16))
        ]
        parts = [squeeze(part).strip('"') for part in gloss.split("; ") if part.strip()]
        names = ", ".join(words)
        yield Block(names, parts[0])
        for example in parts[1:]:
            yield Block(f"{names}: {parts[0]}", example)
