"""From text to the words the index holds; the same for rows and for queries.

Identifiers are found whole and by part (`getUserName`, `user_service.py`, `v1.2.3`), scripts
written without blanks by every two neighbouring letters, accents do not matter. Doing this before
SQLite sees the text keeps the file readable by any SQLite: a custom tokenizer would not.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

# Written without blanks: Thai, Lao, Burmese, Khmer, kana, Han, Hangul (which has blanks, but whose
# particles stick to the word).
_DENSE: Final = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3\u3005\u3040-\u30fa"
    r"\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003134f"
)
# Vowel signs of Indic scripts are marks, which Python's \w leaves out: words would fall apart.
_MARKS: Final = r"\u0300-\u036f\u0900-\u0963\u0971-\u0df3\u0f71-\u0f84"
_WORD: Final = rf"(?:[^\W{_DENSE}]|[{_MARKS}])+"
# Emoji and dingbats, each a word of its own.
_EMOJI: Final = r"\u2600-\u27bf\U0001f300-\U0001faff"
_RUN: Final = re.compile(rf"[{_DENSE}]+|[{_EMOJI}]|{_WORD}(?:[-./:\\]{_WORD})*")
# The same for plain ASCII, where the classes above cost three times as long to try.
_PLAIN_RUN: Final = re.compile(r"(?a:\w+(?:[-./:\\]\w+)*)")
_DENSE_LETTER: Final = re.compile(rf"[{_DENSE}]")
_WORD_LETTER: Final = re.compile(_WORD)
_SEPARATOR: Final = re.compile(r"[-./:\\]")
# fooBar -> foo Bar, HTTPServer -> HTTP Server, sha256 -> sha 256.
_PART: Final = re.compile(rf"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|(?:[^\W\dA-Za-z_]|[{_MARKS}])+")
_NOT_WORD: Final = re.compile(r"[\W_]+")
# Longer chains (URLs, paths) are not looked for as one word.
_LONGEST_WHOLE: Final = 40


def index_text(text: str) -> str:
    """The text as blank-separated index words."""
    return " ".join(tokens(text))


def tokens(text: str) -> list[str]:
    """The index words of a text, in order: lower case, no accents, parts after their whole."""
    if not text.isascii():
        return [word for run in _RUN.findall(fold(text)) for word in _words(run)]
    found: list[str] = []
    for run in _PLAIN_RUN.findall(text):
        if run.isalpha() and run.islower():
            found.append(run)
        else:
            found.extend(_words(run))
    return found


def fold(text: str) -> str:
    """Compatibility forms unified (ﬁ, full width), accents taken off Latin, Greek and Cyrillic."""
    if text.isascii():
        return text
    spread = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    bare = "".join(char for char in spread if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=8192)
def _words(run: str) -> tuple[str, ...]:
    """The index words of one run of letters; most runs of a text have been seen before."""
    if run.isascii() and run.isalpha() and (run.islower() or run[1:].islower()):
        return (run.lower(),)
    if _DENSE_LETTER.match(run):
        return _pairs(run)
    return _identifier(run) if _WORD_LETTER.match(run) else (run,)


def _pairs(run: str) -> tuple[str, ...]:
    """Every two neighbouring letters; a letter that stands alone is its own word."""
    if len(run) == 1:
        return (run,)
    return tuple(run[at : at + 2] for at in range(len(run) - 1))


def _identifier(run: str) -> tuple[str, ...]:
    found: list[str] = []
    pieces = _SEPARATOR.split(run)
    for piece in pieces:
        whole = piece.replace("_", "").lower()
        if whole:
            found.append(whole)
        parts = _PART.findall(piece)
        if len(parts) > 1:
            found.extend(part.lower() for part in parts)
    if len(pieces) > 1 and len(run) <= _LONGEST_WHOLE:
        found.append(_NOT_WORD.sub("", run).lower())
    return tuple(found)
