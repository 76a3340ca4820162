"""The uncased WordPiece tokeniser as the teacher wants it.

The table is trained on what the product's own tokeniser finds, which splits camelCase and drops
unknown words; the teacher has to see words as it was trained to see them.
"""

import re
import unicodedata
from pathlib import Path

UNKNOWN, FIRST, LAST = 100, 101, 102
_CJK = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+|[^\w\s]|_")
_LONGEST_WORD = 100


class WordPieces:
    """Text to positions in the vocabulary."""

    def __init__(self, vocabulary: Path) -> None:
        lines = vocabulary.read_text(encoding="utf-8").split("\n")
        self.rows = {piece: row for row, piece in enumerate(lines) if piece}
        self._known: dict[str, list[int]] = {}

    def __call__(self, text: str, most: int = 4000) -> list[int]:
        """The first so many WordPieces of a text, without the begin and end marks."""
        found: list[int] = []
        for word in _WORD.findall(_plain(text)):
            found += self._pieces(word)
            if len(found) >= most:
                break
        return found[:most]

    def _pieces(self, word: str) -> list[int]:
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._split(word)
        return known

    def _split(self, word: str) -> list[int]:
        """Longest piece first; a word with an unknown piece is unknown as a whole."""
        if len(word) > _LONGEST_WORD:
            return [UNKNOWN]
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (row := self.rows.get(mark + word[start:end])) is not None:
                    found.append(row)
                    start = end
                    break
            else:
                return [UNKNOWN]
        return found


def _plain(text: str) -> str:
    text = text.lower()
    if text.isascii():
        return text
    kept = "".join(character for character in text if not _control(character))
    decomposed = unicodedata.normalize("NFD", kept)
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")


def _control(character: str) -> bool:
    return character == "\ufffd" or (
        unicodedata.category(character).startswith("C") and character not in "\t\n\r"
    )
