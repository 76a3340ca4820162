"""Keeps the text of the code search benchmark out of training; it is read for nothing else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

SHINGLE = 8  # words
SHARED = 0.5  # of a text's shingles: then it is a copy
_SHORTEST = 3  # words; "return the value" says nothing about where it comes from
_WORDS = re.compile(r"[^a-z0-9]+")
_QUOTED = re.compile(r"(\"\"\"|''')\s*(.*?)\1", re.DOTALL)
_SUMMARY_END = re.compile(r"\n\s*\n|:param|Args")
_STATEMENT = re.compile(r"(?<=[.!?])\s")


class Benchmarked:
    """What the corpus of a benchmark says, to recognise it elsewhere."""

    def __init__(self, corpus: Path) -> None:
        self._statements: set[str] = set()
        self._shingles: set[str] = set()
        if corpus.exists():
            with corpus.open(encoding="utf-8") as lines:
                for line in lines:
                    self._add(cast("dict[str, str]", json.loads(line))["text"])

    def _add(self, code: str) -> None:
        for docstring in _QUOTED.finditer(code):
            self._statements.update(_statements(_SUMMARY_END.split(docstring[2])[0]))
        self._shingles.update(_shingles(code))
        self._shingles.update(_shingles(_QUOTED.sub("", code)))

    def holds(self, text: str) -> bool:
        """Whether the text, its first sentence or half of it occurs there."""
        if not self._statements.isdisjoint(_statements(text)):
            return True
        shingles = set(_shingles(text))
        return bool(shingles) and len(shingles & self._shingles) >= SHARED * len(shingles)


def _normal(text: str) -> str:
    return _WORDS.sub(" ", text.lower()).strip()


def _statements(text: str) -> Iterator[str]:
    for statement in (text, _STATEMENT.split(text.strip())[0]):
        if len((normal := _normal(statement)).split()) >= _SHORTEST:
            yield normal


def _shingles(text: str) -> Iterator[str]:
    words = _normal(text).split()
    for at in range(len(words) - SHINGLE + 1):
        yield " ".join(words[at : at + SHINGLE])
