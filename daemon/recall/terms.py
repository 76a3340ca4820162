"""Words as numbers: the crc32 of the stem that the full-text index would store for them."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence

from ...storage.analyser import tokens
from ...storage.stemming import stems

# About 10 MB of words at most; beyond it the memo starts anew rather than grow with the store.
_REMEMBERED = 60_000
_memo: dict[str, int] = {}
_replacing = threading.Lock()


def term_ids(text: str) -> list[int]:
    """The hashes of the index tokens of `text`, in order, with repetitions."""
    return token_ids(tokens(text)) if text else []


def token_ids(words: Sequence[str]) -> list[int]:
    """The hashes of tokens that the analyser already gave."""
    # Two passes at the speed of C instead of a call per word: this is most of building a shelf.
    known = list(map(_memo.get, words))
    if None in known:
        return [_remember(w) if n is None else n for w, n in zip(words, known, strict=True)]
    return [number for number in known if number is not None]


def tag_id(tag: str) -> int:
    """The hash of a tag, compared exactly."""
    return zlib.crc32(tag.encode("utf-8", "replace"))


def _remember(token: str) -> int:
    # Two words in 100,000 share a hash by chance; the vector part tells them apart.
    number = zlib.crc32(" ".join(stems(token)).encode())
    with _replacing:
        if len(_memo) >= _REMEMBERED:
            _memo.clear()
        _memo[token] = number
    return number
