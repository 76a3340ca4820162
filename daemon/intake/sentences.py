"""A prompt's own sentences, each word for word; what is quoted, pasted or code is nobody's wish."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")
_PASTED = re.compile(r"^(?:[>|$#+]|\s{4}|\t|at |\d{4}-\d\d-\d\d|\[\d|<[\w/]|File \"|Traceback)")
# A full stop inside `file.py` or `3.11` has no blank behind it.
_WIDE = "\u3002\uff01\uff1f"  # the same three marks in Chinese and Japanese: no blank follows
_END = re.compile(rf"(?<=[.!?{_WIDE}])[\"')\]]*\s+|(?<=[{_WIDE}])")
_BULLET = re.compile(r"^\s{0,3}(?:[-*•]|\d{1,2}[.)])\s+")
MOST = 60
"""Sentences looked at: a longer prompt is a document, not an instruction."""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a prompt in order, trimmed, otherwise untouched."""
    found = 0
    for line in _FENCED.sub("\n", text).split("\n"):
        if _PASTED.match(line):
            continue
        for sentence in _END.split(_BULLET.sub("", line)):
            if sentence.strip():
                yield sentence.strip()
                found += 1
                if found == MOST:
                    return
